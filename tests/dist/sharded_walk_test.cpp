#include <tendril/sharded_walk.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/generate.hpp>
#include <tendril/walk_parts.hpp>

#include "dist/failure_of.hpp"
#include "dist/partition_support.hpp"
#include "dist/ranks.hpp"
#include "dist/refusal.hpp"
#include "dist/restless_engine.hpp"
#include "support/graph_forms.hpp"
#include "support/karate.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"
#include "support/walk_rows.hpp"

namespace tendril::test {
namespace {

/// All walks of a job, each rank asking for a part of them.
rows walk_on_ranks(graph const& g, int num_ranks, walk_params const& params, std::vector<vertex_id> const& starts,
                   std::int64_t first_walk, ranks_options const& options = {})
{
  std::size_t const width = static_cast<std::size_t>(params.length) + 1;
  rows out{std::vector<vertex_id>(starts.size() * width), std::vector<std::int32_t>(starts.size())};
  auto const work = [&](transport& ranks) {
    graph_part part = part_of(g, {.num_parts = num_ranks, .method = options.method}, ranks.rank());
    cpu_exec exec;
    exec.num_threads = options.threads;
    sharded_walker walk(std::move(part), params, std::ssize(starts), ranks, exec);
    walk_range const mine = walks_of({ranks.rank(), num_ranks}, std::ssize(starts));
    walk_stream_job job;
    job.num_walks = mine.size;
    job.first_walk = first_walk + mine.first;
    job.batch_bytes = options.batch_bytes;
    job.starts = [&](std::int64_t first, std::span<vertex_id> into) {
      std::copy_n(starts.begin() + mine.first + first, into.size(), into.begin());
    };
    std::int64_t next = 0;
    job.sink = [&](walk_rows const& r) {
      EXPECT_EQ(r.first, next) << "batches come in order";
      next += std::ssize(r.lengths);
      std::copy(r.vertices.begin(), r.vertices.end(),
                out.vertices.begin() + static_cast<std::ptrdiff_t>(width) * (mine.first + r.first));
      std::copy(r.lengths.begin(), r.lengths.end(), out.lengths.begin() + mine.first + r.first);
    };
    sharded_walk_report const report = walk.stream(job, exec);
    EXPECT_EQ(next, mine.size);
    EXPECT_LE(report.moved_bytes, 16 * report.moved);
    std::int64_t const here = ranks.all_reduce("steps here", report.steps_here, reduction::sum);
    EXPECT_EQ(here, ranks.all_reduce("steps", report.steps, reduction::sum));
    if (num_ranks == 1) { EXPECT_EQ(report.sent_bytes, 0); }
  };
  std::function<std::unique_ptr<message_engine>(std::unique_ptr<message_engine>)> wrap;
  if (options.restless) { wrap = restless(7); }
  run_ranks(num_ranks, work, transport::seconds(60), wrap);
  return out;
}

std::vector<vertex_id> starts_of(graph const& g, int times)
{
  std::vector<vertex_id> out;
  for (int k = 0; k < times; ++k) {
    for (vertex_id v = 0; v < g.num_vertices(); ++v) { out.push_back(v); }
  }
  return out;
}

TEST(ShardedWalk, EveryApplicationEqualsThatOnTheWholeGraph)
{
  graph const g = make_zoo(3);
  auto const starts = starts_of(g, 1);
  for (auto const& app : all_applications(23)) {
    rows const whole = rows_of(random_walk(g, starts, app.params, {}, 1000));
    for (int const n : rank_counts()) {
      EXPECT_EQ(walk_on_ranks(g, n, app.params, starts, 1000), whole) << app.name << " on " << n << " ranks";
    }
  }
}

TEST(ShardedWalk, CompressedPartsChangeNothing)
{
  graph const g = make_zoo(3);
  auto const starts = starts_of(g, 1);
  for (auto const& app : all_applications(23)) {
    rows const whole = rows_of(random_walk(g, starts, app.params, {}, 1000));
    for (graph const& parts : in_compressed_forms(g)) {
      EXPECT_EQ(walk_on_ranks(parts, 3, app.params, starts, 1000), whole) << app.name << " " << to_string(parts.form());
    }
  }
}

TEST(ShardedWalk, DelaysAndOrderOfMessagesChangeNothing)
{
  graph const g = make_zoo(4);
  auto const starts = starts_of(g, 1);
  for (auto const& app : all_applications(5)) {
    rows const whole = rows_of(random_walk(g, starts, app.params));
    EXPECT_EQ(walk_on_ranks(g, 3, app.params, starts, 0, {.restless = true}), whole) << app.name;
  }
}

TEST(ShardedWalk, BatchesThreadsAndMethodsChangeNothing)
{
  graph const g = random_graph(11);
  auto const starts = starts_of(g, 4);
  walk_params deepwalk{.length = 31};
  walk_params node2vec{.length = 17, .weighted = true, .p = 0.25, .q = 4};
  for (walk_params const& params : {deepwalk, node2vec}) {
    rows const whole = rows_of(random_walk(g, starts, params));
    for (auto const method : {partition_method::range, partition_method::degree}) {
      for (int const threads : {1, 3}) {
        for (std::int64_t const bytes : {2000L, 20000L, 0L}) {
          EXPECT_EQ(
              walk_on_ranks(g, 3, params, starts, 0, {.method = method, .threads = threads, .batch_bytes = bytes}),
              whole);
        }
      }
    }
  }
}

TEST(ShardedWalk, MorePartsThanVertices)
{
  graph const g = make_star({1, 2, 0, 5});
  auto const starts = starts_of(g, 4);
  for (walk_params const& params : {walk_params{.length = 5}, walk_params{.length = 5, .weighted = true, .p = 3},
                                    walk_params{.length = 5, .restart_prob = 0.5, .dead_ends = dead_end::repeat}}) {
    EXPECT_EQ(walk_on_ranks(g, 7, params, starts, 0), rows_of(random_walk(g, starts, params)));
  }
}

TEST(ShardedWalk, RanksMayAskForAnyNumberOfWalksFromAnywhere)
{
  graph const g = make_karate();
  walk_params const params{.length = 12, .restart_prob = 0.3, .p = 2, .q = 0.5};
  std::mutex lock;
  run_ranks(4, [&](transport& ranks) {
    sharded_walker walk(part_of(g, {.num_parts = 4}, ranks.rank()), params, 100, ranks);
    // Rank 0 asks for none, rank 3 for 300, all from vertices at the end of the graph.
    std::vector<vertex_id> const starts(static_cast<std::size_t>(ranks.rank() * 100), 33);
    rows const mine = rows_of(walk.run(starts, 7 + ranks.rank()));
    std::lock_guard const locked(lock);
    EXPECT_EQ(mine, rows_of(random_walk(g, starts, params, {}, 7 + ranks.rank())));
  });
}

TEST(ShardedWalk, WeightsOfAFewEdgesChooseTheSameRuleEverywhere)
{
  // All the weight that makes the rule alias lies with one rank.
  std::vector<test_edge> edges;
  for (vertex_id v = 0; v < 100; ++v) {
    for (vertex_id k = 1; k <= 10; ++k) { edges.push_back({v, (v + k) % 100, v < 10 && k == 1 ? 1e6F : 1.0F, 0}); }
  }
  graph const g = make_graph(100, edges);
  walk_params const params{.length = 40, .weighted = true};
  auto const starts = starts_of(g, 5);
  run_ranks(4, [&](transport& ranks) {
    sharded_walker const walk(part_of(g, {.num_parts = 4}, ranks.rank()), params, 500, ranks);
    EXPECT_EQ(walk.plan().rule, plan_walk(g, params, 500).rule);
  });
  EXPECT_EQ(walk_on_ranks(g, 4, params, starts, 0), rows_of(random_walk(g, starts, params)));
}

TEST(ShardedWalk, OtherGraphsAndParametersAreNamed)
{
  graph const g = make_karate();
  std::string const other_seed = failure_of(3, [&](transport& ranks) {
    walk_params const params{.seed = ranks.rank() == 2 ? 1U : 0U};
    sharded_walker const walk(part_of(g, {.num_parts = 3}, ranks.rank()), params, 1, ranks);
  });
  EXPECT_NE(other_seed.find("rank 2 of 3 makes walks"), std::string::npos) << other_seed;
  std::string const other_graph = failure_of(2, [&](transport& ranks) {
    graph const mine = ranks.rank() == 1 ? make_zoo(1) : g;
    sharded_walker const walk(part_of(mine, {.num_parts = 2}, ranks.rank()), {}, 1, ranks);
  });
  EXPECT_NE(other_graph.find("rank 1 of 2 walks on graph"), std::string::npos) << other_graph;
  std::string const parts = failure_of(2, [&](transport& ranks) {
    sharded_walker const walk(part_of(g, {.num_parts = 3}, ranks.rank()), {}, 1, ranks);
  });
  EXPECT_EQ(parts, "the graph has 3 parts, expected one a rank: 2");
}

TEST(ShardedWalk, AStartBeyondTheGraphEndsAllRanks)
{
  graph const g = make_karate();
  std::string const said = failure_of(3, [&](transport& ranks) {
    sharded_walker walk(part_of(g, {.num_parts = 3}, ranks.rank()), {.length = 5}, 3, ranks);
    std::vector<vertex_id> const starts{ranks.rank() == 1 ? 34U : 0U};
    (void)walk.run(starts, 0);
  });
  EXPECT_EQ(said, "start 0: vertex 34 is out of range, the graph has 34 vertices");
}

TEST(ShardedWalk, WrongArgumentsEndTheCallAlone)
{
  graph const g = make_karate();
  for (walk_params const& params : {walk_params{.length = 5}, walk_params{.length = 5, .p = 2}}) {
    for (bool const is_restless : {false, true}) {
      auto const work = [&](transport& ranks) {
        sharded_walker walk(part_of(g, {.num_parts = 3}, ranks.rank()), params, 3, ranks);
        auto const run = [&](std::vector<vertex_id> const& starts, std::int64_t first) {
          return rows_of(walk.run(starts, first));
        };
        for (int bad = 0; bad < 3; ++bad) {
          bool const wrong = ranks.rank() == bad;
          expect_refusal(ranks, bad, "start 1: vertex 34 is out of range, the graph has 34 vertices", [&] {
            run({0, wrong ? 34U : 1U}, 0);
          });
          std::string const walks = " walks from id ", expected = " on, expected neither to be negative";
          expect_refusal(ranks, bad, "1" + walks + "-1" + expected, [&] { run({0}, wrong ? -1 : 0); });
          expect_refusal(ranks, bad, "-5" + walks + "0" + expected,
                         [&] { walk.stream({.num_walks = wrong ? -5 : 5, .starts = every_vertex(1)}); });
          std::vector<vertex_id> const starts{33, static_cast<vertex_id>(ranks.rank())};
          EXPECT_EQ(run(starts, bad), rows_of(random_walk(g, starts, params, {}, bad)));
        }
      };
      if (is_restless) {
        run_ranks(3, work, transport::usual_deadline, restless(3));
      } else {
        run_ranks(3, work);
      }
    }
  }
}

TEST(ShardedWalk, AWrongStartOfAStreamIsToldAtOnce)
{
  graph const g = make_karate();
  run_ranks(3, [&](transport& ranks) {
    sharded_walker walk(part_of(g, {.num_parts = 3}, ranks.rank()), {.length = 5}, 3, ranks);
    walk_stream_job job;
    job.num_walks = 1000;
    job.batch_bytes = 1000;
    job.starts = [&](std::int64_t first, std::span<vertex_id> into) {
      std::fill(into.begin(), into.end(), ranks.rank() == 1 && first > 500 ? 34U : 1U);
    };
    expect_refusal(ranks, 1, "start 504: vertex 34 is out of range, the graph has 34 vertices",
                   [&] { walk.stream(job); });
    EXPECT_THROW(ranks.barrier("next"), rank_error) << "a stream that has begun can't go on";
  });
}

TEST(ShardedWalk, ASinkThatFailsEndsAllRanks)
{
  graph const g = make_karate();
  std::string const said = failure_of(2, [&](transport& ranks) {
    sharded_walker walk(part_of(g, {.num_parts = 2}, ranks.rank()), {.length = 5}, 3, ranks);
    walk_stream_job job;
    job.num_walks = 1000;
    job.starts = every_vertex(100);
    job.sink = [&](walk_rows const&) {
      if (ranks.rank() == 1) { throw io_error("no space left"); }
    };
    job.batch_bytes = 1000;
    (void)walk.stream(job);
  });
  EXPECT_EQ(said, "no space left");
}

}  // namespace
}  // namespace tendril::test
