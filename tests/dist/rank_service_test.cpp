// Ranks that answer each other at any time: unequally many questions, from several threads, from a rank that does nothing
// else; and what they say when one fails, falls silent or offers something else.

#include <tendril/rank_service.hpp>

#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/sharded_features.hpp>
#include <tendril/sharded_minibatch.hpp>
#include <tendril/tcp.hpp>

#include "cpu/batches/minibatch_verifier.hpp"
#include "dist/partition_support.hpp"
#include "dist/ranks.hpp"
#include "dist/restless_engine.hpp"
#include "support/karate.hpp"
#include "support/sanitized.hpp"
#include "support/small_hetero.hpp"

namespace tendril::test {
namespace {

using seconds = std::chrono::duration<double>;

/// What each rank's work threw, "" for nothing. Ranks are threads that talk over TCP.
/// @param wrap  May put an engine around each rank's.
std::vector<std::string> run_services(int num_ranks, std::function<void(rank_service&)> const& work,
                                      seconds deadline = seconds(30), engine_wrapper const& wrap = {})
{
  std::vector<tcp_listener> listeners;
  std::vector<std::string> addresses;
  for (int r = 0; r < num_ranks; ++r) { addresses.push_back(listeners.emplace_back("127.0.0.1").address()); }
  std::vector<std::string> thrown(static_cast<std::size_t>(num_ranks));
  std::vector<std::thread> threads;
  for (int r = 0; r < num_ranks; ++r) {
    threads.emplace_back([&, r] {
      auto engine = listeners[static_cast<std::size_t>(r)].connect(r, addresses, "secret", seconds(20));
      if (wrap) { engine = wrap(std::move(engine)); }
      rank_service ranks(std::move(engine), deadline);
      try {
        work(ranks);
      } catch (std::exception const& e) {
        thrown[static_cast<std::size_t>(r)] = e.what();
        ranks.fail(e.what());
      }
    });
  }
  for (std::thread& t : threads) { t.join(); }
  return thrown;
}

message text(rank_service& ranks, std::string const& content)
{
  message out = ranks.pool().take(std::ssize(content));
  out.append(content.data(), std::ssize(content));
  return out;
}

char const* const says = "says";

/// A service that puts a word before each question.
int offer_echo(rank_service& ranks, std::string const& description = "echo")
{
  return ranks.offer(description, std::span(&says, 1), [&ranks](message const& asked, message_pool&) {
    return text(ranks, std::to_string(ranks.rank()) + " heard " + text_of(asked));
  });
}

std::string ask(rank_service& ranks, int service, int to, std::string const& question)
{
  std::vector<message> questions(static_cast<std::size_t>(ranks.size()));
  questions[static_cast<std::size_t>(to)] = text(ranks, question);
  return text_of(ranks.wait(ranks.ask(service, questions))[static_cast<std::size_t>(to)]);
}

TEST(RankService, RanksAskUnequallyOftenAndFromSeveralThreads)
{
  auto const thrown = run_services(3, [](rank_service& ranks) {
    int const echo = offer_echo(ranks);
    if (ranks.rank() == 2) { return; }  // goes on answering
    std::vector<std::thread> askers;
    for (int t = 0; t < 3; ++t) {
      askers.emplace_back([&, t] {
        for (int i = 0; i < 100 * (ranks.rank() + 1); ++i) {
          int const to = (ranks.rank() + 1 + i % 2) % 3;
          std::string const word = std::to_string(t) + "-" + std::to_string(i);
          EXPECT_EQ(ask(ranks, echo, to, word), std::to_string(to) + " heard " + word);
        }
      });
    }
    for (std::thread& t : askers) { t.join(); }
  });
  EXPECT_EQ(thrown, std::vector<std::string>(3));
}

/// What three threads of each rank hear, who ask the other ranks in turn, rank r 20 r + 20 times a thread.
std::vector<std::vector<std::string>> heard_by(int num_ranks, engine_wrapper const& wrap)
{
  std::vector<std::vector<std::string>> heard(static_cast<std::size_t>(3 * num_ranks));
  auto const thrown = run_services(
      num_ranks,
      [&](rank_service& ranks) {
        int const echo = offer_echo(ranks);
        std::vector<std::thread> askers;
        for (int t = 0; t < 3; ++t) {
          askers.emplace_back([&, t] {
            auto& mine = heard[static_cast<std::size_t>(3 * ranks.rank() + t)];
            for (int i = 0; i < 20 * (ranks.rank() + 1); ++i) {
              int const to = (ranks.rank() + 1 + i % (num_ranks - 1)) % num_ranks;
              std::string const long_tail(static_cast<std::size_t>(i * 977 % 5000), 'x');
              mine.push_back(ask(ranks, echo, to, std::to_string(t) + "-" + std::to_string(i) + long_tail));
            }
          });
        }
        for (std::thread& t : askers) { t.join(); }
      },
      seconds(30), wrap);
  EXPECT_EQ(thrown, std::vector<std::string>(static_cast<std::size_t>(num_ranks)));
  return heard;
}

TEST(RankService, DelaysAndOrderOfMessagesChangeNothing)
{
  for (int const n : {2, 3, 4}) {
    auto const expected = heard_by(n, {});
    ASSERT_EQ(expected.back().size(), static_cast<std::size_t>(20 * n));
    for (std::uint64_t seed = 0; seed < unless_sanitized(4U, 1U); ++seed) {
      EXPECT_EQ(heard_by(n, restless(seed)), expected) << n << " ranks, seed " << seed;
    }
  }
}

TEST(RankService, AFarewellMayComeBeforeAnOffer)
{
  for (int const n : {2, 3, 4}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      auto const thrown = run_services(
          n, [](rank_service& ranks) { (void)offer_echo(ranks); }, seconds(30),
          restless(seed, std::chrono::microseconds(20000)));
      EXPECT_EQ(thrown, std::vector<std::string>(static_cast<std::size_t>(n))) << n << " ranks, seed " << seed;
    }
  }
}

TEST(RankService, AWithdrawalMayComeBeforeAQuestion)
{
  for (int const n : {2, 3, 4}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      std::atomic<int> answered{0};
      auto const thrown = run_services(
          n,
          [&](rank_service& ranks) {
            int const echo = ranks.offer("echo", std::span(&says, 1), [&](message const& asked, message_pool&) {
              ++answered;
              return text(ranks, text_of(asked));
            });
            std::vector<message> questions(static_cast<std::size_t>(n));
            for (message& question : questions) { question = text(ranks, "x"); }
            (void)ranks.ask(echo, questions);  // whose answers are not waited for, as after a wait that was cancelled
            ranks.withdraw(echo);
            int const next = offer_echo(ranks);
            int const other = (ranks.rank() + 1) % n;
            EXPECT_EQ(ask(ranks, next, other, "x"), std::to_string(other) + " heard x");
            while (answered < n * (n - 1)) { (void)ask(ranks, next, other, "y"); }  // which throws where a rank fails
          },
          seconds(30), restless(seed, std::chrono::microseconds(20000)));
      EXPECT_EQ(thrown, std::vector<std::string>(static_cast<std::size_t>(n))) << n << " ranks, seed " << seed;
      EXPECT_EQ(answered, n * (n - 1));
    }
  }
}

TEST(RankService, LargeAnswersComeWhole)
{
  std::int64_t const size = unless_sanitized(20 << 20, 2 << 20);
  auto const thrown = run_services(2, [&](rank_service& ranks) {
    int const many = ranks.offer("many", std::span(&says, 1), [&](message const&, message_pool& pool) {
      message out = pool.take(size);
      out.set_size(size);
      std::memset(static_cast<void*>(out.data()), 'a' + ranks.rank(), static_cast<std::size_t>(size));
      return out;
    });
    int const other = 1 - ranks.rank();
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(ask(ranks, many, other, "x"),
                std::string(static_cast<std::size_t>(size), static_cast<char>('a' + other)));
    }
    EXPECT_GE(ranks.sent_bytes(), 0);
  });
  EXPECT_EQ(thrown, std::vector<std::string>(2));
}

TEST(RankService, AnotherDescriptionIsNamed)
{
  auto const thrown = run_services(
      3, [](rank_service& ranks) { (void)offer_echo(ranks, ranks.rank() == 1 ? "other words" : "these words"); });
  for (auto const& said : thrown) { EXPECT_EQ(said, "rank 1 of 3 says other words, expected as rank 0: these words"); }
}

TEST(RankService, WordsThatNameARankAreToldAsTheyAre)
{
  // Whoever sees that ranks differ may tell the others before they see it themselves.
  auto const thrown = run_services(3, [](rank_service& ranks) {
    int const echo = offer_echo(ranks);
    if (ranks.rank() == 2) { throw rank_error(1, "rank 1 of 3 says other words"); }
    for (;;) { (void)ask(ranks, echo, 2, "x"); }
  });
  for (auto const& said : thrown) { EXPECT_EQ(said, "rank 1 of 3 says other words"); }
}

TEST(RankService, ARankThatFailsIsNamedByAll)
{
  auto const thrown = run_services(3, [](rank_service& ranks) {
    int const echo = offer_echo(ranks);
    if (ranks.rank() == 1) { throw io_error("no space left"); }
    for (;;) { (void)ask(ranks, echo, 1, "x"); }
  });
  EXPECT_EQ(thrown[0], "rank 1 of 3: no space left");
  EXPECT_EQ(thrown[1], "no space left");
  EXPECT_EQ(thrown[2], "rank 1 of 3: no space left");
}

TEST(RankService, AHandlerThatFailsIsNamedByAll)
{
  auto const thrown = run_services(2, [](rank_service& ranks) {
    int const service = ranks.offer("x", std::span(&says, 1), [&](message const&, message_pool&) -> message {
      throw io_error("the disk is gone");
    });
    if (ranks.rank() == 0) { (void)ask(ranks, service, 1, "x"); }
    for (;;) {
      std::vector<message> questions(2);
      questions[static_cast<std::size_t>(1 - ranks.rank())] = text(ranks, "y");
      (void)ranks.wait(ranks.ask(service, questions));
    }
  });
  for (auto const& said : thrown) { EXPECT_NE(said.find("the disk is gone"), std::string::npos) << said; }
}

TEST(RankService, ARankThatClosedIsNotWaitedForInACallOfAll)
{
  auto const thrown = run_services(2, [](rank_service& ranks) {
    if (ranks.rank() == 0) { (void)offer_echo(ranks); }
  });
  EXPECT_EQ(thrown[0], "rank 1 of 2 has closed, while rank 0 begins a call of all");
}

TEST(RankService, AWaitCanBeCancelled)
{
  std::atomic<bool> go_on{false};
  auto const thrown = run_services(2, [&](rank_service& ranks) {
    int const slow = ranks.offer("slow", std::span(&says, 1), [&](message const&, message_pool&) {
      while (!go_on) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
      return text(ranks, "late");
    });
    if (ranks.rank() == 1) { return; }
    std::vector<message> questions(2);
    questions[1] = text(ranks, "x");
    auto const ticket = ranks.ask(slow, questions);
    int looks = 0;
    EXPECT_THROW((void)ranks.wait(ticket,
                                  [&] {
                                    if (++looks == 3) { throw io_error("interrupted"); }
                                  }),
                 io_error);
    go_on = true;
    EXPECT_EQ(text_of(ranks.wait(ticket)[1]), "late");
  });
  EXPECT_EQ(thrown, std::vector<std::string>(2));
}

TEST(RankService, ACloseCanBeCancelledAndThenFails)
{
  std::atomic<bool> told{false};
  auto const thrown = run_services(2, [&](rank_service& ranks) {
    int const echo = offer_echo(ranks);
    if (ranks.rank() == 0) {
      int looks = 0;
      EXPECT_THROW(ranks.close([&] {
        if (++looks == 2) { throw io_error("interrupted"); }
      }),
                   io_error);
      EXPECT_THROW((void)ask(ranks, echo, 1, "x"), argument_error);  // it is closed all the same
      told = true;
      ranks.fail("interrupted");
      ranks.close();
      return;
    }
    while (!told) { EXPECT_EQ(ask(ranks, echo, 0, "x"), "0 heard x"); }
    for (;;) { (void)ask(ranks, echo, 0, "x"); }
  });
  EXPECT_EQ(thrown[1], "rank 0 of 2: interrupted");
}

TEST(RankService, HandlersLiveUntilEveryRankHasWithdrawn)
{
  auto const alive = std::make_shared<int>(1);
  std::atomic<int> withdrawn{0};
  auto const thrown = run_services(2, [&](rank_service& ranks) {
    int const service =
        ranks.offer("x", std::span(&says, 1), [&, alive](message const&, message_pool&) { return text(ranks, "y"); });
    if (ranks.rank() == 0) {
      ranks.withdraw(service);
      ++withdrawn;
      while (withdrawn < 2) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
    } else {
      while (withdrawn < 1) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
      EXPECT_EQ(ask(ranks, service, 0, "x"), "y");  // which withdrew
      ranks.withdraw(service);
      ++withdrawn;
    }
    int const next = offer_echo(ranks);
    EXPECT_EQ(ask(ranks, next, 1 - ranks.rank(), "x"), std::to_string(1 - ranks.rank()) + " heard x");
    EXPECT_EQ(alive.use_count(), 1) << "both handlers are gone";
  });
  EXPECT_EQ(thrown, std::vector<std::string>(2));
}

/// What each rank gathers from ranks that share [1000, 3] floats, before and while it keeps some of them.
std::vector<std::vector<std::byte>> gathered_alone(int num_ranks, feature_table const& whole,
                                                   engine_wrapper const& wrap)
{
  std::int64_t const num_rows = whole.num_rows();
  std::vector<std::vector<std::byte>> out(static_cast<std::size_t>(num_ranks));
  std::vector<std::int64_t> const bounds = uneven_bounds(num_rows, num_ranks);
  auto const thrown = run_services(
      num_ranks,
      [&](rank_service& ranks) {
        auto const r = static_cast<std::size_t>(ranks.rank());
        sharded_features rows(slice_rows(whole, bounds[r], bounds[r + 1] - bounds[r]), bounds, ranks,
                              {.num_threads = 1});
        for (int call = 0; call < 4 * (ranks.rank() + 1); ++call) {
          if (call == 2) { rows.keep(std::vector<std::int64_t>{0, num_rows / 2, num_rows - 1}); }
          std::vector<std::int64_t> ids;
          for (std::int64_t i = 0; i < 500; ++i) { ids.push_back((i * 7919 + call * 31 + ranks.rank()) % num_rows); }
          std::vector<std::byte> got(ids.size() * static_cast<std::size_t>(whole.row_bytes())), right(got.size());
          rows.gather(ids, got);
          gather(whole, ids, right);
          EXPECT_EQ(got, right);
          out[r].insert(out[r].end(), got.begin(), got.end());
        }
      },
      seconds(30), wrap);
  EXPECT_EQ(thrown, std::vector<std::string>(static_cast<std::size_t>(num_ranks)));
  return out;
}

TEST(RankService, DelaysAndOrderOfMessagesChangeNoFeatures)
{
  std::vector<std::byte> bytes(std::size_t{1000} * 12);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>((i / 12 * 31 + i % 12 * 7) % 251);
  }
  feature_table const whole(bytes, {"float32", {1000, 3}});
  for (int const n : {2, 3, 4}) {
    auto const expected = gathered_alone(n, whole, {});
    for (std::uint64_t seed = 0; seed < unless_sanitized(4U, 1U); ++seed) {
      EXPECT_EQ(gathered_alone(n, whole, restless(seed)), expected) << n << " ranks, seed " << seed;
    }
  }
}

TEST(RankService, BatchesAndFeaturesComeWheneverARankAsks)
{
  graph const g = make_zoo(6);
  std::vector<std::byte> rows(64 * 12);
  for (std::size_t i = 0; i < rows.size(); ++i) { rows[i] = static_cast<std::byte>(i * 7 % 251); }
  feature_table const whole(rows, {"float32", {64, 3}});
  std::vector<minibatch_params> ways;
  for (minibatch_params const& params : every_way(true, false, {4, 3})) {
    if (params.seed % 7 == 0) { ways.push_back(params); }
  }
  for (minibatch_params const& params : ways) {
    minibatch_sampler expected(hetero_graph(g), params, {.num_threads = 1});
    std::mutex one_at_a_time;
    auto const thrown = run_services(3, [&](rank_service& ranks) {
      graph_part const part = part_of(g, {.num_parts = 3}, ranks.rank());
      sharded_minibatch_sampler sampler(part, params, ranks, {.num_threads = 1});
      sharded_features features(rows_of_part(whole, part), part.info.bounds, ranks, {.num_threads = 1});
      for (int call = 0; call < 2 * ranks.rank(); ++call) {
        auto const seeds = random_roots(g, 40);
        auto const number = static_cast<std::uint64_t>(call);
        auto const made = sampler.sample_batches(seeds, 9, {number, 3});
        {
          std::lock_guard const lock(one_at_a_time);
          auto const whole_ones = expected.sample_batches(0, seeds, 9, {number, 3});
          for (std::size_t b = 0; b < made.size(); ++b) {
            EXPECT_EQ(difference(lists_of(whole_ones[b]), lists_of(made[b])), "") << name_of(params);
          }
        }
        auto const& node = made[0].vertices[0].node;
        std::vector<std::int64_t> const ids(node.begin(), node.end());
        std::vector<std::byte> got(ids.size() * 12), right(got.size());
        features.gather(ids, got);
        gather(whole, ids, right);
        EXPECT_EQ(got, right);
      }
    });
    EXPECT_EQ(thrown, std::vector<std::string>(3)) << name_of(params);
  }
}

}  // namespace
}  // namespace tendril::test
