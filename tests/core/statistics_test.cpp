// The judge judged: known p-values, and planted biases that it must find.

#include "support/statistics.hpp"

#include <random>

namespace tendril {
namespace {

using test::drawn_from;

TEST(statistics, tail_has_its_published_values)
{
  // Tables of the chi-square distribution, upper tail.
  EXPECT_NEAR(test::chi_square_tail(3.841459, 1), 0.05, 1e-6);
  EXPECT_NEAR(test::chi_square_tail(18.307038, 10), 0.05, 1e-6);
  EXPECT_NEAR(test::chi_square_tail(29.588298, 10), 0.001, 1e-8);
  EXPECT_NEAR(test::chi_square_tail(124.342113, 100), 0.05, 1e-6);
  EXPECT_NEAR(test::chi_square_tail(77.929465, 100), 0.95, 1e-6);
  EXPECT_NEAR(test::chi_square_tail(2, 2), std::exp(-1.0), 1e-12);
  EXPECT_NEAR(test::chi_square_tail(40, 2) * std::exp(20.0), 1, 1e-9);
  EXPECT_EQ(test::chi_square_tail(0, 3), 1);
  EXPECT_NEAR(test::chi_square_tail(test::critical_chi_square(9999), 9999) / test::least_p_value, 1, 1e-6);
}

TEST(statistics, a_sample_too_small_for_its_claim_is_refused)
{
  std::vector<std::int64_t> const even(10, 1000);
  std::vector<double> const equal(10, 1.0);
  EXPECT_FALSE(drawn_from(even, equal, 0.02));
  EXPECT_TRUE(drawn_from(even, equal, 0.2));
  EXPECT_FALSE(drawn_from({}, {}));
  EXPECT_FALSE(drawn_from({0}, {1.0}));
  EXPECT_FALSE(drawn_from({1, 2}, {1.0}));
}

TEST(statistics, a_draw_of_an_impossible_cell_is_found)
{
  EXPECT_TRUE(drawn_from({500'000, 500'000, 0}, {1, 1, 0}));
  EXPECT_FALSE(drawn_from({500'000, 500'000, 1}, {1, 1, 0}));
}

TEST(statistics, rare_cells_are_pooled_not_dropped)
{
  std::vector<std::int64_t> counts(1002, 0);
  std::vector<double> weights(1002, 1.0);
  weights[0] = weights[1] = 5e5;
  counts[0] = counts[1] = 500'000;
  for (std::size_t i = 2; i < counts.size(); ++i) { counts[i] = i % 2; }
  weights[2] = 500;  // 1,500 expected beyond the first two, 500 found
  EXPECT_FALSE(drawn_from(counts, weights));
  counts[2] += 1000;
  EXPECT_FALSE(drawn_from(counts, weights));
  counts[2] -= 501;
  for (std::size_t i = 3; i < counts.size(); ++i) { counts[i] = 1; }
  EXPECT_TRUE(drawn_from(counts, weights));
}

TEST(statistics, a_tilt_of_the_stated_size_is_found)
{
  std::mt19937_64 random(1);
  for (std::size_t const size : {2UL, 3UL, 10UL, 1000UL}) {
    std::vector<double> const equal(size, 1.0);
    auto const num_draws = static_cast<std::int64_t>(test::least_sample(static_cast<double>(size - 1), 0.02)) + 1;
    std::vector<std::int64_t> straight(size, 0);
    std::vector<std::int64_t> tilted(size, 0);
    std::vector<double> weights(size);
    for (std::size_t i = 0; i < size; ++i) { weights[i] = i % 2 == 0 ? 1.02 : 0.98; }
    std::discrete_distribution<std::size_t> tilt(weights.begin(), weights.end());
    std::uniform_int_distribution<std::size_t> even(0, size - 1);
    for (std::int64_t i = 0; i < num_draws; ++i) {
      ++straight[even(random)];
      ++tilted[tilt(random)];
    }
    EXPECT_TRUE(drawn_from(straight, equal)) << size;
    EXPECT_FALSE(drawn_from(tilted, equal)) << size;
  }
}

/// What some samplers do: the remainder of a 16-bit random number. Harmless at degree 10, wrong at degree 10,000.
TEST(statistics, the_remainder_of_16_bits_is_found)
{
  constexpr std::uint64_t size = 10'000;
  std::mt19937_64 random(2);
  std::vector<std::int64_t> remainder(size, 0);
  std::vector<std::int64_t> whole(size, 0);
  for (int i = 0; i < 3'000'000; ++i) {
    std::uint64_t const bits = random();
    ++remainder[(bits >> 48U) % size];
    ++whole[(bits >> 8U) % size];
  }
  std::vector<double> const equal(size, 1.0);
  EXPECT_TRUE(drawn_from(whole, equal));
  EXPECT_FALSE(drawn_from(remainder, equal));
}

}  // namespace
}  // namespace tendril
