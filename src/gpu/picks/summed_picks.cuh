// Weighted picks with replacement by the sums of weights that stand in for a table of all edges: a search and up to 190
// weights a pick. Pick j draws block j. The rule: src/core/weight_sums.hpp. CPU twin: src/cpu/picks/neighbor_picks.hpp.

#pragma once

#include "core/weight_sums.hpp"
#include "gpu/picks/pick_kernels.cuh"
#include "gpu/picks/summed_tables.hpp"

namespace tendril::gpu {

/// A chooser of pick_pairs. Its `Part` also has id(i), the number of vertex i, and weights(v), as for races.
template <bool by_its>
struct summed_choice {
  summed_tables tables;

  template <class Part>
  __device__ slot_pair operator()(Part const& part, std::uint32_t i, typename Part::vertex_type const& vertex,
                                  std::uint32_t slot) const
  {
    return of(part, part.id(i), vertex, part.draws(i, vertex), slot);
  }

  /// The picks of vertex `id`, which has edges, by its draws. Any thread.
  template <class Part, class Draw>
  [[nodiscard]] __device__ slot_pair of(Part const& part, vertex_id id, typename Part::vertex_type const& vertex,
                                        Draw const& draw, std::uint32_t slot) const
  {
    core::row_weight const own = tables.rows[id];
    if (own.total == 0) { return {}; }
    auto const weights = part.weights(vertex);
    auto const weight_of = [weights](std::uint32_t e) {
      return read_weight(weights, e, [](auto const* at) { return __ldg(at); });
    };
    core::summed_row const summed(own, tables.sums + part.first_edge(vertex) / core::summed_edges, weight_of);
    return choose_pair<slot_pair>(slot, part.fanout(), [&](std::uint32_t j) {
      core::random_block const block = draw(j);
      if constexpr (by_its) {
        return core::summed_its_pick(summed, block.low());
      } else {
        return core::summed_alias_pick(summed, block.low(), block.high());
      }
    });
  }
};

}  // namespace tendril::gpu
