#pragma once

#include <cstdint>

#include <tendril/rng.hpp>

namespace tendril::cpu {

/// The counters of up to `max_lanes` walkers and the blocks they draw, as arrays of one field each, so that the rounds
/// run in vector registers.
struct draw_lanes {
  static constexpr int max_lanes = 256;

  alignas(64) std::uint32_t item_lo[max_lanes];
  alignas(64) std::uint32_t item_hi[max_lanes];
  alignas(64) std::uint32_t step[max_lanes];
  alignas(64) std::uint32_t draw[max_lanes];
  alignas(64) std::uint32_t word[4][max_lanes];

  [[nodiscard]] std::uint64_t low(int i) const { return word[0][i] | (std::uint64_t{word[1][i]} << 32U); }
  [[nodiscard]] std::uint64_t high(int i) const { return word[2][i] | (std::uint64_t{word[3][i]} << 32U); }
};

/// word[...][i] = the block of counter (item, step, draw)[i], for i in [0, count).
void philox_lanes(draw_lanes& lanes, int count, rng_key key);

}  // namespace tendril::cpu
