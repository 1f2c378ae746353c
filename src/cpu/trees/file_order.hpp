#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

#include "graph/region_pair.hpp"

namespace tendril::cpu {

/// Visits vertices in the order of the mapped file that their graph lies in, region by region.
class file_order {
 public:
  /// @param graph_bytes  Of two regions, which are in memory at a time.
  file_order(graph const& input, std::int64_t graph_bytes) : pair_(input, graph_bytes) {}

  /// Calls f(graph, places) with places in `vertices`, each once, by all threads: those of one region before those of the
  /// next. What the region has of the graph is in memory, or has been asked for. `no_vertex` comes with the last region.
  void visit(std::span<vertex_id const> vertices, cpu_exec const& exec,
             std::function<void(graph_view const&, std::span<std::int64_t const>)> const& f);

  [[nodiscard]] std::int64_t read_bytes() const { return pair_.read_bytes(); }  ///< So far.

 private:
  region_pair pair_;
};

}  // namespace tendril::cpu
