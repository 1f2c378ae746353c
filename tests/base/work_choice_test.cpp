// Who makes the items of a job: after few jobs of a kind the best way is taken, a long job finds it by itself, and trials
// cost little. The verifier knows the true rate of each way, and adds up the seconds of what is chosen.

#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

#include "base/work_choice.hpp"

namespace tendril::test {
namespace {

using base::next_part;
using base::work_part;
using base::work_rates;
using base::work_sides;
using base::work_trials;

/// True rates, in items a second.
struct truth {
  double front, back, both;

  [[nodiscard]] double of(work_sides who) const
  {
    return who == work_sides::front ? front : who == work_sides::back ? back : both;
  }
  [[nodiscard]] double best() const { return std::max({front, back, both}); }
};

constexpr work_trials trials{.least = 100, .most = 1000};

/// Seconds that a job of `items` takes. @param disturbed  Measured seconds are so many times longer than they should be.
double play(std::int64_t items, truth const& rates, work_rates& known, work_trials const& by = trials,
            double disturbed = 1)
{
  double seconds = 0;
  while (items > 0) {
    work_part const part = next_part(items, known, by);
    EXPECT_GT(part.size, 0);
    EXPECT_LE(part.size, items);
    double const taken = static_cast<double>(part.size) / rates.of(part.who) * disturbed;
    known.learn(part.who, part.size, taken);
    seconds += taken;
    items -= part.size;
  }
  return seconds;
}

// Front much slower and both slower than the back alone (walks without lists on a GPU); both best; front far ahead.
constexpr truth cases[] = {{4e6, 23e6, 18e6}, {6e6, 6.6e6, 9e6}, {23e6, 5.4e6, 12e6}, {1e3, 1e3, 2e3}, {1e9, 1, 1e9}};

TEST(work_choice, after_two_short_jobs_a_way_the_best_is_taken)
{
  for (truth const& rates : cases) {
    work_rates known;
    for (int i = 0; i < 6; ++i) { (void)play(1000, rates, known); }
    EXPECT_DOUBLE_EQ(play(1000, rates, known), 1000 / rates.best());
  }
}

TEST(work_choice, a_long_job_finds_the_best_way_by_itself)
{
  constexpr std::int64_t items = 1'000'000;
  for (truth const& rates : cases) {
    work_rates known;
    double const seconds = play(items, rates, known);
    double const trial = 1000 / rates.front + 1000 / rates.back + (known.both > 0 ? 1000 / rates.both : 0);
    EXPECT_LE(seconds, items / rates.best() + 2 * trial * (1 + 1e-9));
    EXPECT_DOUBLE_EQ(play(items, rates, known), items / rates.best());
  }
}

TEST(work_choice, a_side_that_adds_nothing_is_not_tried_beside_the_other)
{
  work_rates known;
  truth const rates{1e9, 1e6, 1e9};
  for (int i = 0; i < 8; ++i) { (void)play(1000, rates, known); }
  EXPECT_EQ(known.both, 0);
}

TEST(work_choice, a_front_that_needs_all_gets_all)
{
  work_trials const by{.least = 100, .most = 1000, .front_needs_all = true};
  work_rates known;
  work_part const first = next_part(1'000'000, known, by);
  EXPECT_EQ(first.who, work_sides::back);
  EXPECT_EQ(first.size, 1000);
  known.learn(first.who, first.size, 1e-3);
  work_part const second = next_part(999'000, known, by);
  EXPECT_EQ(second.who, work_sides::back);
  known.learn(second.who, second.size, 1e-3);
  work_part const third = next_part(998'000, known, by);
  EXPECT_EQ(third.who, work_sides::front);
  EXPECT_EQ(third.size, 998'000);
}

TEST(work_choice, a_disturbed_measurement_does_not_change_the_way)
{
  truth const rates{20e6, 14e6, 15e6};
  work_rates known;
  for (int i = 0; i < 6; ++i) { (void)play(1000, rates, known); }
  (void)play(1000, rates, known, trials, 2);
  EXPECT_EQ(known.best(), work_sides::front);
}

TEST(work_choice, a_way_that_became_slow_is_left)
{
  work_rates known;
  for (int i = 0; i < 6; ++i) { (void)play(1000, {20e6, 14e6, 15e6}, known); }
  truth const slower{2e6, 14e6, 15e6};
  for (int i = 0; i < 10; ++i) { (void)play(1000, slower, known); }
  EXPECT_EQ(known.best(), work_sides::both);
}

TEST(work_choice, a_slow_first_trial_is_made_up_for)
{
  truth const rates{4e6, 23e6, 18e6};
  work_rates known;
  for (work_sides const who : {work_sides::back, work_sides::front, work_sides::both}) {
    known.learn(who, 1000, 100 * 1000 / rates.of(who));  // as if memory was allocated
  }
  for (int i = 0; i < 3; ++i) { (void)play(1000, rates, known); }
  EXPECT_EQ(known.best(), work_sides::back);
}

TEST(work_choice, trials_that_were_all_disturbed_are_made_up_for)
{
  for (truth const& rates : {truth{10e6, 14e6, 9e6}, truth{10e6, 6e6, 13e6}}) {
    for (std::int64_t const items : {std::int64_t{1000}, std::int64_t{1'000'000}}) {
      work_rates known;
      while (!known.is_settled()) {  // what is better than the front looks worse
        work_part const part = next_part(items, known, trials);
        double const told = part.who == work_sides::front ? rates.front : 0.7 * rates.front;
        known.learn(part.who, part.size, static_cast<double>(part.size) / told);
      }
      ASSERT_EQ(known.best(), work_sides::front);
      for (int i = 0; i < 40; ++i) { (void)play(items, rates, known); }
      EXPECT_DOUBLE_EQ(rates.of(known.best()), rates.best());
    }
  }
}

/// Of n calls log2(n) try a way again that takes at most twice the time, and of a long call an eighth.
TEST(work_choice, trying_again_costs_little)
{
  for (truth const& rates : cases) {
    work_rates known;
    for (int i = 0; i < 6; ++i) { (void)play(1000, rates, known); }
    double seconds = 0;
    for (int i = 0; i < 1000; ++i) { seconds += play(1000, rates, known); }
    EXPECT_LE(seconds, (1000 + 10) * (1000 / rates.best()) * (1 + 1e-9));
  }
}

TEST(work_choice, rates_rise_at_once_and_fall_by_a_quarter)
{
  EXPECT_EQ(work_rates::learned(0, 5), 5);
  EXPECT_EQ(work_rates::learned(5, 8), 8);
  EXPECT_EQ(work_rates::learned(8, 4), 7);
}

}  // namespace
}  // namespace tendril::test
