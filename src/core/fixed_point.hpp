// Weights as integers, so that sums are exact in any order. Within a neighbourhood of d edges every weight is scaled
// by one power of two that puts the largest just below 2^(62 - ceil(log2 d)): the sum, and d times any weight, stay
// below 2^62. With 1,000 edges that leaves 52 bits, so weights 12 orders of magnitude apart keep 12 bits of their
// own; a positive weight never becomes 0.

#pragma once

#include <bit>
#include <cstdint>

#include "core/float_bits.hpp"
#include "core/random.hpp"

namespace tendril::core {

/// ceil(log2 n) for n >= 1.
TENDRIL_HD int ceil_log2(std::uint32_t n)
{
#ifdef __CUDA_ARCH__
  return 32 - __clz(static_cast<int>(n - 1));
#else
  return std::bit_width(n - 1);
#endif
}

/// The scale of one neighbourhood.
struct fixed_point {
  int shift = 0;  ///< A weight mantissa * 2^e becomes mantissa * 2^(e + shift).

  /// @param largest  The neighbourhood's largest weight, > 0.
  /// @param degree   Its number of edges, >= 1.
  [[nodiscard]] static TENDRIL_HD fixed_point of(float largest, std::uint32_t degree)
  {
    return {62 - ceil_log2(degree) - 24 - decompose(largest).exponent};
  }

  /// The integer weight: 0 only for 0.
  [[nodiscard]] TENDRIL_HD std::uint64_t operator()(float weight) const
  {
    if (!(weight > 0)) { return 0; }
    scaled_integer const w = decompose(weight);
    int const left = w.exponent + shift;
    if (left >= 0) { return std::uint64_t{w.mantissa} << static_cast<unsigned>(left); }
    int const right = -left;
    std::uint32_t const rounded =
        right > 25 ? 0U : static_cast<std::uint32_t>((std::uint64_t{w.mantissa} + (1ULL << (right - 1))) >> right);
    return rounded == 0 ? 1U : rounded;
  }
};

/// The largest of `size` weights; 0 if there is none.
template <class WeightOf>
TENDRIL_HD float largest_weight(std::uint32_t size, WeightOf weight_of)
{
  float largest = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    float const w = weight_of(i);
    largest = w > largest ? w : largest;
  }
  return largest;
}

}  // namespace tendril::core
