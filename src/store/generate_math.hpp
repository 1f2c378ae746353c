// Logarithm, exponential and the normal quantile out of +, -, *, / and sqrt alone: those round the same on every IEEE
// machine, libm's do not, and a generated graph must not depend on the machine.

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace tendril::store {

inline constexpr double ln2_high = 0x1.62e42fefa3800p-1;  // its last bits are zero: exact times any exponent
inline constexpr double ln2_low = 0x1.ef35793c76730p-45;

/// Natural logarithm of a normal positive x, to about 1e-15 relative.
inline double portable_log(double x)
{
  auto const bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<int>(bits >> 52U) - 1023;
  auto m = std::bit_cast<double>((bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL);  // in [1, 2)
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  // log m = 2 atanh(s), with |s| < 0.172: the series ends below 2^-53 of its first term.
  double const s = (m - 1) / (m + 1);
  double const z = s * s;
  double sum = 0;
  for (int k = 21; k >= 3; k -= 2) { sum = (sum + 1.0 / k) * z; }
  return exponent * ln2_high + (2 * s + (2 * s * sum + exponent * ln2_low));
}

/// e to the x for |x| < 700, to about 1e-15 relative.
inline double portable_exp(double x)
{
  double const k = std::floor(x * 1.4426950408889634 + 0.5);
  double const r = (x - k * ln2_high) - k * ln2_low;  // |r| < 0.35
  double sum = 1;
  for (int n = 15; n >= 1; --n) { sum = 1 + sum * r / n; }
  return std::ldexp(sum, static_cast<int>(k));
}

inline double portable_pow(double x, double y) { return portable_exp(y * portable_log(x)); }

/// The x that a standard normal variable stays below with probability p, 0 < p < 1: algorithm AS 241 (PPND16) of
/// Wichura, Applied Statistics 37 (1988), to about 1e-15 relative.
double normal_quantile(double p);

}  // namespace tendril::store
