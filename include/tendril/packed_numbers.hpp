// Numbers of one width, bit by bit from the lowest of each 32-bit word on: how a compressed graph holds weights, labels
// and edge ids that fit into fewer bits (docs/compression.md, "Weights, labels and edge ids"). Includes little, so that a
// program compiled at run time can include it too. The writer: src/place/narrow.hpp.

#pragma once

#include <cstdint>

#include <tendril/list_code.hpp>  // bits_at
#include <tendril/types.hpp>

namespace tendril {

/// A view of such numbers. Trivially copyable; owns nothing.
struct packed_numbers {
  std::uint32_t const* words = nullptr;  ///< [num_words(size, width)]
  std::uint32_t width = 0;               ///< Bits of a number, 0 to 62. Of 0 bits every number is 0.

  /// Words of `size` numbers: reading the last one loads the word behind it, too. The product must fit 63 bits.
  [[nodiscard]] static TENDRIL_HD std::int64_t num_words(std::int64_t size, std::uint32_t width)
  {
    return ((size * width) >> 5U) + 2;
  }

  /// Number i of those of at most 32 bits, read by load(address).
  template <class Load>
  [[nodiscard]] TENDRIL_HD std::uint32_t at(std::int64_t i, Load load) const
  {
    return list_codes::bits_at(words, static_cast<std::uint64_t>(i) * width, width, load);
  }
  /// Number i of any width.
  [[nodiscard]] TENDRIL_HD std::uint64_t operator[](std::int64_t i) const
  {
    std::uint64_t const bit = static_cast<std::uint64_t>(i) * width;
    std::uint32_t const low = width < 32 ? width : 32;
    std::uint64_t const lower = list_codes::bits_at(words, bit, low, plain_load{});
    if (width <= 32) { return lower; }
    return lower | (std::uint64_t{list_codes::bits_at(words, bit + low, width - low, plain_load{})} << low);
  }
};

}  // namespace tendril
