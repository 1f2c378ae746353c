// What the warps of a launch of dynamic walks share, in device memory.

#pragma once

#include <cstdint>

#include <tendril/engine/walks/step.hpp>

namespace tendril::engine {

/// A neighbourhood that a warp lets others help with. In device memory, one a warp of the grid.
struct alignas(128) shared_scan {
  std::uint64_t walk;
  unsigned long long best;  ///< The smallest entry so far.
  edge_id first, previous_edge;
  std::int32_t step;
  vertex_id start, vertex, previous;
  float largest_weight;
  std::uint32_t size;
  unsigned reach;  ///< The tightest filter so far, as bits.
  unsigned next;   ///< The next chunk to take.
  unsigned users;  ///< Warps that look at this scan; its owner waits until there are none.
};

/// The state of one launch, in device memory; zero before it.
struct launch_state {
  unsigned long long next_walk;  ///< Walks handed out beyond the first one of each warp.
  unsigned long long finished;   ///< Walks whose rows are complete, as far as their warps have said.
  unsigned idle;                 ///< Warps without walks.
  unsigned lock;                 ///< Of `report`: 1 while somebody writes.
  dynamic_report report;         ///< The problem of the smallest walk; `what` is none as long as there is none.
};

/// The scans of a grid that are open to helpers.
struct work_sharing {
  launch_state* desk;
  unsigned* open;  ///< One bit a warp of the grid, a word for each 32: its scan may be joined. Zero before a launch.
  shared_scan* scans;  ///< One a warp of the grid.
  std::uint32_t num_warps;
  std::uint32_t share_from;
  std::uint32_t share_chunk;
};

}  // namespace tendril::engine
