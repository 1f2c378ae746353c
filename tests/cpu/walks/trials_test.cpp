// Trials: how many the steps of a walk take, what a plan says of it, and what follows where they run out.

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/generate.hpp>
#include <tendril/walk.hpp>

#include "cpu/walks/exact_walks.hpp"
#include "cpu/walks/trials.hpp"
#include "support/karate.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

using enum sampling_rule;

graph const& karate()
{
  static graph const g = make_karate();
  return g;
}

graph const& skewed()
{
  static graph const g = generate_rmat({.scale = 10, .edge_factor = 16, .seed = 1}, {.symmetrize = true},
                                       {.has_weights = true, .weight_sigma = 1});
  return g;
}

struct node2vec_bias {
  double p, q;
};
constexpr std::array biases{node2vec_bias{0.25, 4}, node2vec_bias{2, 0.5},   node2vec_bias{1, 8},
                            node2vec_bias{1, 1},    node2vec_bias{0.5, 0.5}, node2vec_bias{8, 0.25}};

double counted_mean(graph const& g, walk_params const& params)
{
  auto const starts = starts_everywhere(g, g.num_vertices() < 100 ? 100 : 1);
  return cpu::count_trials(walker(g, params, 1), starts).mean();
}

// The estimate has 16,384 steps, the count more: their errors are some 1 to 2 %.
void expect_estimated(graph const& g, walk_params params)
{
  for (auto const& [p, q] : biases) {
    params.p = p;
    params.q = q;
    params.second_order = true;
    auto const plan = plan_walk(g, params, 1);
    double const counted = counted_mean(g, params);
    EXPECT_NEAR(plan.expected_trials, counted, 0.1 * counted)
        << "p " << p << " q " << q << " rule " << to_string(plan.rule);
  }
}

TEST(Trials, APlanTellsThoseOfNode2vec) { expect_estimated(karate(), {}); }
TEST(Trials, APlanTellsThoseOfNode2vecOnAHeavyTail) { expect_estimated(skewed(), {}); }
TEST(Trials, APlanTellsThoseOfWeightedNode2vec)
{
  expect_estimated(skewed(), {.weighted = true});
  expect_estimated(skewed(), {.weighted = true, .rule = reject});
}
TEST(Trials, APlanTellsThoseOfWeightedWalks)
{
  walk_params const params{.weighted = true, .rule = reject};
  double const counted = counted_mean(skewed(), params);
  EXPECT_GT(counted, 2);
  EXPECT_NEAR(plan_walk(skewed(), params, 1).expected_trials, counted, 0.1 * counted);
}

TEST(Trials, TheEstimateDependsOnNeitherThreadsNorJobNorSeed)
{
  walk_params params{.weighted = true, .p = 0.25, .q = 4};
  double const one = plan_walk(skewed(), params, 1, {.num_threads = 1}).expected_trials;
  EXPECT_EQ(plan_walk(skewed(), params, std::int64_t{1} << 40U, {.num_threads = 3}).expected_trials, one);
  params.seed = 7;
  params.length = 3;
  EXPECT_EQ(plan_walk(skewed(), params, 1).expected_trials, one);
}

// Counted from the definition: a trial stands with weight * factor / (bound * largest factor).
TEST(Trials, OfAStarAreThoseOfTheDefinition)
{
  constexpr vertex_id leaves = 20;
  std::vector<test_edge> edges;
  for (vertex_id v = 1; v <= leaves; ++v) {
    edges.push_back({0, v});
    edges.push_back({v, 0});
  }
  graph const star = make_graph(leaves + 1, edges);
  // From a leaf by the hub every leaf but the last is away; from the hub by a leaf the only edge leads back.
  double const p = 0.25;
  double const q = 4;
  double const mass = 1 / p + (leaves - 1) / q;  // of the hub's edges
  double const board = (1 / p - 1) + leaves;     // the edge back is apart: the others are bounded by 1
  std::vector<vertex_id> const starts(4000, 0);
  auto const count = cpu::count_trials(walker(star, {.length = 41, .p = p, .q = q}, 1), starts);
  // Steps 0, 2, 4, ... leave the hub, the first one without a node2vec_bias; the others leave a leaf.
  double const expected = (1 + 20 * board / mass + 20 * 1) / 41;
  EXPECT_NEAR(count.mean(), expected, 0.02 * expected);
}

/// A hub whose only heavy edge is one of many.
std::vector<float> one_heavy(std::size_t degree)
{
  std::vector<float> weights(degree, 1e-6F);
  weights[degree / 3] = 1e6F;
  return weights;
}

TEST(Trials, ThatRunOutCostNoMoreThanTheirLimit)
{
  graph const star = make_star(one_heavy(1U << 20U));
  std::vector<vertex_id> const starts(2000, 0);
  walk_params const params{.length = 1, .weighted = true, .rule = reject};
  walker const walk(star, params, 1'000'000);
  EXPECT_TRUE(walk.plan().weight_sums);
  auto const count = cpu::count_trials(walk, starts);
  EXPECT_LE(count.trials, 128 * count.steps);
  EXPECT_GT(count.trials, 127 * count.steps);  // a trial in a million stands
  walks const out = walk.run(starts, 0);
  auto const heavy = static_cast<vertex_id>((1U << 20U) / 3 + 1);
  for (std::int64_t i = 0; i < out.num_walks; ++i) { ASSERT_EQ(out.vertices[2 * i + 1], heavy); }
}

TEST(Trials, ThatRunOutLeaveTheDistributionAsItIs)
{
  std::vector<float> weights(300,
                             1);  // 91 trials on average: of the 128 that there are, a quarter of the steps run out
  for (std::size_t const i : {5U, 70U, 299U}) { weights[i] = 1000; }
  graph const star = make_star(weights);
  for (std::int64_t const walks : {std::int64_t{0}, std::int64_t{1} << 40U}) {
    star.drop_derived();
    walk_params const params{.length = 1, .weighted = true, .rule = reject, .seed = 4};
    walker const walk(star, params, walks);
    EXPECT_EQ(walk.plan().weight_sums, walks > 0);
    std::vector<vertex_id> const starts(200'000, 0);
    tendril::walks const out = walk.run(starts, 0);
    std::vector<std::int64_t> counts(weights.size());
    for (std::int64_t i = 0; i < out.num_walks; ++i) { ++counts[out.vertices[2 * i + 1] - 1]; }
    expect_distribution(counts, {weights.begin(), weights.end()}, 0.05);
  }
}

/// A hub between heavy and light leaves, symmetric, and triangles among the leaves: a step by the hub may come from the
/// heavy leaf.
graph make_wheel_of_weights()
{
  std::vector<test_edge> edges;
  for (vertex_id v = 1; v <= 9; ++v) {
    float const w = v == 4 ? 1e6F : static_cast<float>(v);
    edges.push_back({0, v, w});
    edges.push_back({v, 0, v % 2 == 0 ? 2.0F : 1e-3F});
    edges.push_back({v, v % 9 + 1, 1});
  }
  return make_graph(10, edges);
}

/// As count_walks, of a planned walk.
outcome_counts count_planned(walker const& walk, vertex_id start)
{
  std::vector<vertex_id> const starts(60'000, start);
  walks const out = walk.run(starts, 0);
  outcome_counts counts;
  for (std::int64_t i = 0; i < out.num_walks; ++i) {
    vertex_id const* const row = out.vertices.data() + i * (out.length + 1);
    ++counts[outcome(row, row + out.length + 1)];
  }
  return counts;
}

TEST(Trials, OfNode2vecThatRunOutLeaveTheDistributionAsItIs)
{
  graph const g = make_wheel_of_weights();
  for (auto const& [p, q] :
       {node2vec_bias{1e4, 1}, node2vec_bias{1e5, 4}, node2vec_bias{0.01, 0.5}, node2vec_bias{1e-4, 1}}) {
    for (auto const rule : {reject, alias, scan}) {
      for (std::int64_t const size : {std::int64_t{0}, std::int64_t{1} << 40U}) {
        walk_params const params{.length = 3, .weighted = true, .p = p, .q = q, .rule = rule, .seed = 3};
        g.drop_derived();
        EXPECT_TRUE(fits(count_planned(walker(g, params, size), 4), exact_walks(g, params).from(4), 0.08))
            << to_string(rule) << " p " << p << " q " << q << " size " << size;
      }
    }
  }
}

TEST(Trials, OfNode2vecAreFewWhateverTheWeightOfTheEdgeBack)
{
  graph const g = make_wheel_of_weights();
  std::vector<vertex_id> const starts(2000, 4);
  for (auto const rule : {reject, alias}) {
    for (double const p : {1e-4, 1e4}) {
      walk_params const params{.length = 20, .weighted = true, .p = p, .q = 1, .rule = rule};
      // At most the first trials and a few by the sums: never the second limit, of up to 41.
      EXPECT_LT(cpu::count_trials(walker(g, params, 1), starts).mean(), 32 + 9 + 2) << to_string(rule) << " p " << p;
    }
  }
}

}  // namespace
}  // namespace tendril::test
