// The random numbers of LABOR: independent batches are dependent ones with a dependency of 1, and a neighbour's number is that
// of its period, by a phase of its own.

#include <cstdint>

#include <gtest/gtest.h>

#include "core/labor.hpp"

namespace tendril::test {
namespace {

TEST(labor, independent_numbers_are_those_of_a_dependency_of_1)
{
  for (std::uint64_t const batch : {std::uint64_t{0}, std::uint64_t{7}, ~std::uint64_t{0} - 1}) {
    auto const numbers = core::labor_numbers::of(5, batch, 1);
    EXPECT_TRUE(numbers.are_independent());
    core::independent_labor_numbers const independent{core::labor_key(5, batch)};
    for (std::uint64_t item = 0; item < 100; ++item) {
      EXPECT_EQ(numbers.of(item, 3), independent.of(item, 3));
      EXPECT_EQ(numbers.independent().of(item, 3), independent.of(item, 3));
    }
  }
}

TEST(labor, numbers_are_those_of_a_period)
{
  constexpr std::uint64_t dependency = 5;
  EXPECT_FALSE(core::labor_numbers::of(5, 0, dependency).are_independent());
  for (std::uint64_t item = 0; item < 50; ++item) {
    int changes = 0;
    for (std::uint64_t batch = 0; batch < 2 * dependency; ++batch) {
      std::uint64_t const number = core::labor_numbers::of(5, batch, dependency).of(item, 2);
      changes += core::labor_numbers::of(5, batch + 1, dependency).of(item, 2) != number ? 1 : 0;
      EXPECT_NE(core::labor_numbers::of(5, batch + dependency, dependency).of(item, 2), number);
    }
    EXPECT_EQ(changes, 2) << item;
  }
}

TEST(labor, who_does_not_take_all_takes_what_is_below)
{
  auto const choice = core::labor_choice::of(3, 4);
  EXPECT_FALSE(choice.all);
  EXPECT_EQ(choice.threshold, std::uint64_t{3} << 62U);
  for (std::uint64_t const number : {choice.threshold - 1, choice.threshold}) {
    EXPECT_EQ(choice.takes(number), choice.is_below(number));
  }
  EXPECT_TRUE(core::labor_choice::of(4, 4).takes(~std::uint64_t{0}));
}

}  // namespace
}  // namespace tendril::test
