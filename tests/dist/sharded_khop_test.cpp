// k-hop trees of a graph in parts are those of the whole graph, for every way to sample and any number of ranks, in calls of
// all ranks and whenever a rank asks.

#include <tendril/sharded_khop.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/tcp.hpp>
#include <tendril/walk_parts.hpp>  // walks_of

#include "dist/failure_of.hpp"
#include "dist/partition_support.hpp"
#include "dist/refusal.hpp"
#include "dist/restless_engine.hpp"
#include "support/graph_forms.hpp"
#include "support/karate.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

struct hop_lists {
  std::int64_t fanout;
  std::vector<vertex_id> vertices;
  std::vector<edge_id> edges;
  std::vector<std::int64_t> offsets;
  friend bool operator==(hop_lists const&, hop_lists const&) = default;
};

std::vector<hop_lists> lists_of_hops(khop_trees const& trees)
{
  std::vector<hop_lists> out;
  for (tree_hop const& hop : trees.hops) {
    out.push_back({hop.fanout,
                   {hop.vertices.begin(), hop.vertices.end()},
                   {hop.edges.begin(), hop.edges.end()},
                   {hop.offsets.begin(), hop.offsets.end()}});
  }
  return out;
}

std::vector<khop_params> every_tree()
{
  std::vector<khop_params> out;
  for (std::vector<std::int64_t> const& fanouts :
       {std::vector<std::int64_t>{4, 3}, {2, -1}, {-1, 2}, {1, 1, 1}, {70, 2}}) {
    for (int bits = 0; bits < 4; ++bits) {
      out.push_back({.fanouts = fanouts, .replace = (bits & 1) != 0, .weighted = (bits & 2) != 0, .seed = 3});
    }
  }
  out.push_back({.fanouts = {3, 2}, .replace = true, .weighted = true, .rule = sampling_rule::its});
  return out;
}

/// Each rank's trees equal those of its range of the seeds.
void expect_whole(graph const& g, khop_params const& params, std::vector<vertex_id> const& seeds, int rank,
                  int num_ranks, sharded_khop_sampler& sampler, std::string const& what)
{
  walk_range const mine = walks_of({rank, num_ranks}, std::ssize(seeds));
  auto const own = std::span(seeds).subspan(static_cast<std::size_t>(mine.first), static_cast<std::size_t>(mine.size));
  for (bool const with_edges : {false, true}) {
    auto const made = sampler.sample(own, 100 + mine.first, with_edges);
    EXPECT_EQ(made.num_roots, mine.size);
    EXPECT_EQ(lists_of_hops(made),
              lists_of_hops(khop_sample(g, own, params, {.num_threads = 1}, 100 + mine.first, with_edges)))
        << what;
  }
}

std::string name_of_trees(khop_params const& p)
{
  return testing::PrintToString(p.fanouts) + (p.replace ? " replace" : "") + (p.weighted ? " weighted" : "");
}

TEST(ShardedKhop, EveryWayEqualsThatOnTheWholeGraph)
{
  for (graph const& g : {make_zoo(5), make_star({1, 2, 0, 5}), make_graph(5, {})}) {
    auto const seeds = random_roots(g, 60);
    for (khop_params const& params : every_tree()) {
      for (int const n : is_sanitized ? std::vector{3} : std::vector{1, 2, 3, 7}) {
        run_ranks(n, [&](transport& ranks) {
          sharded_khop_sampler sampler(part_of(g, {.num_parts = n}, ranks.rank()), params, ranks,
                                       {.num_threads = 1 + ranks.rank() % 2});
          expect_whole(g, params, seeds, ranks.rank(), n, sampler, name_of_trees(params) + " on " + std::to_string(n));
        });
      }
    }
  }
}

TEST(ShardedKhop, CompressedPartsChangeNothing)
{
  for (graph const& g : {make_zoo(5), make_star({1, 2, 0, 5}), make_graph(5, {})}) {
    auto const seeds = random_roots(g, 60);
    for (graph const& parts : in_compressed_forms(g)) {
      for (khop_params const& params : every_tree()) {
        run_ranks(3, [&](transport& ranks) {
          sharded_khop_sampler sampler(part_of(parts, {.num_parts = 3}, ranks.rank()), params, ranks,
                                       {.num_threads = 1});
          expect_whole(g, params, seeds, ranks.rank(), 3, sampler, name_of_trees(params));
        });
      }
    }
  }
}

TEST(ShardedKhop, ManySlotsAndDelaysChangeNothing)
{
  graph const g = random_graph(11);
  auto const seeds = random_roots(g, unless_sanitized(3000, 300));
  khop_params const params{.fanouts = {5, 4, 3}};
  run_ranks(
      3,
      [&](transport& ranks) {
        sharded_khop_sampler sampler(part_of(g, {.num_parts = 3}, ranks.rank()), params, ranks, {.num_threads = 2});
        expect_whole(g, params, seeds, ranks.rank(), 3, sampler, "many");
      },
      transport::seconds(60), restless(7));
}

TEST(ShardedKhop, TreesComeWheneverARankAsks)
{
  graph const g = make_zoo(5);
  auto const seeds = random_roots(g, 60);
  khop_params const params{.fanouts = {4, -1}, .weighted = true};
  std::vector<tcp_listener> listeners;
  std::vector<std::string> addresses;
  for (int r = 0; r < 3; ++r) { addresses.push_back(listeners.emplace_back("127.0.0.1").address()); }
  std::vector<std::thread> threads;
  for (int r = 0; r < 3; ++r) {
    threads.emplace_back([&, r] {
      rank_service ranks(listeners[static_cast<std::size_t>(r)].connect(r, addresses, "s", std::chrono::seconds(20)));
      sharded_khop_sampler sampler(part_of(g, {.num_parts = 3}, r), params, ranks, {.num_threads = 1});
      for (int call = 0; call < r; ++call) { expect_whole(g, params, seeds, r, 3, sampler, "service"); }
    });
  }
  for (std::thread& t : threads) { t.join(); }
}

TEST(ShardedKhop, AWrongSeedEndsTheCallAlone)
{
  graph const g = make_karate();
  run_ranks(3, [&](transport& ranks) {
    sharded_khop_sampler sampler(part_of(g, {.num_parts = 3}, ranks.rank()), {.fanouts = {2, -1}}, ranks);
    for (int bad = 0; bad < 3; ++bad) {
      bool const wrong = ranks.rank() == bad;
      std::vector<vertex_id> const seeds{0, wrong ? 34U : 1U}, right{5, 33};
      expect_refusal(ranks, bad, "seed 1: vertex 34 is out of range, the graph has 34 vertices",
                     [&] { (void)sampler.sample(seeds); });
      expect_refusal(ranks, bad, "first_root: -1, expected 0 or more",
                     [&] { (void)sampler.sample(right, wrong ? -1 : 0); });
      khop_trees const made = sampler.sample(right, 9), expected = khop_sample(g, right, {.fanouts = {2, -1}}, {}, 9);
      EXPECT_TRUE(std::ranges::equal(made.hops[1].vertices, expected.hops[1].vertices));
    }
  });
}

TEST(ShardedKhop, WhatIsWrongIsNamed)
{
  graph const g = make_karate();
  auto const sampler_of = [&](transport& ranks, khop_params const& params) {
    return sharded_khop_sampler(part_of(g, {.num_parts = 3}, ranks.rank()), params, ranks);
  };
  EXPECT_EQ(failure_of(3, [&](transport& ranks) { (void)sampler_of(ranks, {.fanouts = {0}}); }),
            failure_of(1, [&](transport&) { (void)khop_sample(g, {}, {.fanouts = {0}}); }));
  EXPECT_EQ(failure_of(3,
                       [&](transport& ranks) {
                         auto sampler = sampler_of(ranks, {.fanouts = {2}});
                         std::vector<vertex_id> const seeds{0, ranks.rank() == 1 ? 34U : 1U};
                         (void)sampler.sample(seeds);
                       }),
            "seed 1: vertex 34 is out of range, the graph has 34 vertices");
  EXPECT_EQ(failure_of(3, [&](transport& ranks) { (void)sampler_of(ranks, {.fanouts = {2}}).sample({}, -1); }),
            "first_root: -1, expected 0 or more");
  std::string const seed = failure_of(
      3, [&](transport& ranks) { (void)sampler_of(ranks, {.fanouts = {2}, .seed = ranks.rank() == 2 ? 1U : 0U}); });
  EXPECT_NE(seed.find("rank 2 of 3 makes trees of fan-outs 2,"), std::string::npos) << seed;
}

}  // namespace
}  // namespace tendril::test
