// The loop of philox_lanes over vectors of any length. Included by one file an instruction set.

#pragma once

#include <cstring>

#include "core/philox.hpp"
#include "cpu/picks/philox_lanes.hpp"

namespace tendril::cpu {

/// `Words` is a vector of 64-bit elements, each with one word in its lower half: the upper halves collect rubbish that
/// no product looks at. `Halves` is a vector of as many 32-bit elements.
template <class Words, class Halves, class Multiply>
inline void philox_vectors(draw_lanes& lanes, int first, int count, rng_key key, Multiply multiply)
{
  constexpr int length = sizeof(Words) / sizeof(std::uint64_t);
  for (int i = first; i < first + count; i += length) {
    Words item;
    Halves step, draw;
    std::memcpy(&item, lanes.item + i, sizeof item);
    std::memcpy(&step, lanes.step + i, sizeof step);
    std::memcpy(&draw, lanes.draw + i, sizeof draw);
    Words words[4] = {item, item >> 32U, __builtin_convertvector(step, Words), __builtin_convertvector(draw, Words)};
    core::philox_rounds(words, key, multiply);
    Words const low = (words[0] & 0xffffffffU) | (words[1] << 32U);
    Words const high = (words[2] & 0xffffffffU) | (words[3] << 32U);
    std::memcpy(lanes.low + i, &low, sizeof low);
    std::memcpy(lanes.high + i, &high, sizeof high);
  }
}

}  // namespace tendril::cpu
