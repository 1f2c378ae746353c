// Logarithm, exponential and the normal quantile out of +, -, *, / and sqrt alone: those round the same on every IEEE
// machine and on a GPU, libm's do not, and a generated graph must not depend on where it was made.

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include <tendril/types.hpp>

namespace tendril::core {

TENDRIL_HD std::uint64_t double_to_bits(double x)
{
#ifdef __CUDA_ARCH__
  return static_cast<std::uint64_t>(__double_as_longlong(x));
#else
  return std::bit_cast<std::uint64_t>(x);
#endif
}

TENDRIL_HD double bits_to_double(std::uint64_t bits)
{
#ifdef __CUDA_ARCH__
  return __longlong_as_double(static_cast<long long>(bits));
#else
  return std::bit_cast<double>(bits);
#endif
}

inline constexpr double ln2_high = 0x1.62e42fefa3800p-1;  // its last bits are zero: exact times any exponent
inline constexpr double ln2_low = 0x1.ef35793c76730p-45;

/// Natural logarithm of a normal positive x, to about 1e-15 relative.
TENDRIL_HD double portable_log(double x)
{
  std::uint64_t const bits = double_to_bits(x);
  int exponent = static_cast<int>(bits >> 52U) - 1023;
  double m = bits_to_double((bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL);  // in [1, 2)
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
TENDRIL_HD double portable_exp(double x)
{
  double const k = std::floor(x * 1.4426950408889634 + 0.5);
  double const r = (x - k * ln2_high) - k * ln2_low;  // |r| < 0.35
  double sum = 1;
  for (int n = 15; n >= 1; --n) { sum = 1 + sum * r / n; }
  // 2^k is a normal number, and so is the product: it is exact.
  return sum * bits_to_double(static_cast<std::uint64_t>(static_cast<std::int64_t>(k) + 1023) << 52U);
}

TENDRIL_HD double portable_pow(double x, double y) { return portable_exp(y * portable_log(x)); }

/// A quotient of two polynomials of degree 7, coefficients from the constant term up.
TENDRIL_HD double rational_7(double const (&numerator)[8], double const (&denominator)[8], double x)
{
  double top = 0, bottom = 0;
  for (int i = 7; i >= 0; --i) {
    top = top * x + numerator[i];
    bottom = bottom * x + denominator[i];
  }
  return top / bottom;
}

/// The x that a standard normal variable stays below with probability p, 0 < p < 1: algorithm AS 241 (PPND16) of
/// Wichura, Applied Statistics 37 (1988), to about 1e-15 relative.
TENDRIL_HD double normal_quantile(double p)
{
  double const q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    constexpr double numerator[] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                    1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                    3.3430575583588128105e+4, 2.5090809287301226727e+3};
    constexpr double denominator[] = {1.0,
                                      4.2313330701600911252e+1,
                                      6.8718700749205790830e+2,
                                      5.3941960214247511077e+3,
                                      2.1213794301586595867e+4,
                                      3.9307895800092710610e+4,
                                      2.8729085735721942674e+4,
                                      5.2264952788528545610e+3};
    return q * rational_7(numerator, denominator, 0.180625 - q * q);
  }
  double const r = std::sqrt(-portable_log(q < 0 ? p : 1 - p));
  double x = 0;
  if (r <= 5) {
    constexpr double numerator[] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                    3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                    2.27238449892691845833e-2, 7.74545014278341407640e-4};
    constexpr double denominator[] = {1.0,
                                      2.05319162663775882187e0,
                                      1.67638483018380384940e0,
                                      6.89767334985100004550e-1,
                                      1.48103976427480074590e-1,
                                      1.51986665636164571966e-2,
                                      5.47593808499534494600e-4,
                                      1.05075007164441684324e-9};
    x = rational_7(numerator, denominator, r - 1.6);
  } else {
    constexpr double numerator[] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                    2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                    2.71155556874348757815e-5, 2.01033439929228813265e-7};
    constexpr double denominator[] = {1.0,
                                      5.99832206555887937690e-1,
                                      1.36929880922735805310e-1,
                                      1.48753612908506148525e-2,
                                      7.86869131145613259100e-4,
                                      1.84631831751005468180e-5,
                                      1.42151175831644588870e-7,
                                      2.04426310338993978564e-15};
    x = rational_7(numerator, denominator, r - 5);
  }
  return q < 0 ? -x : x;
}

}  // namespace tendril::core
