// Floating point that CPU and GPU agree on to the bit: explicit fused multiply-adds, correctly rounded operations,
// no mathematical library, contraction off.

#pragma once

#include <bit>
#include <cstdint>

#include <tendril/types.hpp>

namespace tendril::core {

TENDRIL_HD std::uint32_t float_to_bits(float x)
{
#ifdef __CUDA_ARCH__
  return __float_as_uint(x);
#else
  return std::bit_cast<std::uint32_t>(x);
#endif
}

TENDRIL_HD float bits_to_float(std::uint32_t bits)
{
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}

TENDRIL_HD float fused_multiply_add(float a, float b, float c)
{
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}

/// 1 / x, correctly rounded. `x` is normal.
TENDRIL_HD float reciprocal(float x)
{
#ifdef __CUDA_ARCH__
  return __frcp_rn(x);
#else
  return 1.0F / x;
#endif
}

/// A positive finite float as mantissa * 2^exponent with an integer mantissa in [2^23, 2^24).
struct scaled_integer {
  std::uint32_t mantissa;
  int exponent;
};

TENDRIL_HD scaled_integer decompose(float x)
{
  std::uint32_t const bits = float_to_bits(x);
  std::uint32_t const fraction = bits & 0x7fffffU;
  int const biased = static_cast<int>(bits >> 23U);
  if (biased != 0) { return {fraction | 0x800000U, biased - 150}; }
  // Subnormal: shift the leading bit up.
  int shift = 0;
  std::uint32_t mantissa = fraction;
  while (mantissa < 0x800000U) {
    mantissa <<= 1U;
    ++shift;
  }
  return {mantissa, -149 - shift};
}

/// ln(1 + f) for f in [sqrt(1/2) - 1, sqrt(2) - 1], to about one unit in the last place. The coefficients are those
/// of logf in S. Moshier's Cephes library (1989).
TENDRIL_HD float log1p_reduced(float f)
{
  float const square = f * f;
  float p = 7.0376836292e-2F;
  p = fused_multiply_add(p, f, -1.1514610310e-1F);
  p = fused_multiply_add(p, f, 1.1676998740e-1F);
  p = fused_multiply_add(p, f, -1.2420140846e-1F);
  p = fused_multiply_add(p, f, 1.4249322787e-1F);
  p = fused_multiply_add(p, f, -1.6668057665e-1F);
  p = fused_multiply_add(p, f, 2.0000714765e-1F);
  p = fused_multiply_add(p, f, -2.4999993993e-1F);
  p = fused_multiply_add(p, f, 3.3333331174e-1F);
  float const cubic = f * square * p;
  return f + fused_multiply_add(-0.5F, square, cubic);
}

/// An exponential variate with mean 1 from 64 random bits: -ln(1 - v) with v = (bits + 1/2) / 2^64. Small values
/// keep the full relative precision of a float, which is what lets a race be exact among millions of candidates:
/// the winner's v lies near 0, not near 1.
TENDRIL_HD float exponential(std::uint64_t bits)
{
  constexpr std::uint64_t split = 0x4AFB0CCC06219B7CULL;  // (1 - sqrt(1/2)) * 2^64: below, v itself is the argument
  if (bits < split) {
    // The half keeps v above 0; where bits has more than 24 digits it is lost in rounding.
    float const v = (static_cast<float>(bits) + 0.5F) * 0x1p-64F;
    return -log1p_reduced(-v);
  }
  std::uint64_t const rest = ~bits;  // 1 - v = (rest + 1/2) / 2^64
  float const x = (static_cast<float>(rest) + 0.5F) * 0x1p-64F;
  // x = 2^exponent * m with m in [sqrt(1/2), sqrt(2)).
  std::uint32_t const shifted = float_to_bits(x) - 0x3f3504f3U;
  int const exponent = static_cast<int>(shifted) >> 23;
  float const m = bits_to_float((shifted & 0x7fffffU) + 0x3f3504f3U);
  float const log_m = log1p_reduced(m - 1.0F);
  // ln 2 in two parts, so that the product with the exponent is exact in the first.
  constexpr float ln2_high = 0.693359375F;
  constexpr float ln2_low = -2.12194440e-4F;
  float const k = static_cast<float>(exponent);
  return -fused_multiply_add(k, ln2_high, fused_multiply_add(k, ln2_low, log_m));
}

}  // namespace tendril::core
