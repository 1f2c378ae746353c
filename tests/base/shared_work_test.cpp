// Two sides share the items of a job: nothing is done twice, all is done, both end at about the same time, and neither a
// slow side nor a wrong guess of rates makes the job much longer than the better side alone.
//
// The verifier plays the job on a clock of its own: each side takes a fixed time an item and one for each turn, and who
// is free first takes the next turn.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/shared_work.hpp"

namespace tendril::test {
namespace {

using base::item_range;
using base::shared_items;
using base::work_side;

/// One side of a played job.
struct player {
  double rate;           ///< Items a second of the whole side.
  double a_turn = 0;     ///< Seconds that a turn takes beside its items.
  work_side known = {};  ///< As shared_items is told.
};

struct played {
  double seconds = 0;
  std::int64_t front_items = 0;
  std::int64_t turns = 0;
  std::vector<int> made;  ///< How often each item was.
};

played play(std::int64_t num_items, player const& front, player const& back, int num_workers, std::int64_t multiple = 1)
{
  shared_items items({0, num_items}, front.known, back.known, num_workers, multiple);
  played out;
  out.made.assign(static_cast<std::size_t>(num_items), 0);
  std::vector<double> free_at(static_cast<std::size_t>(num_workers) + 1, 0);  // the front is the last
  std::vector<bool> at_work(free_at.size(), false);
  constexpr double never = std::numeric_limits<double>::infinity();
  for (;;) {
    auto const next = std::min_element(free_at.begin(), free_at.end()) - free_at.begin();
    auto const who = static_cast<std::size_t>(next);
    double const now = free_at[who];
    if (now == never) { break; }
    bool const is_front = who == static_cast<std::size_t>(num_workers);
    int const worker = static_cast<int>(who);
    if (at_work[who]) {
      is_front ? items.finish_front(now) : items.finish_back(worker, now);
      out.seconds = std::max(out.seconds, now);
    }
    item_range const turn = is_front ? items.take_front(now) : items.take_back(worker, now);
    if (turn.empty()) {
      free_at[who] = never;
      continue;
    }
    if (is_front) { EXPECT_EQ(turn.first % multiple, 0); }
    for (std::int64_t i = 0; i < turn.size; ++i) { ++out.made[static_cast<std::size_t>(turn.first + i)]; }
    double const rate = is_front ? front.rate : back.rate / num_workers;
    free_at[who] = now + (is_front ? front.a_turn : back.a_turn) + static_cast<double>(turn.size) / rate;
    at_work[who] = true;
    out.front_items += is_front ? turn.size : 0;
    ++out.turns;
  }
  return out;
}

void expect_all_once(played const& job)
{
  for (std::size_t i = 0; i < job.made.size(); ++i) { ASSERT_EQ(job.made[i], 1) << "item " << i; }
}

constexpr std::int64_t many = 1'000'000;

work_side least(std::int64_t items) { return {.least = items}; }

TEST(shared_work, every_item_is_made_once)
{
  for (std::int64_t const n : {0, 1, 2, 31, 32, 33, 100, 1000, 4097}) {
    for (double const ratio : {0.001, 0.1, 1.0, 10.0, 1000.0}) {
      for (int const workers : {1, 2, 15}) {
        SCOPED_TRACE(std::to_string(n) + " items, " + std::to_string(ratio) + ", " + std::to_string(workers));
        expect_all_once(play(n, {1e6 * ratio, 1e-5, least(64)}, {1e6, 1e-6, least(8)}, workers, 32));
      }
    }
  }
}

TEST(shared_work, sides_end_together)
{
  for (double const ratio : {0.1, 0.3, 1.0, 3.0, 10.0}) {
    SCOPED_TRACE(ratio);
    player const front{1e6 * ratio, 2e-5, least(512)};
    player const back{1e6, 0, least(16)};
    auto const job = play(many, front, back, 15);
    expect_all_once(job);
    double const both = many / (front.rate + back.rate);
    EXPECT_LT(job.seconds, 1.02 * both);
    EXPECT_NEAR(static_cast<double>(job.front_items) / many, ratio / (1 + ratio), 0.02);
  }
}

TEST(shared_work, a_side_that_is_of_no_use_costs_little)
{
  for (double const ratio : {1e-4, 1e-3, 1e-2, 1e2, 1e3, 1e4}) {
    SCOPED_TRACE(ratio);
    player const front{1e7 * ratio, 2e-5, least(512)};
    player const back{1e7, 0, least(16)};
    auto const job = play(many, front, back, 15);
    expect_all_once(job);
    // Beside the better side alone: the slower side's first turn, whose rate was not known, and what turns take.
    double const first = ratio < 1 ? many / 64 / front.rate : 16 * 15 / back.rate + 6 * front.a_turn;
    EXPECT_LT(job.seconds, 1.05 * many / std::max(front.rate, back.rate) + first);
  }
}

TEST(shared_work, known_rates_leave_a_slow_side_out)
{
  player front{1e4, 2e-5, {.least = 512, .rate = 1e4}};
  player const back{1e7, 0, {.least = 16, .rate = 1e7}};
  auto const slow_front = play(100'000, front, back, 15);
  EXPECT_EQ(slow_front.front_items, 0);
  expect_all_once(slow_front);
  player const fast{1e9, 2e-5, {.least = 512, .rate = 1e9}};
  auto const slow_back = play(100'000, fast, {1e6, 0, {.least = 16, .rate = 1e6}}, 15);
  EXPECT_GT(slow_back.front_items, 99'800);
}

TEST(shared_work, wrong_rates_are_corrected)
{
  for (double const believed : {0.2, 5.0}) {
    SCOPED_TRACE(believed);
    player const front{1e6, 2e-5, {.least = 512, .rate = 1e6 * believed}};
    player const back{1e6, 0, {.least = 16, .rate = 1e6}};
    auto const job = play(many, front, back, 15);
    expect_all_once(job);
    EXPECT_LT(job.seconds, 1.15 * many / 2e6);
  }
}

TEST(shared_work, a_front_may_begin_with_a_large_turn)
{
  player const front{1e6, 0.1, {.least = 200'000, .first = 400'000}};
  auto const job = play(many, front, {1e6, 0, least(16)}, 15);
  expect_all_once(job);
  EXPECT_GE(job.front_items, 400'000);
  EXPECT_LT(job.seconds, 0.63);
}

TEST(shared_work, turns_are_few)
{
  auto const job = play(many, {1e6, 2e-5, least(512)}, {1e6, 0, least(16)}, 15);
  EXPECT_LT(job.turns, 400);
}

TEST(shared_work, limits_hold)
{
  shared_items none({0, 1000}, {.most = 0}, least(1), 2);
  EXPECT_TRUE(none.take_front(0).empty());
  shared_items items({0, 1000}, {.least = 10, .most = 96}, {.least = 5, .most = 7}, 2, 32);
  for (int i = 0; i < 3; ++i) {
    EXPECT_LE(items.take_front(i).size, 96);
    items.finish_front(i + 1e-3);
    EXPECT_LE(items.take_back(0, i).size, 7);
    items.finish_back(0, i + 1e-3);
  }
}

TEST(shared_work, threads_make_every_item_once)
{
  for (int const workers : {1, 3}) {
    std::vector<std::atomic<int>> made(20'000);
    std::atomic<std::int64_t> by_front{0};
    shared_items items({0, std::ssize(made)}, least(32), least(4), workers, 32);
    auto const make = [&](item_range turn) {
      for (std::int64_t i = 0; i < turn.size; ++i) { ++made[static_cast<std::size_t>(turn.first + i)]; }
    };
    base::work_at(
        items, workers,
        [&](item_range turn) {
          by_front += turn.size;
          make(turn);
        },
        [&](int, item_range turn) { make(turn); });
    EXPECT_TRUE(std::all_of(made.begin(), made.end(), [](auto const& times) { return times == 1; }));
    EXPECT_EQ(items.front_items(), by_front);
  }
}

TEST(shared_work, a_front_without_items_is_not_called)
{
  shared_items items({0, 1000}, {.most = 0}, least(4), 2);
  std::atomic<std::int64_t> made{0};
  base::work_at(
      items, 2, [](item_range) { FAIL() << "called"; }, [&](int, item_range turn) { made += turn.size; });
  EXPECT_EQ(made, 1000);
  EXPECT_EQ(items.front_items(), 0);
}

TEST(shared_work, an_exception_of_either_side_ends_the_job)
{
  constexpr std::int64_t all = 1 << 30;
  for (bool const in_front : {false, true}) {
    shared_items items({0, all}, least(64), least(64), 2);
    std::atomic<std::int64_t> made{0};
    std::atomic<bool> thrown{false};
    auto const fail = [&](char const* what) {
      thrown = true;
      throw std::runtime_error(what);
    };
    // The other side's first turn lasts until then, and for a while that no unwinding takes.
    auto const make = [&](item_range turn) {
      while (!thrown) { std::this_thread::yield(); }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      made += turn.size;
    };
    try {
      base::work_at(
          items, 2,
          [&](item_range turn) {
            if (in_front) { fail("front"); }
            make(turn);
          },
          [&](int, item_range turn) {
            if (!in_front) { fail("back"); }
            make(turn);
          });
      FAIL() << "no exception";
    } catch (std::runtime_error const& what) {
      EXPECT_STREQ(what.what(), in_front ? "front" : "back");
    }
    EXPECT_LT(made, all / 2);  // the turns that were under way
  }
}

}  // namespace
}  // namespace tendril::test
