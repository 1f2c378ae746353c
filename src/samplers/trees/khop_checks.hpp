// What both executors of k-hop trees say about their arguments.

#pragma once

#include <algorithm>

#include <tendril/sample.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::samplers {

/// @throws argument_error.
inline void check_khop(graph const& graph, khop_params const& params)
{
  constexpr std::int64_t most_slots_a_tree = std::int64_t{1} << 31U;
  TENDRIL_EXPECTS(!params.fanouts.empty(), "fanouts: none given, expected one a hop");
  std::int64_t slots = 1;
  for (std::size_t h = 0; h < params.fanouts.size(); ++h) {
    std::int64_t const f = params.fanouts[h];
    TENDRIL_EXPECTS(f == -1 || f >= 1, "fanouts: {} at hop {}, expected 1 or more, or -1 for all neighbours", f, h + 1);
    slots = f > 0 ? slots * std::min(f, most_slots_a_tree + 1) : slots;
    TENDRIL_EXPECTS(slots <= most_slots_a_tree, "fanouts: more than 2^31 slots a tree at hop {}", h + 1);
  }
  TENDRIL_EXPECTS(!params.weighted || graph.has_weights() || graph.num_edges() == 0,
                  "weighted: the graph has no weights, expected one an edge");
}

/// @throws argument_error.
inline void check_first_root(std::int64_t first_root)
{
  TENDRIL_EXPECTS(first_root >= 0, "first_root: {}, expected 0 or more", first_root);
}

}  // namespace tendril::samplers
