// Division by multiplication is division, at the edges of its range and at random.

#include "core/fast_divisor.hpp"

#include <random>

#include <gtest/gtest.h>

namespace tendril::core {
namespace {

TEST(fast_divisor, is_division)
{
  std::mt19937 random(1);
  std::vector<std::uint32_t> divisors{1,    2,     3,     5,     7,           10,          25,         64,
                                      1000, 65535, 65536, 65537, 0x40000000U, 0x40000001U, 0x7fffffffU};
  for (int i = 0; i < 2000; ++i) { divisors.push_back((random() >> (1 + random() % 31)) | 1U); }
  for (std::uint32_t const d : divisors) {
    fast_divisor const by(d);
    std::vector<std::uint32_t> numbers{
        0, 1, d - 1, d, d + 1, 0x7ffffffeU, 0x7fffffffU, 0x7fffffffU / d * d, 0x7fffffffU / d * d - 1};
    for (int i = 0; i < 50; ++i) { numbers.push_back(random() >> (1 + random() % 31)); }
    for (std::uint32_t const n : numbers) {
      if (n <= 0x7fffffffU) { ASSERT_EQ(by.quotient(n), n / d) << n << " / " << d; }
    }
  }
}

}  // namespace
}  // namespace tendril::core
