// Edges of a WebGraph file, list by list.

#include <algorithm>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "convert/edge_source.hpp"
#include "formats/webgraph.hpp"

namespace tendril::convert {
namespace {

class webgraph_source final : public edge_source {
 public:
  webgraph_source(std::shared_ptr<formats::mapped_file const> file,
                  std::shared_ptr<formats::mapped_file const> properties, build_options const& build,
                  cpu_exec const& exec)
      : file_(std::move(file)),
        properties_(std::move(properties)),
        files_{file_->path(),
               file_->bytes(),
               {reinterpret_cast<char const*>(properties_->bytes().data()), properties_->bytes().size()},
               {}},
        lists_(files_),
        exec_(exec)
  {
    std::int64_t const stored = lists_.properties().num_vertices;
    build_ = build;
    TENDRIL_EXPECTS(build.num_vertices == -1 || build.num_vertices >= stored,
                    "build_graph: num_vertices is {}, expected -1 or at least the graph's own number, {}",
                    build.num_vertices, stored);
    if (build_.num_vertices < 0) { build_.num_vertices = stored; }
    in_order_ = true;
  }

  bool read(edge_batch& to, std::int64_t most) override
  {
    constexpr std::int64_t vertices_between_reports = std::int64_t{1} << 16U;
    auto const& properties = lists_.properties();
    while (to.size() < most && lists_.vertex() < properties.num_vertices) {
      auto const source = static_cast<vertex_id>(lists_.vertex());
      if (source % vertices_between_reports == 0) {
        if (exec_.on_progress) { exec_.on_progress({"reading", lists_.num_edges(), properties.num_arcs}); }
        file_->release_pages();
      }
      auto const list = lists_.next();
      to.sources.insert(to.sources.end(), list.size(), source);
      to.targets.insert(to.targets.end(), list.begin(), list.end());
    }
    return lists_.vertex() < properties.num_vertices;
  }

  // A list may depend on any list before it.
  void skip_to(input_position const& position) override
  {
    while (lists_.vertex() < position.offset) { static_cast<void>(lists_.next()); }
  }

  [[nodiscard]] input_position position() const override { return {lists_.vertex(), 0, lists_.num_edges()}; }

 private:
  std::shared_ptr<formats::mapped_file const> file_, properties_;
  formats::webgraph_files files_;
  formats::webgraph_scanner lists_;
  cpu_exec const& exec_;
};

}  // namespace

std::unique_ptr<edge_source> open_webgraph(std::shared_ptr<formats::mapped_file const> file,
                                           read_options const& options, cpu_exec const& exec)
{
  auto properties = formats::mapped_file::open(formats::webgraph_sibling(file->path(), ".properties"));
  return std::make_unique<webgraph_source>(std::move(file), std::move(properties), options.build, exec);
}

}  // namespace tendril::convert
