// Walker's alias method (ACM TOMS 1977) over fixed-point weights, exact in integers. The table is built by a sweep
// with two cursors, one over light and one over heavy items in index order (Hübschle-Schneider & Sanders, ACM TOPC
// 2022), which needs no memory: a table of the whole graph and a bucket worked out at the step are the same.

#pragma once

#include <cstdint>

#include "core/fixed_point.hpp"
#include "core/its.hpp"  // no_pick

namespace tendril::core {

/// One bucket: with probability threshold / 2^64 its own item, else `other`. A full bucket names itself as `other`.
struct alias_bucket {
  std::uint64_t threshold;
  std::uint32_t other;
};

/// floor(part * 2^64 / whole) for part < whole.
TENDRIL_HD std::uint64_t fraction_of(std::uint64_t part, std::uint64_t whole)
{
  __extension__ using uint128 = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<uint128>(part) << 64U) / whole);
}

/// Calls emit(item, bucket) once for each of `size` items, in the order the sweep settles them, until emit returns
/// false. `weight_of(i)` gives fixed-point weights whose sum `total` is positive and below 2^62, as is size times any
/// weight (fixed_point guarantees both).
template <class FixedWeightOf, class Emit>
TENDRIL_HD void alias_sweep(std::uint32_t size, std::uint64_t total, FixedWeightOf weight_of, Emit emit)
{
  // Scaled by `size`, item weights average `total`: that is a bucket's capacity.
  auto const scaled = [&](std::uint32_t i) { return weight_of(i) * size; };
  auto const next_light = [&](std::uint32_t i) {
    while (i < size && scaled(i) > total) { ++i; }
    return i;
  };
  auto const next_heavy = [&](std::uint32_t i) {
    while (i < size && scaled(i) <= total) { ++i; }
    return i;
  };
  auto const bucket_of = [&](std::uint64_t content, std::uint32_t item, std::uint32_t other) {
    return content >= total ? alias_bucket{~std::uint64_t{0}, item} : alias_bucket{fraction_of(content, total), other};
  };

  std::uint32_t light = next_light(0);
  std::uint32_t heavy = next_heavy(0);
  std::uint64_t rest = heavy < size ? scaled(heavy) : 0;  // what the current heavy item has left to give
  while (heavy < size) {
    if (rest > total) {
      // The sums are exact, so as long as someone has more than a bucket, someone else has less.
      std::uint64_t const content = scaled(light);
      if (!emit(light, bucket_of(content, light, heavy))) { return; }
      rest -= total - content;
      light = next_light(light + 1);
    } else {
      std::uint32_t const next = next_heavy(heavy + 1);
      if (!emit(heavy, bucket_of(rest, heavy, next < size ? next : heavy))) { return; }
      if (next < size) { rest = rest + scaled(next) - total; }
      heavy = next;
    }
  }
  for (; light < size; light = next_light(light + 1)) {
    if (!emit(light, bucket_of(scaled(light), light, light))) { return; }
  }
}

/// Chooses between a bucket's item and its other one.
TENDRIL_HD std::uint32_t alias_choose(alias_bucket const& bucket, std::uint32_t item, std::uint64_t bits)
{
  return bits < bucket.threshold ? item : bucket.other;
}

/// One pick without a table: works out the bucket that `bits_item` selects. O(size) time, no memory.
template <class WeightOf>
TENDRIL_HD std::uint32_t alias_scan(std::uint32_t size, WeightOf weight_of, std::uint64_t bits_item,
                                    std::uint64_t bits_choice)
{
  float const largest = largest_weight(size, weight_of);
  if (!(largest > 0)) { return no_pick; }
  fixed_point const scale = fixed_point::of(largest, size);
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < size; ++i) { total += scale(weight_of(i)); }
  std::uint32_t const wanted = bounded(bits_item, size);
  std::uint32_t pick = wanted;
  alias_sweep(
      size, total, [&](std::uint32_t i) { return scale(weight_of(i)); },
      [&](std::uint32_t item, alias_bucket const& bucket) {
        if (item != wanted) { return true; }
        pick = alias_choose(bucket, item, bits_choice);
        return false;
      });
  return pick;
}

}  // namespace tendril::core
