#pragma once

#include <cstdint>

#include <tendril/rng.hpp>

namespace tendril::cpu {

/// The counters of up to `max_lanes` walkers and the blocks they draw, as arrays of one field each, so that the rounds
/// run in vector registers.
struct draw_lanes {
  static constexpr int max_lanes = 256;  // a multiple of any vector's length

  alignas(64) std::uint64_t item[max_lanes];
  alignas(64) std::uint32_t step[max_lanes];
  alignas(64) std::uint32_t draw[max_lanes];
  alignas(64) std::uint64_t low[max_lanes];   ///< Words 0 and 1 of the block.
  alignas(64) std::uint64_t high[max_lanes];  ///< Words 2 and 3.
};

/// low, high [i] = the block of counter (item, step, draw)[i], for i in [0, count). What lies beyond, up to the next
/// multiple of 8, is overwritten too.
void philox_lanes(draw_lanes& lanes, int count, rng_key key);

}  // namespace tendril::cpu
