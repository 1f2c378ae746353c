#include <tendril/transport.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "dist/ranks.hpp"
#include "dist/refusal.hpp"
#include "dist/restless_engine.hpp"

namespace tendril::test {
namespace {

constexpr int all_rank_counts[] = {1, 2, 3, 4, 7};

/// What run_ranks throws; nothing if all goes well.
template <class Work>
std::string failure_of(int num_ranks, Work work, double deadline = 10)
{
  try {
    run_ranks(num_ranks, work, transport::seconds(deadline));
    return {};
  } catch (error const& e) {
    return e.what();
  }
}

std::vector<message> texts_to_all(transport& ranks, std::string const& text)
{
  std::vector<message> out(static_cast<std::size_t>(ranks.size()));
  for (int to = 0; to < ranks.size(); ++to) {
    std::string const body = text + std::to_string(ranks.rank()) + ">" + std::to_string(to);
    out[static_cast<std::size_t>(to)] = ranks.pool().take(0);
    out[static_cast<std::size_t>(to)].append(body.data(), std::ssize(body));
  }
  return out;
}

TEST(Transport, BringsEveryMessageToItsRank)
{
  for (int const n : all_rank_counts) {
    run_ranks(n, [n](transport& ranks) {
      ASSERT_EQ(ranks.size(), n);
      for (int round = 0; round < 20; ++round) {
        std::string const text(static_cast<std::size_t>(round * 97), 'x');
        auto out = texts_to_all(ranks, text);
        auto const in = ranks.all_to_all("texts", out);
        for (int from = 0; from < n; ++from) {
          EXPECT_EQ(text_of(in[static_cast<std::size_t>(from)]),
                    text + std::to_string(from) + ">" + std::to_string(ranks.rank()));
        }
      }
    });
  }
}

TEST(Transport, KeepsCallsApartThatAreUnderWayTogetherAndComeInAnyOrder)
{
  run_ranks(
      4,
      [](transport& ranks) {
        for (int round = 0; round < 30; ++round) {
          auto first = texts_to_all(ranks, "a"), second = texts_to_all(ranks, "b");
          auto const one = ranks.begin("one", first), two = ranks.begin("two", second);
          auto const later = ranks.finish(two);
          auto const earlier = ranks.finish(one);
          for (int from = 0; from < 4; ++from) {
            EXPECT_EQ(text_of(later[static_cast<std::size_t>(from)]).front(), 'b');
            EXPECT_EQ(text_of(earlier[static_cast<std::size_t>(from)]).front(), 'a');
          }
        }
      },
      transport::seconds(20), restless(5));
}

TEST(Transport, ReducesAndGathersAndBroadcasts)
{
  for (int const n : all_rank_counts) {
    run_ranks(
        n,
        [n](transport& ranks) {
          std::int64_t const mine = ranks.rank() * 10 + 1;
          EXPECT_EQ(ranks.all_reduce("sum", mine, reduction::sum), n * (n - 1) / 2 * 10 + n);
          EXPECT_EQ(ranks.all_reduce("min", mine, reduction::min), 1);
          EXPECT_EQ(ranks.all_reduce("max", mine, reduction::max), (n - 1) * 10 + 1);
          auto const all = ranks.all_gather("names", std::string(static_cast<std::size_t>(ranks.rank()), 'r'));
          for (int from = 0; from < n; ++from) {
            EXPECT_EQ(all[static_cast<std::size_t>(from)].size(), static_cast<std::size_t>(from));
          }
          for (int root = 0; root < n; ++root) {
            EXPECT_EQ(ranks.broadcast("word", ranks.rank() == root ? "yes" : "", root), "yes");
          }
        },
        transport::seconds(20), restless(static_cast<std::uint64_t>(n)));
  }
}

TEST(Transport, ASumThatDoesNotFitIsRefused)
{
  EXPECT_NE(failure_of(2,
                       [](transport& ranks) {
                         (void)ranks.all_reduce("steps", std::int64_t{1} << 62, reduction::sum);
                         (void)ranks.all_reduce("steps", std::int64_t{1} << 62, reduction::sum);
                         std::int64_t const most = std::int64_t{0x7fffffffffffffff};
                         (void)ranks.all_reduce("steps", most, reduction::sum);
                       }),
            "");
}

TEST(Transport, CountsWhatItSends)
{
  run_ranks(3, [](transport& ranks) {
    std::vector<message> out(3);
    for (message& m : out) {
      m = ranks.pool().take(100);
      m.set_size(100);
    }
    (void)ranks.all_to_all("bytes", out);
    EXPECT_EQ(ranks.report().sent_bytes, 200);
    EXPECT_EQ(ranks.report().num_calls, 1);
  });
}

TEST(Transport, ARankThatFailsIsNamedToAll)
{
  for (int const n : {2, 3, 7}) {
    std::atomic<int> told{0};
    std::string const said = failure_of(n, [&](transport& ranks) {
      if (ranks.rank() == 1) {
        ranks.barrier("start");
        throw io_error("walks.npy: no space left");
      }
      try {
        ranks.barrier("start");
        ranks.barrier("end");
      } catch (rank_error const& e) {
        EXPECT_EQ(e.rank(), 1);
        EXPECT_EQ(std::string(e.what()), "rank 1 of " + std::to_string(n) + ": walks.npy: no space left");
        ++told;
        throw;
      }
    });
    EXPECT_EQ(said, "walks.npy: no space left");
    EXPECT_EQ(told, n - 1);
  }
}

TEST(Transport, AllRanksLearnWhetherAnArgumentWasWrong)
{
  for (bool const of_argument : {false, true}) {
    for (bool const refuses : {false, true}) {
      std::atomic<int> told{0};
      (void)failure_of(3, [&](transport& ranks) {
        auto const fail = [&] { of_argument ? throw argument_error("wrong") : throw io_error("no file"); };
        try {
          ranks.or_fail([&] {
            if (ranks.rank() == 1) { refuses ? ranks.or_refuse(fail) : fail(); }
            ranks.barrier("the call");
          });
        } catch (rank_error const& e) {
          EXPECT_EQ(e.rank(), 1);
          EXPECT_EQ(e.of_argument(), of_argument);
          ++told;
          throw;
        }
      });
      EXPECT_EQ(told, 2);
    }
  }
}

TEST(Transport, TheRankThatAnotherBlamesIsNamedToAll)
{
  std::atomic<int> told{0};
  std::string const said = failure_of(3, [&](transport& ranks) {
    if (ranks.rank() == 0) { throw rank_error(2, "rank 2 of 3: the graph is another one"); }
    try {
      ranks.barrier("end");
    } catch (rank_error const& e) {
      EXPECT_EQ(e.rank(), 2);
      EXPECT_EQ(std::string(e.what()), "rank 2 of 3: the graph is another one");
      ++told;
      throw;
    }
  });
  EXPECT_EQ(said, "rank 2 of 3: the graph is another one");
  EXPECT_EQ(told, 2);
}

TEST(Transport, OneRankSpeaksWhereAllFail)
{
  std::atomic<int> speakers{0};
  run_ranks(4, [&](transport& ranks) { speakers += ranks.speaks("the same everywhere") ? 1 : 0; });
  EXPECT_EQ(speakers, 1);
}

TEST(Transport, ARefusedCallEndsAloneOnAllRanks)
{
  for (int const n : all_rank_counts) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      run_ranks(
          n,
          [&](transport& ranks) {
            for (int bad = 0; bad < n; ++bad) {
              expect_refusal(ranks, bad, "too many", [&] {
                std::int64_t const mine = ranks.or_refuse([&] {
                  if (ranks.rank() == bad) { throw argument_error("too many"); }
                  return 1;
                });
                (void)ranks.all_reduce("sum", mine, reduction::sum);
              });
              EXPECT_EQ(ranks.all_reduce("sum", 1, reduction::sum), n);
            }
            EXPECT_FALSE(ranks.has_failed());
          },
          transport::usual_deadline, restless(seed));
    }
  }
}

TEST(Transport, RanksThatRefuseThrowTheirOwn)
{
  run_ranks(4, [](transport& ranks) {
    std::string said;
    try {
      ranks.or_refuse([&] {
        if (ranks.rank() % 2 == 1) { throw argument_error("wrong on " + std::to_string(ranks.rank())); }
      });
      ranks.barrier("all");
    } catch (error const& e) {
      said = e.what();
    }
    EXPECT_EQ(said, ranks.rank() == 3 ? "wrong on 3" : ranks.rank() == 1 ? "wrong on 1" : "rank 1 of 4: wrong on 1");
    ranks.barrier("next");
  });
}

TEST(Transport, TheRankThatRefusesSpeaksWhereNobodyCatches)
{
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(failure_of(3,
                         [](transport& ranks) {
                           ranks.or_fail([&] {
                             ranks.or_refuse([&] {
                               if (ranks.rank() == 2) { throw argument_error("too many"); }
                             });
                             ranks.barrier("all");
                           });
                         }),
              "too many");
  }
}

TEST(Transport, WorkThatFailsIsToldAtOnce)
{
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(failure_of(
                  3,
                  [](transport& ranks) {
                    expect_refusal(ranks, 1, "no start", [&] {
                      ranks.or_fail([&] {
                        ranks.barrier("first");
                        if (ranks.rank() == 1) { throw argument_error("no start"); }
                        ranks.barrier("second");
                      });
                    });
                    EXPECT_THROW(ranks.barrier("next"), rank_error);
                  },
                  300),
              "");
    EXPECT_EQ(failure_of(3,
                         [](transport& ranks) {
                           ranks.or_fail([&] {
                             if (ranks.rank() == 1) { throw io_error("no space left"); }
                             ranks.barrier("second");
                           });
                         }),
              "no space left");
  }
}

TEST(Transport, ASilentRankIsNamedAfterTheDeadline)
{
  std::atomic<bool> over{false};
  std::string const said = failure_of(
      3,
      [&](transport& ranks) {
        if (ranks.rank() == 2) {
          while (!over) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }
          return;
        }
        try {
          ranks.barrier("superstep");
        } catch (rank_error const& e) {
          EXPECT_EQ(e.rank(), 2);
          over = true;
          throw;
        }
      },
      2);
  EXPECT_NE(said.find("rank 2 of 3: nothing was heard of it for"), std::string::npos) << said;
  EXPECT_NE(said.find("'superstep'"), std::string::npos) << said;
}

TEST(Transport, ABusyRankThatBeatsIsWaitedFor)
{
  EXPECT_EQ(failure_of(
                2,
                [](transport& ranks) {
                  if (ranks.rank() == 1) {
                    for (int i = 0; i < 50; ++i) {
                      std::this_thread::sleep_for(std::chrono::milliseconds(50));
                      ranks.beat();
                    }
                  }
                  ranks.barrier("end");
                },
                2),
            "");
}

/// Where the same is done without beats, ASilentRankIsNamedAfterTheDeadline.
TEST(Transport, ARankIsWaitedForDuringWorkOfMoreThanTheDeadline)
{
  EXPECT_EQ(failure_of(
                2,
                [](transport& ranks) {
                  if (ranks.rank() == 1) {
                    ranks.beat_during([] { std::this_thread::sleep_for(std::chrono::seconds(5)); });
                  }
                  ranks.barrier("end");
                },
                2),
            "");
}

TEST(Transport, ARankIsWaitedForUntilWorkThatWasBegunIsDone)
{
  EXPECT_EQ(failure_of(
                2,
                [](transport& ranks) {
                  if (ranks.rank() == 1) {
                    auto done =
                        std::async(std::launch::async, [] { std::this_thread::sleep_for(std::chrono::seconds(5)); });
                    ranks.beat_until(done);
                    EXPECT_FALSE(done.valid());
                  }
                  ranks.barrier("end");
                },
                2),
            "");
}

TEST(Transport, WorkAsideThrowsItsOwnAndHearsOfOthers)
{
  std::string const own = failure_of(2, [](transport& ranks) {
    if (ranks.rank() == 1) {
      ranks.beat_during([] { throw io_error("no space left"); });
    }
    ranks.barrier("end");
  });
  EXPECT_NE(own.find("no space left"), std::string::npos) << own;
  std::atomic<bool> has_ended{false};
  std::string const other = failure_of(2, [&](transport& ranks) {
    if (ranks.rank() == 0) { throw io_error("no folder"); }
    try {
      ranks.beat_during([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        has_ended = true;
      });
    } catch (rank_error const& e) {
      EXPECT_EQ(e.rank(), 0);
      EXPECT_TRUE(has_ended) << "what the work refers to is gone";
      throw;
    }
  });
  EXPECT_NE(other.find("no folder"), std::string::npos) << other;
}

TEST(Transport, ARankThatWasAwayBlamesNobody)
{
  std::atomic<bool> was_away{false};
  EXPECT_EQ(failure_of(
                2,
                [&](transport& ranks) {
                  if (ranks.rank() == 1) {
                    while (!was_away) {
                      std::this_thread::sleep_for(std::chrono::milliseconds(5));
                      ranks.beat();
                    }
                  } else {
                    ranks.on_wait = [&] {
                      if (!was_away) { std::this_thread::sleep_for(std::chrono::seconds(3)); }
                      was_away = true;
                    };
                  }
                  ranks.barrier("end");
                },
                2),
            "");
}

TEST(Transport, ARankThatHasLeftIsNamed)
{
  std::string const said = failure_of(3, [](transport& ranks) {
    ranks.barrier("first");
    if (ranks.rank() != 1) { ranks.barrier("second"); }
  });
  EXPECT_NE(said.find("rank 1 of 3 has ended after 1 calls, while rank "), std::string::npos) << said;
  EXPECT_NE(said.find(" waits for it in 'second'"), std::string::npos) << said;
}

TEST(Transport, ARankThatCallsSomethingElseIsNamed)
{
  std::string const said =
      failure_of(2, [](transport& ranks) { ranks.barrier(ranks.rank() == 0 ? "walks" : "trees"); });
  // Whichever notices first speaks.
  EXPECT_TRUE(said.starts_with("rank 1 of 2 calls 'trees' where rank 0 calls 'walks'") ||
              said.starts_with("rank 0 of 2 calls 'walks' where rank 1 calls 'trees'"))
      << said;
}

TEST(Transport, LateMessagesOfARankThatHasLeftStillCount)
{
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    run_ranks(
        3, [](transport& ranks) { ranks.barrier("only"); }, transport::seconds(10),
        restless(seed, std::chrono::microseconds(20000)));
  }
}

}  // namespace
}  // namespace tendril::test
