// The data that the warps of a launch of dynamic walks share, in device memory.

#pragma once

#include <cstddef>
#include <cstdint>

#include <tendril/engine/walks/step.hpp>

namespace tendril::engine {

inline constexpr std::size_t shared_scan_bytes = 128;

/// A neighbourhood whose scan a warp shares with other warps. In device memory, one per warp of the grid.
template <class View>
struct alignas(shared_scan_bytes) shared_scan {
  typename View::edge_mark previous_edge;
  std::uint64_t walk;
  unsigned long long best;  ///< The smallest entry so far.
  std::int32_t step;
  vertex_id start, vertex, previous;
  float largest_weight;
  unsigned reach;  ///< The tightest filter so far, as bits.
  unsigned next;   ///< The next chunk to take.
  unsigned users;  ///< Warps that use this scan; its owner waits until the count is 0.
};

/// The state of one launch, in device memory; zero before the launch.
struct launch_state {
  unsigned long long next_walk;  ///< Walks handed out in addition to the first walk of each warp.
  unsigned long long finished;   ///< Completed walks that warps have reported.
  unsigned started;              ///< Blocks that run, or have run.
  unsigned idle;                 ///< Warps without walks.
  unsigned lock;                 ///< Lock of `report`: 1 while a thread writes it.
  dynamic_report report;         ///< The problem of the smallest walk; `what` is none while there is no problem.
};

/// The scans of a grid that other warps may join.
struct work_sharing {
  launch_state* desk;
  unsigned* open;  ///< One bit per warp of the grid, 32 per word: its scan may be joined. Zero before a launch.
  void* scans;     ///< One shared_scan per warp of the grid.
  std::uint32_t num_warps;
  std::uint32_t share_from;
  std::uint32_t share_chunk;
};

}  // namespace tendril::engine
