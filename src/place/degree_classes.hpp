#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tendril::place {

/// Degrees up to 16 each by itself, then 8 classes in each power of two.
struct degree_classes {
  static constexpr std::uint32_t exact = 16, per_octave_bits = 3;
  static constexpr std::size_t count = exact + (32 - 4) * (1U << per_octave_bits);

  static std::size_t of(std::uint32_t degree)
  {
    if (degree < exact) { return degree; }
    auto const octave = static_cast<std::uint32_t>(std::bit_width(degree)) - 1;  // 4 and more
    std::uint32_t const within = degree >> (octave - per_octave_bits) & ((1U << per_octave_bits) - 1U);
    return exact + ((octave - 4) << per_octave_bits) + within;
  }
  static std::int64_t first(std::size_t index)
  {
    if (index <= exact) { return static_cast<std::int64_t>(index); }
    std::size_t const octave = 4 + (index - exact) / 8;
    return static_cast<std::int64_t>((8 + (index - exact) % 8) << (octave - per_octave_bits));
  }
};

}  // namespace tendril::place
