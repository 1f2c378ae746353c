#pragma once

#include <cstdint>

#include <tendril/rng.hpp>

namespace tendril::cpu {

/// The counters of up to `max_lanes` walkers and the blocks they draw, as arrays of one field each, so that the rounds
/// run in vector registers.
struct draw_lanes {
  static constexpr int max_lanes = 256;
  static constexpr int padded = max_lanes + 8;  // a vector may reach beyond the last lane

  alignas(64) std::uint64_t item[padded];
  alignas(64) std::uint32_t step[padded];
  alignas(64) std::uint32_t draw[padded];
  alignas(64) std::uint64_t low[padded];   ///< Words 0 and 1 of the block.
  alignas(64) std::uint64_t high[padded];  ///< Words 2 and 3.
};

/// low, high [i] = the block of counter (item, step, draw)[i], for i in [first, first + count). Up to 7 lanes beyond are
/// drawn too.
void philox_lanes(draw_lanes& lanes, int first, int count, rng_key key);

/// Executors draw for this many lanes at a time, between gathers, so that memory is not idle while numbers are made.
inline constexpr int draw_chunk = 16;  // bench/walks, axis chunk

}  // namespace tendril::cpu
