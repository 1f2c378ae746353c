#pragma once

// The race by its definition in docs/reproducibility.md: 64 bits and a logarithm for every candidate, nothing left out.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/race.hpp"

namespace tendril::test {

/// The 64 random bits of candidate i.
inline std::uint64_t race_bits(rng_key key, std::uint64_t item, std::uint32_t step, std::uint32_t first_draw,
                               std::uint32_t i)
{
  std::uint32_t const block = i / 128 * 32 + i % 32;
  std::uint32_t const word = i / 32 % 4;
  std::uint64_t const high = core::draw_block(key, item, step, first_draw + block).word[word];
  std::uint64_t const low = core::draw_block(key, item, step, first_draw + (1U << 30U) + block).word[word];
  return (high << 32U) | low;
}

/// The k smallest entries of a race, ascending, padded with race_none.
template <class WeightOf>
std::vector<std::uint64_t> unfiltered_race(std::uint32_t size, WeightOf weight_of, std::size_t k, rng_key key,
                                           std::uint64_t item, std::uint32_t step, std::uint32_t first_draw)
{
  std::vector<std::uint64_t> entries;
  for (std::uint32_t i = 0; i < size; ++i) {
    float const w = weight_of(i);
    if (!(w > 0)) { continue; }
    std::uint64_t const bits = race_bits(key, item, step, first_draw, i);
    entries.push_back(core::race_entry(core::race_key(core::exponential(bits), w), i));
  }
  std::size_t const num_winners = std::min(k, entries.size());
  std::partial_sort(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(num_winners), entries.end());
  entries.resize(num_winners);
  entries.resize(k, core::race_none);
  return entries;
}

struct weight_profile {
  std::string name;
  std::function<float(std::uint32_t)> weight;
};

/// Weights that filters could trip over: candidate i of a list of `size`.
inline std::vector<weight_profile> weight_profiles(std::uint32_t size)
{
  // A number of any kind for a candidate, at random but the same each time.
  auto const random = [](std::uint32_t i) { return core::draw_block({1, 2}, i, 3, 4).word[0]; };
  auto const unit = [=](std::uint32_t i) { return static_cast<float>(random(i) >> 8U) * 0x1p-24F; };
  auto const last = size - 1;
  return {
      {"ones", [](std::uint32_t) { return 1.0F; }},
      {"zeros", [](std::uint32_t) { return 0.0F; }},
      {"between 1 and 5", [=](std::uint32_t i) { return 1 + 4 * unit(i); }},
      {"mostly zeros", [=](std::uint32_t i) { return i % 17 == 16 ? 1 + unit(i) : 0.0F; }},
      {"twelve orders", [=](std::uint32_t i) { return std::pow(10.0F, 12 * unit(i) - 6); }},
      {"seventy orders", [=](std::uint32_t i) { return std::pow(10.0F, 70 * unit(i) - 37); }},
      {"a heavy tail", [=](std::uint32_t i) { return std::pow(1 - unit(i), -3.0F); }},
      {"huge", [=](std::uint32_t i) { return 1e38F + 2.4e38F * unit(i); }},
      {"the largest", [](std::uint32_t) { return std::numeric_limits<float>::max(); }},
      {"subnormal", [=](std::uint32_t i) { return core::bits_to_float(random(i) & 0x7fffffU); }},
      {"the smallest", [](std::uint32_t) { return std::numeric_limits<float>::denorm_min(); }},
      {"around the smallest normal", [=](std::uint32_t i) { return 0x1p-126F * (0.5F + unit(i)); }},
      {"one subnormal among zeros", [=](std::uint32_t i) { return i == last ? 0x1p-149F : 0.0F; }},
      {"one huge among subnormal", [=](std::uint32_t i) { return i == last / 2 ? 3e38F : 0x1p-140F; }},
      {"rising", [=](std::uint32_t i) { return std::ldexp(1.0F, static_cast<int>(275.0 * i / size) - 148); }},
      {"falling", [=](std::uint32_t i) { return std::ldexp(1.0F, 127 - static_cast<int>(275.0 * i / size)); }},
  };
}

}  // namespace tendril::test
