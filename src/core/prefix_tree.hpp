// Prefix sums of counts that change: a Fenwick tree (Fenwick, "A new data structure for cumulative frequency tables",
// Software: Practice and Experience, 1994). A search or an update reads log2(size) sums.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

namespace tendril::core {

/// A view of the sums, which `Sums` gives by index: a pointer to std::uint64_t, or what acts like one; 32 bits do where
/// the sum of all counts always is below 2^32. It owns nothing. Any one thread may call its functions, as long as no
/// other one does meanwhile.
/// Sum i - 1 is that of the counts [i - lowest set bit of i, i), for i in [1, size].
template <class Sums>
struct prefix_tree {
  Sums sums{};             ///< [size]
  std::uint32_t size = 0;  ///< At most 2^31 - 1.

  /// Turns counts into sums, in place.
  TENDRIL_HD void build() const
  {
    for (std::uint32_t i = 1; i <= size; ++i) {
      std::uint32_t const parent = i + lowest_bit(i);
      if (parent <= size) { sums[parent - 1] += sums[i - 1]; }
    }
  }

  /// The sum of all counts.
  [[nodiscard]] TENDRIL_HD std::uint64_t total() const
  {
    std::uint64_t sum = 0;
    for (std::uint32_t i = size; i > 0; i -= lowest_bit(i)) { sum += sums[i - 1]; }
    return sum;
  }

  /// The first index at which the prefix sum of counts, that index included, exceeds x. `x` < total().
  [[nodiscard]] TENDRIL_HD std::uint32_t find(std::uint64_t x) const
  {
    std::uint32_t stride = 1;
    while (stride <= size / 2) { stride *= 2; }
    std::uint32_t before = 0;  // so many counts lie below x in all
    for (; stride > 0; stride /= 2) {
      // Without a branch: which way a search goes is as good as random.
      std::uint32_t const next = before + stride;
      std::uint64_t const sum = next <= size ? sums[next - 1] : ~std::uint64_t{0};
      bool const right = sum <= x;
      x -= right ? sum : 0;
      before = right ? next : before;
    }
    return before;
  }

  /// Changes count `i` from `from` to `to`.
  TENDRIL_HD void change(std::uint32_t i, std::uint64_t from, std::uint64_t to) const
  {
    std::uint64_t const difference = to - from;  // modulo 2^64, as the sums are
    for (++i; i <= size; i += lowest_bit(i)) { sums[i - 1] += difference; }
  }

 private:
  [[nodiscard]] static TENDRIL_HD std::uint32_t lowest_bit(std::uint32_t i) { return i & (~i + 1); }
};

}  // namespace tendril::core
