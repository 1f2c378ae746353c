// Ranks that make pieces in turn make each once, and are waited for while they take one for longer than the deadline.

#include "cli/rank_pieces.hpp"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/error.hpp>

#include "dist/ranks.hpp"

namespace tendril::test {
namespace {

TEST(RankPieces, AreMadeAndTakenOnce)
{
  for (int const n : {1, 2, 3, 7}) {
    for (std::int64_t const total : {0, 1, 5, 64, 100}) {
      std::mutex mutex;
      std::vector<int> taken(static_cast<std::size_t>(total));
      run_ranks(n, [&](transport& ranks) {
        std::int64_t last = 0;
        std::int64_t num_made = 0;
        cli::make_in_turn(
            ranks, total, 5,
            [&](std::int64_t first, std::int64_t) {
              ++num_made;
              return first;
            },
            [&](std::int64_t first, std::int64_t size, std::int64_t made) {
              EXPECT_EQ(made, first);
              std::lock_guard const lock(mutex);
              for (std::int64_t i = 0; i < size; ++i) { ++taken[static_cast<std::size_t>(first + i)]; }
            },
            [&](std::int64_t done) { last = done; });
        EXPECT_EQ(last, total);
        EXPECT_EQ(num_made, (total + 5 * n - 1) / (5 * n)) << "as often on every rank";
      });
      EXPECT_EQ(taken, std::vector<int>(static_cast<std::size_t>(total), 1)) << n << " ranks";
    }
  }
}

/// The others wait for rank 1, in a call, while its disk is slow: in the midst of the job, and at its end.
TEST(RankPieces, ARankThatTakesAPieceForLongIsWaitedFor)
{
  for (std::int64_t const slow : {5, 15}) {
    run_ranks(
        2,
        [slow](transport& ranks) {
          cli::make_in_turn(
              ranks, 20, 5,
              [&](std::int64_t, std::int64_t) {
                ranks.barrier("pieces");
                return 0;
              },
              [slow](std::int64_t first, std::int64_t, int) {
                if (first == slow) { std::this_thread::sleep_for(std::chrono::seconds(5)); }
              },
              [](std::int64_t) {});
          ranks.barrier("end");
        },
        transport::seconds(2));
  }
}

TEST(RankPieces, WhatTakingThrowsComesOut)
{
  std::string found;
  try {
    run_ranks(2, [](transport& ranks) {
      cli::make_in_turn(
          ranks, 20, 5, [](std::int64_t, std::int64_t) { return 0; },
          [](std::int64_t first, std::int64_t, int) {
            if (first == 15) { throw io_error("no space left"); }
          },
          [](std::int64_t) {});
      ranks.barrier("end");
    });
  } catch (error const& e) {
    found = e.what();
  }
  EXPECT_NE(found.find("no space left"), std::string::npos) << found;
}

}  // namespace
}  // namespace tendril::test
