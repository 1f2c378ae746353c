// A line of stages: order, bounded depth, work at once, exceptions of any stage, cancellation.
//
// The verifier follows the definition: it notes when each stage takes and leaves each item, and checks every pair that
// the definition orders.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/stages.hpp"

namespace tendril::test {
namespace {

using base::run_stages;
using base::stage;

/// When stage s took item i and when it left it, as numbers of one clock.
struct diary {
  struct visit {
    std::int64_t from = -1, to = -1;
  };
  std::vector<std::vector<visit>> visits;
  std::atomic<std::int64_t> clock{0};

  diary(std::size_t stages, std::int64_t items) : visits(stages, std::vector<visit>(static_cast<std::size_t>(items))) {}

  std::vector<stage> stages()
  {
    std::vector<stage> out;
    for (std::size_t s = 0; s < visits.size(); ++s) {
      out.emplace_back([this, s](std::int64_t item) {
        auto& [from, to] = visits[s][static_cast<std::size_t>(item)];
        EXPECT_EQ(from, -1) << "taken twice";
        from = clock++;
        if ((item + static_cast<std::int64_t>(s)) % 7 == 0) { std::this_thread::yield(); }
        to = clock++;
      });
    }
    return out;
  }

  void expect_order(std::int64_t depth) const { expect_order(std::vector<std::int64_t>(visits.size(), depth)); }

  void expect_order(std::vector<std::int64_t> const& depths) const
  {
    auto const last = visits.size() - 1;
    for (std::size_t s = 0; s <= last; ++s) {
      for (std::size_t i = 0; i < visits[s].size(); ++i) {
        ASSERT_GE(visits[s][i].from, 0) << "stage " << s << " never took item " << i;
        if (i > 0) { ASSERT_GT(visits[s][i].from, visits[s][i - 1].to); }
        if (s > 0) { ASSERT_GT(visits[s][i].from, visits[s - 1][i].to); }
        auto const before = static_cast<std::int64_t>(i) - depths[s];
        if (before >= 0) { ASSERT_GT(visits[s][i].from, visits[last][static_cast<std::size_t>(before)].to); }
      }
    }
  }
};

TEST(Stages, TakeItemsInOrderAndDepthApart)
{
  for (std::size_t const num_stages : {1U, 2U, 4U}) {
    for (std::int64_t const depth : {1, 2, 4, 50}) {
      diary d(num_stages, 40);
      auto const stages = d.stages();
      auto const seconds = run_stages(40, depth, stages, {});
      EXPECT_EQ(seconds.size(), num_stages);
      d.expect_order(depth);
    }
  }
}

TEST(Stages, HaveDepthsOfTheirOwn)
{
  for (std::vector<std::int64_t> const& depths :
       {std::vector<std::int64_t>{9, 9, 4, 4}, {1, 50, 2, 3}, {50, 1, 50, 1}}) {
    diary d(4, 60);
    auto const stages = d.stages();
    (void)run_stages(60, depths, stages, {});
    d.expect_order(depths);
  }
}

// Each of three stages waits until the other two work on other items: only stages that overlap get through.
TEST(Stages, WorkAtOnce)
{
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0;
  bool met = false;
  stage const meet = [&](std::int64_t) {
    std::unique_lock lock(mutex);
    ++inside;
    met = met || inside == 3;
    changed.notify_all();
    changed.wait_for(lock, std::chrono::seconds(20), [&] { return met; });
    --inside;
  };
  stage const pass_first = [&](std::int64_t item) {
    if (item >= 2) { meet(item); }
  };
  stage const pass_second = [&](std::int64_t item) {
    if (item >= 1) { meet(item); }
  };
  std::vector<stage> const stages{pass_first, pass_second, meet};
  (void)run_stages(6, 3, stages, {});
  EXPECT_TRUE(met);
}

TEST(Stages, OfNothingDoNothing)
{
  diary d(3, 0);
  auto const stages = d.stages();
  int calls = 0;
  (void)run_stages(0, 2, stages, [&](std::int64_t done) {
    EXPECT_EQ(done, 0);
    ++calls;
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(d.clock, 0);
}

TEST(Stages, CountTheirWorkAndNotTheirWaiting)
{
  std::vector<stage> const stages{[](std::int64_t) {},
                                  [](std::int64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }};
  auto const seconds = run_stages(5, 2, stages, {});
  EXPECT_LT(seconds[0], 0.05);
  EXPECT_GE(seconds[1], 0.1);
}

TEST(Stages, GiveTheExceptionOfAnyStage)
{
  for (std::size_t const bad : {0U, 1U, 2U}) {
    std::atomic<std::int64_t> taken{0};
    std::vector<stage> stages;
    for (std::size_t s = 0; s < 3; ++s) {
      stages.emplace_back([&, s](std::int64_t item) {
        ++taken;
        if (s == bad && item == 5) { throw std::runtime_error("stage " + std::to_string(s)); }
      });
    }
    try {
      (void)run_stages(1'000'000'000, 3, stages, {});
      FAIL() << "nothing came out";
    } catch (std::runtime_error const& e) {
      EXPECT_EQ(e.what(), "stage " + std::to_string(bad));
    }
    EXPECT_LE(taken, 3 * (5 + 3 + 1)) << "went on after the failure";
  }
}

TEST(Stages, AreWatchedFromTheCallingThreadAndCancelled)
{
  auto const caller = std::this_thread::get_id();
  struct cancelled {};
  std::int64_t last = 0;
  std::vector<stage> const stages{[](std::int64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }};
  EXPECT_THROW((void)run_stages(1'000'000'000, 1, stages,
                                [&](std::int64_t done) {
                                  EXPECT_EQ(std::this_thread::get_id(), caller);
                                  EXPECT_GE(done, last);
                                  last = done;
                                  if (done > 0) { throw cancelled{}; }
                                }),
               cancelled);
  EXPECT_GT(last, 0);
  (void)run_stages(3, 1, stages, [&](std::int64_t done) { last = done; });
  EXPECT_EQ(last, 3) << "the end is reported";
}

}  // namespace
}  // namespace tendril::test
