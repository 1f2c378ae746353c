// How large a group of mini-batches can get and is expected to be, before memory is made for it. Host code.

#pragma once

#include <cstdint>
#include <vector>

#include "gpu/batches/output.hpp"
#include "gpu/batches/plan.hpp"

namespace tendril::gpu {

/// Bounds on the seeds of each vertex type. @param rounded  Numbers of seeds count as the next powers of two.
[[nodiscard]] std::vector<size_bound> seed_bounds(batch_input const& input, bool rounded);

/// Room for the output of one batch. Where later launches take more memory as they go (fan-outs of -1) or outputs are
/// made larger (bidirectional), as much as there can be.
[[nodiscard]] slab_room room_of(batch_plan const& plan, batch_bounds const& bounds, expected_sizes const& expected);

/// The sizes of one group.
struct run_sizes {
  batch_bounds bounds;    ///< Behind the launches so far: they fit this many vertices and edges.
  batch_bounds exact;     ///< Behind all foreseen launches, of as many seeds as there are.
  batch_forecast ahead;   ///< What the foreseen launches take.
  std::int64_t seeds;     ///< Bound on the seeds of all types.
  std::int64_t trees;     ///< Bound on the batches, or if disjoint on the trees; 1 or more.
  std::int64_t tiles;     ///< Of the launches that number, those of seeds included.
  std::int64_t vertices;  ///< Expected in the table.

  /// @param rounded  All but `exact` is for numbers of seeds rounded up to powers of two. @throws too_many_picks.
  [[nodiscard]] static run_sizes of(batch_plan const& plan, batch_input const& input, expected_sizes const& expected,
                                    bool rounded);
};

}  // namespace tendril::gpu
