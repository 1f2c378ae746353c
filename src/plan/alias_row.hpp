// The alias table of a whole row, for tables that the CPU builds: the buckets of core::alias_sweep (src/core/alias.hpp), made
// by passes over arrays. The sweep that needs no memory looks for light and heavy items again and again, and it guesses
// wrong which comes next; here items are parted once, and the sweep takes from the one list or the other without a branch.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/alias.hpp"

namespace tendril::plan {

/// Makes the buckets of one row after another. One object a thread: it keeps its memory from row to row.
class alias_row {
 public:
  /// The buckets of a row. They are valid until the next call.
  /// @param weights  Fixed-point weights, at least one.
  /// @param total    Their sum, as alias_sweep's.
  std::span<core::alias_bucket const> build(std::span<std::uint64_t const> weights, std::uint64_t total)
  {
    auto const size = static_cast<std::uint32_t>(weights.size());
    if (buckets_.size() < size) {
      light_.resize(size + std::size_t{1});
      heavy_.resize(size + std::size_t{1});
      buckets_.resize(size);
    }
    sweep(size, part(weights, total), total);
    fill(size, total);
    return {buckets_.data(), size};
  }

 private:
  struct item {
    std::uint64_t scaled;  // weight times size: a bucket takes `total`
    std::uint32_t index;
  };

  /// Lists light and heavy items, each in index order. @return the number of light ones.
  std::uint32_t part(std::span<std::uint64_t const> weights, std::uint64_t total)
  {
    auto const size = static_cast<std::uint32_t>(weights.size());
    item* const light = light_.data();
    item* const heavy = heavy_.data();
    std::uint32_t lights = 0;
    for (std::uint32_t i = 0; i < size; ++i) {
      std::uint64_t const scaled = weights[i] * size;
      bool const is_light = scaled <= total;
      // Into both lists: the next item of a list takes the place of one that doesn't belong there.
      item const both{scaled, i};
      light[lights] = both;
      heavy[i - lights] = both;
      lights += is_light ? 1 : 0;
    }
    return lights;
  }

  /// Notes the content of each bucket, as its threshold, and its other item.
  void sweep(std::uint32_t size, std::uint32_t lights, std::uint64_t total)
  {
    item const* light = light_.data();
    item const* const last_light = light + lights;
    item const* heavy = heavy_.data();
    item const* const last_heavy = heavy + (size - lights);
    core::alias_bucket* const buckets = buckets_.data();
    std::uint64_t rest = heavy->scaled;  // what the current heavy item has left to give
    if (heavy != last_heavy) { heavy_[size - lights] = last_heavy[-1]; }  // the last heavy item's other one is itself
    while (heavy != last_heavy) {
      // The sums are exact: as long as a heavy item has more than a bucket, there is a light one.
      bool const gives = rest > total;
      std::uint32_t const index = gives ? light->index : heavy->index;
      std::uint64_t const content = gives ? light->scaled : rest;
      heavy += gives ? 0 : 1;
      buckets[index] = {content, heavy->index};
      rest = rest - total + (gives ? light->scaled : heavy->scaled);
      light += gives ? 1 : 0;
    }
    for (; light != last_light; ++light) { buckets[light->index] = {light->scaled, light->index}; }
  }

  /// Makes thresholds of contents.
  void fill(std::uint32_t size, std::uint64_t total)
  {
    for (std::uint32_t i = 0; i < size; ++i) {
      std::uint64_t const content = buckets_[i].threshold;
      bool const is_full = content >= total;
      buckets_[i] = is_full ? core::alias_bucket{~std::uint64_t{0}, i}
                            : core::alias_bucket{core::fraction_of(content, total), buckets_[i].other};
    }
  }

  std::vector<item> light_, heavy_;
  std::vector<core::alias_bucket> buckets_;
};

}  // namespace tendril::plan
