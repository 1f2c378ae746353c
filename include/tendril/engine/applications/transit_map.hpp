// Transit-parallel execution: the arguments of kernels for a step whose calls are grouped by transit. Host and device.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

namespace tendril::engine {

/// One transit and all pairs (sample, index among its transits) with this transit: pairs[begin], …, pairs[begin + size
/// - 1].
struct transit_run {
  vertex_id transit = no_vertex;
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
};

/// The number of transits of each class. In device memory: kernels are launched before the host knows these numbers.
struct transit_counts {
  unsigned long long few = 0;
  unsigned long long block = 0;
  unsigned long long grid = 0;        ///< Transits in the lower half, their units in the upper half.
  unsigned long long next_block = 0;  ///< Transits that blocks have taken in addition to their first one.
  unsigned long long next_unit = 0;   ///< The same for units.
};

/// The transits of a step's pairs, divided into three classes by their number of calls (NextDoor, table 2). Samples
/// don't depend on the order of transits in a class, or of pairs in a run. Device memory.
struct transit_map {
  std::uint32_t const* pairs = nullptr;        ///< The pairs that have a transit, grouped.
  transit_run const* few = nullptr;            ///< [counts->few] fewer than 32 calls,
  transit_run const* last_block = nullptr;     ///< last_block[-i], i < counts->block: more calls; one block each,
  transit_run const* grid = nullptr;           ///< [counts->grid % 2^32] still more calls: several blocks each.
  std::uint32_t const* first_units = nullptr;  ///< [the same] first unit of each; a unit is the work of one block.
  transit_counts* counts = nullptr;
};

/// The arguments of transit-parallel kernels for one step of some samples.
struct transit_task {
  std::int32_t step = 0;
  std::int64_t first_index = 0;   ///< The first sample, in the call's numbering.
  std::uint32_t num_pairs = 0;    ///< Samples * transits, below 2^31. Pair s * transits + i is transit i of sample s.
  vertex_id* transits = nullptr;  ///< [num_pairs]
  transit_map map;
  std::uint32_t width = 32;          ///< Lanes per sub-warp: 8, 16 or 32.
  std::uint32_t cache_entries = 0;   ///< Edges that fit in the shared memory of a sub-warp, or a block.
  std::uint64_t* problem = nullptr;  ///< The least problem_code so far.
};

}  // namespace tendril::engine
