// Edges of a native file, in any form.

#include <algorithm>

#include "convert/edge_source.hpp"

namespace tendril::convert {
namespace {

class stored_source final : public edge_source {
 public:
  stored_source(std::shared_ptr<formats::mapped_file const> file, graph stored, build_options const& build,
                cpu_exec const& exec)
      : file_(std::move(file)), graph_(std::move(stored)), exec_(exec)
  {
    columns_ = {graph_.has_weights(), graph_.bytes_per_edge_label()};
    build_ = build;
    if (build_.num_vertices < 0) { build_.num_vertices = graph_.num_vertices(); }
    in_order_ = true;
  }

  bool read(edge_batch& to, std::int64_t most) override
  {
    std::int64_t const piece = std::min<std::int64_t>(most, std::int64_t{1} << 20U);
    graph_.view().visit([&](auto const& g) {
      while (to.size() < most && at_.edges < graph_.num_edges()) {
        if (exec_.on_progress) { exec_.on_progress({"reading", at_.edges, graph_.num_edges()}); }
        read_piece(g, to, std::min(piece, most - to.size()));
        file_->release_pages();
      }
    });
    return at_.edges < graph_.num_edges();
  }

  void skip_to(input_position const& position) override { at_ = position; }
  [[nodiscard]] input_position position() const override { return at_; }

 private:
  /// A row may be too long for a batch, and is then read in parts.
  template <class View>
  void read_piece(View const& g, edge_batch& to, std::int64_t most)
  {
    while (most > 0 && at_.offset < g.num_vertices) {
      auto const row = g.row(at_.offset);
      std::int64_t const first = g.first_edge(at_.offset);
      auto const begin = static_cast<std::uint32_t>(at_.edges - first);
      auto const end = static_cast<std::uint32_t>(std::min<std::int64_t>(row.degree(), begin + most));
      for (std::uint32_t i = begin; i < end; ++i) {
        to.sources.push_back(static_cast<vertex_id>(at_.offset));
        to.targets.push_back(row.neighbor(i));
        if (columns_.weights) { to.weights.push_back(row.weight(i)); }
        if (columns_.bytes_per_label > 0) { to.labels.push_back(static_cast<std::uint16_t>(row.label(i))); }
      }
      at_.edges += end - begin;
      most -= end - begin;
      if (end == row.degree()) { ++at_.offset; }
    }
  }

  std::shared_ptr<formats::mapped_file const> file_;
  graph graph_;
  cpu_exec const& exec_;
  input_position at_;
};

}  // namespace

std::unique_ptr<edge_source> open_stored(std::shared_ptr<formats::mapped_file const> file, graph stored,
                                         read_options const& options, cpu_exec const& exec)
{
  return std::make_unique<stored_source>(std::move(file), std::move(stored), options.build, exec);
}

}  // namespace tendril::convert
