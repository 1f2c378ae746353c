// Inverse transform sampling over fixed-point weights: x uniform in [0, sum), the pick is the first index whose prefix
// sum exceeds x. Sums are integers, so a scan of the weights and a search in stored prefix sums pick the same index.

#pragma once

#include <cstdint>

#include "core/fixed_point.hpp"

namespace tendril::core {

/// What an inverse transform returns where no weight is positive.
inline constexpr std::uint32_t no_pick = 0xffffffffU;

/// One step of its_search: of the `size` > 0 sums from `first` on, it reads number first + size / 2, and leaves those that
/// may be the first above x. None left: it is the sum at `first`.
TENDRIL_HD void its_halve(std::uint64_t const* prefix_sums, std::uint32_t& first, std::uint32_t& size, std::uint64_t x)
{
  std::uint32_t const half = size / 2;
  bool const right = prefix_sums[first + half] <= x;
  first += right ? half + 1 : 0;
  size = right ? size - half - 1 : half;
}

/// Searches inclusive prefix sums [size] for the first above x. `x` is below the last sum.
TENDRIL_HD std::uint32_t its_search(std::uint64_t const* prefix_sums, std::uint32_t size, std::uint64_t x)
{
  std::uint32_t first = 0;
  while (size > 0) { its_halve(prefix_sums, first, size, x); }
  return first;
}

/// Picks from stored inclusive prefix sums.
TENDRIL_HD std::uint32_t its_pick(std::uint64_t const* prefix_sums, std::uint32_t size, std::uint64_t bits)
{
  std::uint64_t const total = prefix_sums[size - 1];
  return total == 0 ? no_pick : its_search(prefix_sums, size, bounded64(bits, total));
}

/// A pick and its probability.
struct its_choice {
  std::uint32_t pick;  ///< no_pick: no weight is positive.
  float probability;
};

/// Picks from stored inclusive prefix sums; the probability is that of the fixed-point weights, rounded.
TENDRIL_HD its_choice its_choose(std::uint64_t const* prefix_sums, std::uint32_t size, std::uint64_t bits)
{
  if (size == 0) { return {no_pick, 0}; }
  std::uint32_t const pick = its_pick(prefix_sums, size, bits);
  if (pick == no_pick) { return {no_pick, 0}; }
  std::uint64_t const weight = prefix_sums[pick] - (pick == 0 ? 0 : prefix_sums[pick - 1]);
  return {pick, static_cast<float>(static_cast<double>(weight) / static_cast<double>(prefix_sums[size - 1]))};
}

/// Picks by scanning the weights three times (largest, sum, prefix), without memory.
template <class WeightOf>
TENDRIL_HD std::uint32_t its_scan(std::uint32_t size, WeightOf weight_of, std::uint64_t bits)
{
  float const largest = largest_weight(size, weight_of);
  if (!(largest > 0)) { return no_pick; }
  fixed_point const scale = fixed_point::of(largest, size);
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < size; ++i) { total += scale(weight_of(i)); }
  std::uint64_t const x = bounded64(bits, total);
  std::uint64_t sum = 0;
  std::uint32_t i = 0;
  for (; i + 1 < size; ++i) {
    sum += scale(weight_of(i));
    if (sum > x) { break; }
  }
  return i;
}

}  // namespace tendril::core
