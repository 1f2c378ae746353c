// The race in vector registers against the definition, to the bit.

#include "cpu/picks/race.hpp"

#include <gtest/gtest.h>

#include "core/race_reference.hpp"
#include "support/sanitized.hpp"

namespace tendril::test {
namespace {

void expect_unfiltered(std::uint32_t size, weight_profile const& profile, cpu::race_counter const& counter)
{
  auto const& w = profile.weight;
  auto const twice = [&](std::uint32_t i) { return w(i) * 2; };
  auto const expected = unfiltered_race(size, w, 40, counter.key, counter.item, counter.step, counter.first_draw);
  ASSERT_EQ(cpu::race_one(size, w, w, counter), expected[0]) << size << ' ' << profile.name;
  ASSERT_EQ(cpu::race_one(size, twice, w, counter), expected[0]) << size << ' ' << profile.name;
  for (std::uint32_t const k : {1U, 10U, 40U}) {
    std::vector<std::uint64_t> winners(k);
    cpu::race_k(size, w, {winners.data(), k}, counter);
    ASSERT_TRUE(std::equal(winners.begin(), winners.end(), expected.begin()))
        << k << " of " << size << ' ' << profile.name;
  }
}

TEST(Race, VectorsGiveTheUnfilteredRace)
{
  for (std::uint32_t size = 0; size <= 5000; size += size < 40 ? 1 : size < 300 ? 13 : 940) {
    for (auto const& profile : weight_profiles(size)) {
      expect_unfiltered(size, profile, {{{1, 2}, std::uint64_t{size} << 30U, 3}, core::race_draws});
      expect_unfiltered(size, profile, {{{4, 5}, 6, size}, 0});
    }
  }
  for (std::uint32_t const size : {128U, 256U, 384U}) {
    for (auto const& profile : weight_profiles(size)) { expect_unfiltered(size, profile, {{{1, 2}, 3, 4}, 0}); }
  }
}

TEST(Race, VectorsGiveTheUnfilteredRaceAmongMillions)
{
  constexpr std::uint32_t size = (1U << unless_sanitized(20U, 15U)) + 77;
  for (auto const& profile : weight_profiles(size)) {
    expect_unfiltered(size, profile, {{{1, 2}, 3, 4}, core::race_draws});
  }
}

}  // namespace
}  // namespace tendril::test
