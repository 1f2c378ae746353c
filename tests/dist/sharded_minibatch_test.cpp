// Mini-batches of a graph in parts are those of the whole graph, for every way to sample, any number of ranks, and any split
// of the batches over them.

#include <tendril/sharded_minibatch.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/walk_parts.hpp>  // walks_of

#include "cpu/batches/minibatch_verifier.hpp"
#include "dist/failure_of.hpp"
#include "dist/partition_support.hpp"
#include "dist/ranks.hpp"
#include "dist/refusal.hpp"
#include "dist/restless_engine.hpp"
#include "support/graph_forms.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"
#include "support/small_hetero.hpp"

namespace tendril::test {
namespace {

/// `num_batches` batches of `size` seeds, of which each rank makes a range.
struct batch_job {
  std::vector<vertex_id> seeds;
  std::int64_t size;
  batch_numbers numbers{3, 2};

  [[nodiscard]] std::int64_t num_batches() const { return (std::ssize(seeds) + size - 1) / size; }
};

std::vector<batch_lists> batches_on_ranks(graph const& g, int num_ranks, minibatch_params const& params,
                                          batch_job const& job, ranks_options const& options = {})
{
  std::vector<batch_lists> out(static_cast<std::size_t>(job.num_batches()));
  auto const work = [&](transport& ranks) {
    graph_part part = part_of(g, {.num_parts = num_ranks, .method = options.method}, ranks.rank());
    sharded_minibatch_sampler sampler(std::move(part), params, ranks, {.num_threads = options.threads});
    walk_range const mine = walks_of({ranks.rank(), num_ranks}, job.num_batches());
    auto const begin = static_cast<std::size_t>(std::min(mine.first * job.size, std::ssize(job.seeds)));
    auto const end = static_cast<std::size_t>(std::min((mine.first + mine.size) * job.size, std::ssize(job.seeds)));
    auto const made = sampler.sample_batches(std::span(job.seeds).subspan(begin, end - begin), job.size,
                                             job.numbers.from(mine.first));
    ASSERT_EQ(std::ssize(made), mine.size);
    for (std::size_t b = 0; b < made.size(); ++b) { out[static_cast<std::size_t>(mine.first) + b] = lists_of(made[b]); }
    sharded_minibatch_report const& report = sampler.report();
    EXPECT_EQ(report.num_batches, mine.size);
    EXPECT_LE(report.asked_away, report.asked);
    if (num_ranks == 1) { EXPECT_EQ(report.sent_bytes, 0); }
  };
  std::function<std::unique_ptr<message_engine>(std::unique_ptr<message_engine>)> wrap;
  if (options.restless) { wrap = restless(7); }
  run_ranks(num_ranks, work, transport::seconds(60), wrap);
  return out;
}

std::vector<batch_lists> whole_batches(graph const& g, minibatch_params const& params, batch_job const& job)
{
  minibatch_sampler sampler(hetero_graph(g), params, {.num_threads = 1});
  std::vector<batch_lists> out;
  for (minibatch const& made : sampler.sample_batches(0, job.seeds, job.size, job.numbers)) {
    out.push_back(lists_of(made));
  }
  return out;
}

void expect_same_batches(std::vector<batch_lists> const& a, std::vector<batch_lists> const& b, std::string const& what)
{
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i) { ASSERT_EQ(difference(a[i], b[i]), "") << what << ", batch " << i; }
}

TEST(ShardedMinibatch, EveryWayEqualsThatOnTheWholeGraph)
{
  graph const g = make_zoo(6);
  batch_job const job{random_roots(g, 90), 20};
  for (std::vector<std::int64_t> const& fanouts : {std::vector<std::int64_t>{4, 3}, {2, -1}, {3, 0, 2}}) {
    for (minibatch_params const& params : every_way(true, false, fanouts)) {
      auto const whole = whole_batches(g, params, job);
      for (int const n : fanouts[0] == 4 ? rank_counts() : std::vector{3}) {
        expect_same_batches(whole, batches_on_ranks(g, n, params, job),
                            name_of(params) + " on " + std::to_string(n) + " ranks");
      }
    }
  }
}

TEST(ShardedMinibatch, CompressedPartsChangeNothing)
{
  graph const g = make_zoo(6);
  batch_job const job{random_roots(g, 90), 20};
  for (minibatch_params const& params : every_way(true, false, {4, 3})) {
    auto const whole = whole_batches(g, params, job);
    for (graph const& parts : in_compressed_forms(g)) {
      expect_same_batches(whole, batches_on_ranks(parts, 3, params, job), name_of(params));
    }
  }
}

TEST(ShardedMinibatch, DelaysThreadsAndMethodsChangeNothing)
{
  graph const g = random_graph(11);
  batch_job const job{random_roots(g, 300), 7};  // more batches than are made at once
  for (minibatch_params params : every_way(true, false, {5, 4})) {
    if (params.seed % 5 != 0) { continue; }
    auto const whole = whole_batches(g, params, job);
    for (auto const method : {partition_method::range, partition_method::degree}) {
      for (int const threads : {1, 3}) {
        expect_same_batches(whole, batches_on_ranks(g, 3, params, job, {method, threads, threads == 3}),
                            name_of(params));
      }
    }
  }
}

TEST(ShardedMinibatch, OfManyRoundsComeInOrder)
{
  graph const g = make_karate();
  batch_job const job{random_roots(g, unless_sanitized(5000, 600)), 2};
  minibatch_params const params{.num_neighbors = {1000, 1000}};  // so that few batches are made at once
  expect_same_batches(whole_batches(g, params, job), batches_on_ranks(g, 3, params, job), "2 seeds");
}

TEST(ShardedMinibatch, HubsAndGraphsWithoutEdges)
{
  for (graph const& g : {make_star({1, 2, 0, 5}), make_graph(5, {})}) {
    batch_job const job{random_roots(g, 9), 2};
    for (minibatch_params const& params : every_way(true, false, {3, 2})) {
      auto const whole = whole_batches(g, params, job);
      expect_same_batches(whole, batches_on_ranks(g, 3, params, job), name_of(params));
    }
  }
}

TEST(ShardedMinibatch, ARankMayAskForNothingAndRanksMayUseOtherSizes)
{
  graph const g = make_zoo(2);
  minibatch_params const params{.num_neighbors = {3, 3}};
  minibatch_sampler whole(hetero_graph(g), params, {.num_threads = 1});
  run_ranks(3, [&](transport& ranks) {
    sharded_minibatch_sampler sampler(part_of(g, {.num_parts = 3}, ranks.rank()), params, ranks, {.num_threads = 1});
    for (int call = 0; call < 3; ++call) {
      auto const count = static_cast<std::int64_t>((ranks.rank() + call) % 3) * 30;
      auto const seeds = random_roots(g, count);
      auto const made = sampler.sample_batches(seeds, 5 + ranks.rank(), {static_cast<std::uint64_t>(call), 1});
      EXPECT_EQ(std::ssize(made), (count + 4 + ranks.rank()) / (5 + ranks.rank()));
      if (ranks.rank() != 2) { continue; }
      auto const expected = whole.sample_batches(0, seeds, 7, {static_cast<std::uint64_t>(call), 1});
      for (std::size_t b = 0; b < made.size(); ++b) {
        EXPECT_EQ(difference(lists_of(expected[b]), lists_of(made[b])), "");
      }
    }
  });
}

TEST(ShardedMinibatch, AsksForEachVertexOfAHopOnce)
{
  // A ring of 100, cut in two: the seed 49 has its neighbour 50 with the other rank, and all vertices after that.
  std::vector<test_edge> edges;
  for (vertex_id v = 0; v < 100; ++v) { edges.push_back({v, (v + 1) % 100, 1, 0}); }
  graph const g = make_graph(100, edges);
  run_ranks(2, [&](transport& ranks) {
    sharded_minibatch_sampler sampler(part_of(g, {.num_parts = 2, .method = partition_method::range}, ranks.rank()),
                                      {.num_neighbors = {1, 1, 1}}, ranks, {.num_threads = 1});
    std::vector<vertex_id> const seeds(ranks.rank() == 0 ? 1 : 0, 49);
    auto const made = sampler.sample_batches(seeds, 1);
    if (ranks.rank() != 0) { return; }
    EXPECT_EQ(lists_of(made[0]).vertices[0].node, (std::vector<std::int64_t>{49, 50, 51, 52}));
    EXPECT_EQ(sampler.report().asked, 3);
    EXPECT_EQ(sampler.report().asked_away, 2);
    EXPECT_EQ(sampler.report().edges, 3);
  });
}

TEST(ShardedMinibatch, WhatIsWrongIsNamed)
{
  graph const g = make_karate();
  auto const sampler_of = [&](transport& ranks, minibatch_params const& params, std::int64_t parts = 3) {
    return sharded_minibatch_sampler(part_of(g, {.num_parts = parts}, ranks.rank()), params, ranks);
  };
  EXPECT_EQ(failure_of(3, [&](transport& ranks) { (void)sampler_of(ranks, {}, 4); }),
            "the graph has 4 parts, expected one a rank: 3");
  EXPECT_EQ(failure_of(3, [&](transport& ranks) { (void)sampler_of(ranks, {.num_neighbors = {}}); }),
            "num_neighbors: none given, expected one a hop");
  EXPECT_EQ(failure_of(3,
                       [&](transport& ranks) {
                         (void)sampler_of(ranks, {.num_neighbors_of_type = {{2}, {3}}});
                       }),
            "num_neighbors_of_type: 2 lists, expected one: a graph in parts has one edge type");
  EXPECT_EQ(failure_of(3,
                       [&](transport& ranks) {
                         auto sampler = sampler_of(ranks, {.num_neighbors = {2}});
                         std::vector<vertex_id> const seeds{0, ranks.rank() == 1 ? 34U : 1U};
                         (void)sampler.sample(seeds);
                       }),
            "seed 1: vertex 34 is out of range, the graph has 34 vertices");
  EXPECT_EQ(failure_of(3, [&](transport& ranks) { (void)sampler_of(ranks, {}).sample_batches({}, 0); }),
            "batch_size: 0, expected 1 to 4294967294");
  std::string const seed = failure_of(3, [&](transport& ranks) {
    (void)sampler_of(ranks, {.num_neighbors = {2}, .seed = ranks.rank() == 2 ? 1U : 0U});
  });
  EXPECT_NE(seed.find("rank 2 of 3 makes batches of fan-outs 2,"), std::string::npos) << seed;
}

TEST(ShardedMinibatch, AWrongSeedEndsTheCallAlone)
{
  graph const g = make_karate();
  minibatch_params const params{.num_neighbors = {2, -1}};
  run_ranks(3, [&](transport& ranks) {
    sharded_minibatch_sampler sampler(part_of(g, {.num_parts = 3}, ranks.rank()), params, ranks);
    for (int bad = 0; bad < 3; ++bad) {
      bool const wrong = ranks.rank() == bad;
      std::vector<vertex_id> const seeds{0, wrong ? 34U : 1U}, right{5, 33};
      expect_refusal(ranks, bad, "seed 1: vertex 34 is out of range, the graph has 34 vertices",
                     [&] { (void)sampler.sample(seeds); });
      expect_refusal(ranks, bad, "batch_size: 0, expected 1 to 4294967294",
                     [&] { (void)sampler.sample_batches(right, wrong ? 0 : 1); });
      std::vector<batch_lists> made;
      for (minibatch const& one : sampler.sample_batches(right, 1)) { made.push_back(lists_of(one)); }
      expect_same_batches(whole_batches(g, params, {right, 1, {}}), made, "the next call");
    }
  });
}

TEST(ShardedMinibatch, WeightsThatAreMissingAreNamed)
{
  graph const g = make_graph(3, {{0, 1, 1, 0}, {1, 2, 1, 0}}, {.weights = false});
  EXPECT_EQ(failure_of(2,
                       [&](transport& ranks) {
                         (void)sharded_minibatch_sampler(part_of(g, {.num_parts = 2}, ranks.rank()),
                                                         {.num_neighbors = {2}, .weighted = true}, ranks);
                       }),
            "weighted: the graph has no weights, expected one an edge");
}

}  // namespace
}  // namespace tendril::test
