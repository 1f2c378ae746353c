// Transit-parallel execution: what kernels are told of a step whose calls are grouped by transit. Host and device.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

namespace tendril::engine {

/// A transit and all pairs (sample, place among its transits) that have it: pairs[begin], …, pairs[begin + size - 1].
struct transit_run {
  vertex_id transit = no_vertex;
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
};

/// How many transits there are of each kind. In device memory: kernels are launched before anybody on the host knows.
struct transit_counts {
  unsigned long long few = 0;
  unsigned long long block = 0;
  unsigned long long grid = 0;        ///< Transits in the lower half, their units in the upper one.
  unsigned long long next_block = 0;  ///< How many transits blocks have taken beyond their first one.
  unsigned long long next_unit = 0;   ///< The same of units.
};

/// The transits of a step's pairs, cut into three classes by the calls they ask for (NextDoor, table 2). Nothing that is
/// sampled depends on the order of transits in a class, or of pairs in a run. Device memory.
struct transit_map {
  std::uint32_t const* pairs = nullptr;        ///< Those that have a transit, grouped.
  transit_run const* few = nullptr;            ///< [counts->few] less than 32 calls,
  transit_run const* last_block = nullptr;     ///< last_block[-i], i < counts->block: more; one block,
  transit_run const* grid = nullptr;           ///< [counts->grid % 2^32] more still: several blocks.
  std::uint32_t const* first_units = nullptr;  ///< [the same] the first unit of each, a unit being the work of a block.
  transit_counts* counts = nullptr;
};

/// What transit-parallel kernels are given of one step, for some of the samples.
struct transit_task {
  std::int32_t step = 0;
  std::int64_t first_index = 0;  ///< The first of the samples, in the call's numbering.
  std::uint32_t num_pairs = 0;  ///< Samples * transits, less than 2^31. Pair s * transits + i is transit i of sample s.
  vertex_id* transits = nullptr;  ///< [num_pairs]
  transit_map map;
  std::uint32_t width = 32;          ///< Lanes of a sub-warp: 8, 16 or 32.
  std::uint32_t cache_entries = 0;   ///< Edges that a sub-warp, or a block, has shared memory for.
  std::uint64_t* problem = nullptr;  ///< The least problem_code so far.
};

}  // namespace tendril::engine
