// Where the walks of benchmarks start.

#pragma once

#include <cstdint>
#include <vector>

#include <tendril/error.hpp>
#include <tendril/graph.hpp>

#include "core/random.hpp"

namespace tendril::bench {

/// Vertices that have a neighbour, spread over the graph.
inline std::vector<vertex_id> make_starts(graph_view const& graph, std::int64_t count)
{
  std::vector<vertex_id> out;
  rng_key const key = core::make_key(0, core::domain::start_vertices);
  for (std::uint64_t i = 0; static_cast<std::int64_t>(out.size()) < count; ++i) {
    auto const v = static_cast<vertex_id>(
        core::bounded64(core::draw_block(key, i, 0, 0).low(), static_cast<std::uint64_t>(graph.num_vertices)));
    if (graph.degree(v) > 0) { out.push_back(v); }
    if (i > 100 * static_cast<std::uint64_t>(count)) {
      throw argument_error("graph: hardly any vertex has a neighbour");
    }
  }
  return out;
}

}  // namespace tendril::bench
