// Jobs dealt to several workers: every piece once, one at a time for each worker, taken in order, few of them waiting; and what
// fails ends the job.

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/several_gpus.hpp>

#include "support/messages.hpp"

namespace tendril::test {
namespace {

TEST(Deal, MakesEveryPieceOnceAndTakesThemInOrder)
{
  for (int const workers : {1, 2, 3, 7}) {
    for (std::int64_t const items : {0, 1, 7, 100, 1001}) {
      for (std::int64_t const piece : {1, 10, 1001, 5000}) {
        std::vector<std::atomic<int>> busy(static_cast<std::size_t>(workers));
        std::atomic<std::int64_t> made{0}, taken{0};
        std::vector<std::int64_t> got;
        auto const caller = std::this_thread::get_id();
        deal(
            workers, items, piece,
            [&](int worker, std::int64_t first, std::int64_t size) {
              EXPECT_EQ(busy.at(static_cast<std::size_t>(worker))++, 0) << "two pieces at a time";
              EXPECT_EQ(size, std::min(piece, items - first));
              EXPECT_LE(++made - taken, 2 * workers);
              std::vector<std::int64_t> ids(static_cast<std::size_t>(size));
              for (std::int64_t i = 0; i < size; ++i) { ids[static_cast<std::size_t>(i)] = first + i; }
              if (first % 3 == 0) { std::this_thread::yield(); }
              --busy[static_cast<std::size_t>(worker)];
              return ids;
            },
            [&](std::int64_t first, std::int64_t size, std::vector<std::int64_t>&& ids) {
              EXPECT_EQ(std::this_thread::get_id(), caller);
              EXPECT_EQ(first, std::ssize(got));
              EXPECT_EQ(size, std::ssize(ids));
              got.insert(got.end(), ids.begin(), ids.end());
              ++taken;
            });
        ASSERT_EQ(std::ssize(got), items) << workers << " workers, pieces of " << piece;
        for (std::int64_t i = 0; i < items; ++i) { ASSERT_EQ(got[static_cast<std::size_t>(i)], i); }
      }
    }
  }
}

TEST(Deal, GivesAFreeWorkerTheNextPiece)
{
  // Worker 0, or whoever gets the first piece, does not end before all others are taken up.
  std::atomic<std::int64_t> begun{0};
  std::set<int> slow;
  std::mutex mutex;
  deal(
      2, 4, 1,
      [&](int worker, std::int64_t first, std::int64_t) {
        ++begun;
        if (first == 0) {
          while (begun < 4) { std::this_thread::yield(); }
          std::lock_guard const lock(mutex);
          slow.insert(worker);
        }
        return 0;
      },
      [](std::int64_t, std::int64_t, int) {});
  EXPECT_EQ(slow.size(), 1U);
}

TEST(Deal, EndsWithWhatWasThrownFirst)
{
  std::atomic<int> made{0};
  EXPECT_EQ(message_of<std::runtime_error>([&] {
              deal(
                  3, 1'000'000, 1,
                  [&](int, std::int64_t first, std::int64_t) {
                    if (first == 10) { throw std::runtime_error("piece 10"); }
                    return ++made;
                  },
                  [](std::int64_t, std::int64_t, int) {});
            }),
            "piece 10");
  EXPECT_LT(made, 20) << "workers go on";
  EXPECT_EQ(message_of<std::runtime_error>([&] {
              deal(
                  3, 1'000'000, 1, [](int, std::int64_t, std::int64_t) { return 0; },
                  [](std::int64_t first, std::int64_t, int) {
                    if (first == 4) { throw std::runtime_error("no room for piece 4"); }
                  });
            }),
            "no room for piece 4");
}

TEST(Deal, RefusesWhatCantBe)
{
  auto const refusal = [](int workers, std::int64_t piece) {
    return message_of<argument_error>([&] {
      deal(
          workers, 9, piece, [](int, std::int64_t, std::int64_t) { return 0; }, [](std::int64_t, std::int64_t, int) {});
    });
  };
  EXPECT_EQ(refusal(0, 1), "0 workers, expected one or more");
  EXPECT_EQ(refusal(-3, 1), "-3 workers, expected one or more");
  EXPECT_EQ(refusal(1, 0), "pieces of a job: expected at least one sample each");
}

}  // namespace
}  // namespace tendril::test
