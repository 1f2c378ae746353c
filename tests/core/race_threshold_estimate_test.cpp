// A guess of how far the k best of a race reach never changes them: where it says that it held, the best of those that it
// let pass are the best of all. It holds nearly always for usual weights, and lets hardly more pass than are wanted.

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/race_threshold_estimate.hpp"
#include "support/sanitized.hpp"

namespace tendril::test {
namespace {

using core::race_threshold_estimate;

constexpr rng_key key{17, 4};

struct guessed_race {
  std::vector<std::uint64_t> winners;  // of those that passed, ascending
  std::uint32_t num_passing = 0;
  bool holds = false;
};

/// The k best of the candidates that pass a guess by the first 128 weights.
guessed_race run(std::vector<float> const& weights, std::uint32_t k, float wanted, std::uint64_t item)
{
  auto const size = static_cast<std::uint32_t>(weights.size());
  auto const sample = std::min(size, core::race_stretch);
  float weight = 0;
  for (std::uint32_t i = 0; i < sample; ++i) { weight += weights[i]; }
  race_threshold_estimate const guess = race_threshold_estimate::of(wanted, size, weight, sample);
  guessed_race out;
  out.winners.resize(k);
  core::race_list const list{out.winners.data(), k};
  list.clear();
  core::race_scan(
      size, [&](std::uint32_t i, std::uint32_t high) { return guess.filter.may_win(high, weights[i]); },
      [&](std::uint32_t i, std::uint32_t high) {
        ++out.num_passing;
        list.insert(core::race_entry_of(key, item, 0, 0, i, high, weights[i]));
      },
      key, item, 0, 0);
  out.holds = guess.holds(list.last());
  return out;
}

std::vector<std::uint64_t> all_of(std::vector<float> const& weights, std::uint32_t k, std::uint64_t item)
{
  std::vector<std::uint64_t> out(k);
  core::race_k(
      static_cast<std::uint32_t>(weights.size()), [&](std::uint32_t i) { return weights[i]; }, k, out.data(), key, item,
      0, 0);
  return out;
}

std::vector<float> make_weights(std::uint32_t size, std::uint64_t seed,
                                std::function<float(std::uint32_t, double)> const& of)
{
  std::mt19937_64 random(seed);
  std::vector<float> out(size);
  for (std::uint32_t i = 0; i < size; ++i) { out[i] = of(i, static_cast<double>(random() >> 11U) * 0x1p-53); }
  return out;
}

/// How often the best of those that passed are not the best of all, and how often a guess said that it didn't hold.
struct tally {
  int wrong = 0, wrong_and_held = 0, held = 0, runs = 0;
  double passing = 0;
};

tally try_weights(std::uint32_t size, std::uint32_t k, float wanted, int runs,
                  std::function<float(std::uint32_t, double)> const& of)
{
  tally out;
  for (int r = 0; r < runs; ++r) {
    auto const item = static_cast<std::uint64_t>(r);
    auto const weights = make_weights(size, item, of);
    guessed_race const got = run(weights, k, wanted, item);
    bool const is_wrong = got.winners != all_of(weights, k, item);
    out.wrong += is_wrong ? 1 : 0;
    out.wrong_and_held += is_wrong && got.holds ? 1 : 0;
    out.held += got.holds ? 1 : 0;
    out.passing += static_cast<double>(got.num_passing) / runs;
    ++out.runs;
  }
  return out;
}

float usual(std::uint32_t, double u) { return static_cast<float>(1 + 4 * u); }

TEST(race_threshold_estimate, who_held_is_right_whatever_the_weights)
{
  std::vector<std::function<float(std::uint32_t, double)>> const shapes = {
      usual,
      [](std::uint32_t i, double) { return i < 128 ? 1e6F : 1.0F; },   // the sample promises too much
      [](std::uint32_t i, double) { return i < 128 ? 1e-6F : 1.0F; },  // and too little
      [](std::uint32_t i, double u) { return i < 128 ? 0.0F : static_cast<float>(u); },
      [](std::uint32_t i, double) { return i % 101 == 7 ? 2.0F : 0.0F; },
      [](std::uint32_t, double u) { return static_cast<float>(std::pow(10.0, 12 * u - 6)); },
      [](std::uint32_t, double u) { return static_cast<float>(3e38 * u); },   // the sum overflows
      [](std::uint32_t, double u) { return static_cast<float>(1e-44 * u); },  // subnormal, and zeros
      [](std::uint32_t, double) { return 0.0F; },
  };
  int wrong = 0;
  for (auto const& of : shapes) {
    for (std::uint32_t const k : {1U, 2U, 10U, 32U, 300U}) {
      for (std::uint32_t const size : {130U, 500U, 2000U, 9000U}) {
        tally const t = try_weights(size, k, core::race_threshold_sample(k), unless_sanitized(20, 5), of);
        EXPECT_EQ(t.wrong_and_held, 0) << "k " << k << ", size " << size;
        wrong += t.wrong;
      }
    }
  }
  EXPECT_GT(wrong, unless_sanitized(100, 25));  // so the word of a guess is needed
}

// About Poisson(m) candidates lie below the guess; it fails if they are less than k. By Chernoff's bound that has a
// chance of at most exp(-(m - k)^2 / 2 m).
TEST(race_threshold_estimate, holds_nearly_always_for_usual_weights)
{
  if (is_sanitized) { GTEST_SKIP() << statistics_only; }
  constexpr int runs = 1000;
  for (std::uint32_t const k : {1U, 5U, 10U, 15U, 30U, 32U, 100U}) {
    float const m = core::race_threshold_sample(k);
    double const bound = std::exp(-(m - k) * (m - k) / (2 * m));
    for (double const times : {3.0, 8.0, 50.0}) {
      auto const size = static_cast<std::uint32_t>(std::ceil(times * static_cast<double>(m)));
      EXPECT_TRUE(race_threshold_estimate::pays(m, size));
      tally const t = try_weights(size, k, m, runs, usual);
      EXPECT_GE(t.held, runs * (1 - bound)) << "k " << k << ", size " << size;
      // Of n candidates m (1 + m / 2n) pass. 128 weights from [1, 5) tell their mean to 3.4 %, and its reciprocal is too
      // large by 0.1 % on average. Five deviations of the mean of all runs.
      double const expected = 1.001 * static_cast<double>(m * (1 + m / (2 * static_cast<float>(size))));
      double const variance = expected + std::pow(0.034 * expected, 2);
      EXPECT_NEAR(t.passing, expected, 5 * std::sqrt(variance / runs)) << "k " << k << ", size " << size;
    }
  }
}

TEST(race_threshold_estimate, fails_often_without_its_margin)
{
  if (is_sanitized) { GTEST_SKIP() << statistics_only; }
  constexpr int runs = 1000;
  float const m = core::race_threshold_sample(10);
  double const bound = std::exp(-(m - 10) * (m - 10) / (2 * m));
  EXPECT_LT(try_weights(1000, 10, 10.0F, runs, usual).held, runs * (1 - bound));
}

TEST(race_threshold_estimate, pays_among_many)
{
  EXPECT_FALSE(race_threshold_estimate::pays(0, 1'000'000));  // none is wanted
  EXPECT_FALSE(race_threshold_estimate::pays(22.5F, 67));
  EXPECT_TRUE(race_threshold_estimate::pays(22.5F, 68));
}

}  // namespace
}  // namespace tendril::test
