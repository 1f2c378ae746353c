// Edges of a file of binary pairs.

#include <algorithm>

#include "convert/edge_source.hpp"
#include "formats/coo.hpp"

namespace tendril::convert {
namespace {

class coo_source final : public edge_source {
 public:
  coo_source(std::shared_ptr<formats::mapped_file const> file, read_options const& options, cpu_exec const& exec)
      : file_(std::move(file)), edges_(file_->path(), file_->bytes(), options.format, options.build), exec_(exec)
  {
    build_ = options.build;
  }

  bool read(edge_batch& to, std::int64_t most) override
  {
    constexpr std::int64_t edges_between_reports = std::int64_t{1} << 22U;
    while (to.size() < most && next_ < edges_.num_edges()) {
      if (exec_.on_progress) { exec_.on_progress({"reading", next_, edges_.num_edges()}); }
      auto const before = static_cast<std::size_t>(to.size());
      auto const size =
          static_cast<std::size_t>(std::min({most - to.size(), edges_between_reports, edges_.num_edges() - next_}));
      to.sources.resize(before + size);
      to.targets.resize(before + size);
      edges_.read(next_, std::span(to.sources).subspan(before), std::span(to.targets).subspan(before), exec_);
      next_ += static_cast<std::int64_t>(size);
      file_->release_pages();
    }
    return next_ < edges_.num_edges();
  }

  void skip_to(input_position const& position) override { next_ = position.edges; }

  [[nodiscard]] input_position position() const override { return {0, 0, next_}; }

 private:
  std::shared_ptr<formats::mapped_file const> file_;
  formats::coo_edges edges_;
  cpu_exec const& exec_;
  std::int64_t next_ = 0;
};

}  // namespace

std::unique_ptr<edge_source> open_coo(std::shared_ptr<formats::mapped_file const> file, read_options const& options,
                                      cpu_exec const& exec)
{
  return std::make_unique<coo_source>(std::move(file), options, exec);
}

}  // namespace tendril::convert
