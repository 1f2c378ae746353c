// How many edges are not too late: what a linear count gives, for repeated times and both ends of the integers.

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/temporal.hpp"

namespace tendril::test {
namespace {

TEST(temporal, edges_until_is_a_count)
{
  std::mt19937_64 random(1);
  for (std::uint32_t degree = 0; degree < 70; ++degree) {
    std::vector<std::int64_t> times(degree);
    for (auto& t : times) { t = static_cast<std::int64_t>(random() % 40) - 20; }
    std::sort(times.begin(), times.end());
    for (std::int64_t now = -22; now <= 22; ++now) {
      auto const expected = std::count_if(times.begin(), times.end(), [&](std::int64_t t) { return t <= now; });
      EXPECT_EQ(core::edges_until(times.data(), degree, now), expected) << degree << " edges at " << now;
    }
  }
}

TEST(temporal, edges_until_the_ends_of_time)
{
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> const times = {least, least, 0, most, most};
  EXPECT_EQ(core::edges_until(times.data(), 5, least), 2U);
  EXPECT_EQ(core::edges_until(times.data(), 5, -1), 2U);
  EXPECT_EQ(core::edges_until(times.data(), 5, most - 1), 3U);
  EXPECT_EQ(core::edges_until(times.data(), 5, most), 5U);
}

}  // namespace
}  // namespace tendril::test
