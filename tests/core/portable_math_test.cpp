// The arithmetic of generated graphs: close to libm's, and without it.

#include <cmath>

#include <gtest/gtest.h>

#include "core/portable_math.hpp"

namespace tendril {
namespace {

TEST(portable_math, agrees_with_libm)
{
  for (int i = 1; i < 20'000; ++i) {
    double const x = i * 0.37;
    EXPECT_NEAR(core::portable_log(x), std::log(x), 4e-16 * std::fabs(std::log(x)) + 1e-16);
    EXPECT_NEAR(core::portable_log(1 / (x * x * x)), std::log(1 / (x * x * x)),
                4e-16 * std::fabs(3 * std::log(x)) + 1e-16);
    double const y = (i - 10'000) * 0.05;
    EXPECT_NEAR(core::portable_exp(y) / std::exp(y), 1, 2e-15);
  }
}

TEST(portable_math, normal_quantile_inverts_the_distribution)
{
  auto const cdf = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  for (int i = 1; i < 1000; ++i) {
    double const p = i / 1000.0;
    EXPECT_NEAR(cdf(core::normal_quantile(p)), p, 1e-15 + 4e-16 * p) << p;
  }
  for (int e = 10; e <= 54; ++e) {
    double const p = std::ldexp(1.0, -e);
    EXPECT_NEAR(cdf(core::normal_quantile(p)) / p, 1, 2e-14) << e;
  }
  EXPECT_EQ(core::normal_quantile(0.5), 0);
}

}  // namespace
}  // namespace tendril
