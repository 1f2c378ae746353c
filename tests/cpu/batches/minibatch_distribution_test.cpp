// Mini-batches draw from the documented distributions, at any degree; draws that should be independent are.

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "cpu/batches/plain_batch.hpp"
#include "cpu/picks/exact_picks.hpp"
#include "support/hub.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

/// The picks of seed 0 over many batches.
outcome_counts count_picks(graph const& g, minibatch_params params, std::int64_t k, std::uint64_t num_batches,
                           bool ordered)
{
  params.num_neighbors = {k};
  outcome_counts counts;
  for (std::uint64_t batch = 0; batch < num_batches; ++batch) {
    plain_batch const out = sampled_batch(g, std::vector<vertex_id>{0}, params, {.num_threads = 1}, batch);
    outcome picks(out.edge.begin(), out.edge.end());
    if (!ordered) { std::sort(picks.begin(), picks.end()); }
    ++counts[picks];
  }
  return counts;
}

TEST(MinibatchDistribution, UniformAndWeightedPicks)
{
  constexpr std::uint64_t batches = 20'000;
  std::vector<float> const weights = {1, 4, 0, 0.5F, 2};
  std::vector<double> const exact(weights.begin(), weights.end());
  std::vector<double> const ones(5, 1.0);
  graph const g = make_star(weights);
  EXPECT_TRUE(fits(count_picks(g, {}, 2, batches, false), unordered(exact_picks(ones, 2, false)), 0.1));
  EXPECT_TRUE(fits(count_picks(g, {.replace = true}, 2, batches, true), exact_picks(ones, 2, true), 0.1));
  EXPECT_TRUE(fits(count_picks(g, {.weighted = true}, 2, batches, true), exact_picks(exact, 2, false), 0.1));
  EXPECT_TRUE(
      fits(count_picks(g, {.replace = true, .weighted = true}, 2, batches, true), exact_picks(exact, 2, true), 0.1));
  EXPECT_FALSE(fits(count_picks(g, {.replace = true}, 2, batches, true), exact_picks({1, 1.15, 1, 1, 1}, 2, true), 0.1))
      << "a planted bias";
}

TEST(MinibatchDistribution, SeedsOfADisjointBatchDrawIndependently)
{
  graph const g = make_star({1, 1, 1, 1});
  constexpr std::int64_t pairs = 20'000;
  std::vector<vertex_id> const seeds(2 * pairs, 0);
  plain_batch const out = sampled_batch(g, seeds, {.num_neighbors = {1}, .disjoint = true});
  ASSERT_EQ(out.edge.size(), 2 * pairs);
  std::vector<std::int64_t> counts(16);
  for (std::int64_t i = 0; i < pairs; ++i) {
    ++counts[static_cast<std::size_t>(4 * out.edge[2 * i] + out.edge[2 * i + 1])];
  }
  expect_distribution(counts, std::vector<double>(16, 1.0), 0.1);
}

/// A star whose edge i has time i.
hetero_graph timed_star(std::size_t degree)
{
  graph const g = make_star(std::vector<float>(degree, 1.0F));
  std::vector<std::int64_t> times(degree);
  std::iota(times.begin(), times.end(), 0);
  return hetero_graph(g, order_by_time(g, times));
}

/// The hop-0 picks of many seeds, all vertex 0, whose time is 5.
outcome_counts timed_picks(hetero_graph const& graph, minibatch_params params, std::size_t k, std::size_t num_seeds)
{
  params.num_neighbors = {static_cast<std::int64_t>(k)};
  params.disjoint = true;
  std::vector<vertex_id> const seeds(num_seeds, 0);
  std::vector<std::int64_t> const times(num_seeds, 5);
  minibatch_sampler sampler(graph, params);
  minibatch const out = sampler.sample({{seeds}, {times}});
  outcome_counts counts;
  auto const& edge = out.edges[0].edge;
  EXPECT_EQ(edge.size(), static_cast<std::int64_t>(k * num_seeds));
  for (std::int64_t s = 0; s < edge.size(); s += static_cast<std::int64_t>(k)) {
    outcome picks(edge.begin() + s, edge.begin() + s + static_cast<std::ptrdiff_t>(k));
    std::sort(picks.begin(), picks.end());
    ++counts[picks];
  }
  return counts;
}

TEST(MinibatchDistribution, OfTimedEdgesThoseThatAreNotTooLate)
{
  constexpr std::size_t seeds = 20'000;
  hetero_graph const graph = timed_star(9);
  auto const exact = unordered(exact_picks(std::vector<double>(6, 1.0), 2, false));
  EXPECT_TRUE(fits(timed_picks(graph, {}, 2, seeds), exact, 0.1));
  EXPECT_TRUE(fits(timed_picks(graph, {.replace = true}, 2, seeds),
                   unordered(exact_picks(std::vector<double>(6, 1.0), 2, true)), 0.1));
  EXPECT_FALSE(fits(timed_picks(graph, {}, 2, seeds), unordered(exact_picks({1, 1, 1, 1, 1, 1.2}, 2, false)), 0.1))
      << "a planted bias";
  EXPECT_FALSE(fits(timed_picks(timed_star(6), {}, 2, seeds),
                    unordered(exact_picks(std::vector<double>(5, 1.0), 2, false)), 0.1))
      << "one edge more";
}

/// How often picks a and b of [0, 4) came together, from one draw of each of `lists`.
std::vector<std::int64_t> count_pairs(std::vector<edge_id> const& a, std::vector<edge_id> const& b)
{
  std::vector<std::int64_t> counts(16);
  for (std::size_t i = 0; i < a.size(); ++i) { ++counts[static_cast<std::size_t>(4 * a[i] + b[i])]; }
  return counts;
}

TEST(MinibatchDistribution, EdgeTypesAndHopsDrawIndependently)
{
  constexpr std::uint64_t batches = 20'000;
  graph const star = make_star({1, 1, 1, 1});
  hetero_graph const twice({5}, {{0, 0, star, {}}, {0, 0, star, {}}});
  minibatch_sampler sampler(twice, {.num_neighbors = {1, 1}, .frontier = batch_frontier::all}, {.num_threads = 1});
  std::vector<vertex_id> const seeds = {0};
  std::vector<edge_id> first, other_type, next_hop;
  for (std::uint64_t b = 0; b < batches; ++b) {
    minibatch const out = sampler.sample({{seeds}}, b);
    first.push_back(out.edges[0].edge[0]);
    next_hop.push_back(out.edges[0].edge[1]);
    other_type.push_back(out.edges[1].edge[0]);
  }
  expect_distribution(count_pairs(first, other_type), std::vector<double>(16, 1.0), 0.1);
  expect_distribution(count_pairs(first, next_hop), std::vector<double>(16, 1.0), 0.1);
  EXPECT_FALSE(drawn_from(count_pairs(first, first), std::vector<double>(16, 1.0), 0.1)) << "no independence at all";
}

class MinibatchHub : public hub_test {
 protected:
  static std::vector<std::uint32_t> picks(minibatch_params params, std::int64_t fanout)
  {
    params.num_neighbors = {fanout};
    plain_batch const out = sampled_batch(*hub, std::vector<vertex_id>{0}, params);
    EXPECT_EQ(out.edge.size(), fanout);
    return {out.edge.begin(), out.edge.end()};
  }
};

TEST_F(MinibatchHub, Uniform)
{
  expect_drawn(picks({}, 100'000), false, 0.06);
  expect_drawn(picks({.replace = true}, 100'000), false, 0.06);
}
TEST_F(MinibatchHub, Weighted) { expect_drawn(picks({.replace = true, .weighted = true}, 100'000), true, 0.06); }

}  // namespace
}  // namespace tendril::test
