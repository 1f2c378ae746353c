// Mini-batches are what their definition says: of one type and of several, with times and without, in every way.

#include <gtest/gtest.h>

#include "cpu/batches/minibatch_verifier.hpp"
#include "support/sanitized.hpp"
#include "support/small_hetero.hpp"

namespace tendril::test {
namespace {

/// What is wrong with batch 3 of this sampler; nothing if it is as defined.
std::string wrong_with(hetero_graph const& graph, minibatch_params const& params, batch_seeds const& seeds)
{
  expected_batch const expected(graph, params, seeds, 3);
  minibatch_sampler sampler(graph, params, {.num_threads = 1});
  return difference(expected.lists(), lists_of(sampler.sample(seeds, 3)));
}

TEST(MinibatchReplay, OneType)
{
  for (std::uint64_t seed = 1; seed <= unless_sanitized(2U, 1U); ++seed) {
    hetero_graph const graph(make_zoo(seed));
    seed_lists const seeds = one_type_seeds();
    for (auto const& fanouts : every_fanout) {
      for (auto const& params : every_way(true, false, fanouts)) {
        EXPECT_EQ(wrong_with(graph, params, seeds.spans(false)), "") << name_of(params);
      }
    }
  }
}

TEST(MinibatchReplay, OneTypeWithTimes)
{
  hetero_graph const graph = make_timed_zoo(3);
  seed_lists const seeds = one_type_seeds();
  for (auto const& fanouts : every_fanout) {
    for (auto const& params : every_way(true, true, fanouts)) {
      for (bool const timed : {false, true}) {
        EXPECT_EQ(wrong_with(graph, params, seeds.spans(timed)), "") << name_of(params) << " " << timed;
      }
    }
  }
}

TEST(MinibatchReplay, SeveralTypes)
{
  std::vector<std::vector<std::int64_t>> const of_type = {{2, 3, 1}, {-1, 0, 2}, {4, 4, 4}, {1, -1, 60}, {5, 5, 5}};
  for (bool const timed : {false, true}) {
    hetero_graph const graph = make_hetero_zoo(11, timed);
    for (seed_lists const& seeds : {three_type_seeds(), middle_type_seeds()}) {
      for (auto const& fanouts : every_fanout) {
        for (auto params : every_way(false, timed, fanouts)) {
          EXPECT_EQ(wrong_with(graph, params, seeds.spans(timed)), "") << name_of(params) << " " << timed;
        }
      }
      for (auto params : every_way(false, timed, {})) {
        params.num_neighbors_of_type = of_type;
        EXPECT_EQ(wrong_with(graph, params, seeds.spans(timed)), "") << name_of(params) << " " << timed;
      }
    }
  }
}

TEST(MinibatchReplay, WithoutSeeds)
{
  for (bool const timed : {false, true}) {
    hetero_graph const graph = make_hetero_zoo(12, timed);
    seed_lists const none = {{{}, {}, {}}, {{}, {}, {}}};
    for (auto const& params : every_way(false, timed, {3, 2})) {
      EXPECT_EQ(wrong_with(graph, params, none.spans(timed)), "") << name_of(params);
      minibatch_sampler sampler(graph, params);
      batch_lists const out = lists_of(sampler.sample(none.spans(timed)));
      EXPECT_EQ(out.vertices[0].num_sampled, (std::vector<std::int64_t>{0, 0, 0}));
      EXPECT_EQ(out.edges[4].num_sampled, (std::vector<std::int64_t>{0, 0}));
      EXPECT_EQ(out.edges[4].indptr, (std::vector<std::int64_t>{0}));
    }
  }
}

TEST(MinibatchReplay, WithoutEdgeTypes)
{
  hetero_graph const graph({4, 3}, {});
  std::vector<vertex_id> const seeds = {3, 3, 0};
  minibatch_sampler sampler(graph, {.num_neighbors = {2, 2}});
  batch_lists const out = lists_of(sampler.sample({{seeds, {}}}));
  EXPECT_EQ(out.vertices[0].node, (std::vector<std::int64_t>{3, 0}));
  EXPECT_EQ(out.vertices[0].num_sampled, (std::vector<std::int64_t>{2, 0, 0}));
  EXPECT_TRUE(out.edges.empty());
}

TEST(MinibatchReplay, AHubWhosePicksAreHashedAndOnesOfAllWidths)
{
  std::vector<test_edge> edges;
  for (vertex_id i = 0; i < 9000; ++i) { edges.push_back({0, (i * 7919U) % 9000U, static_cast<float>(i % 3)}); }
  for (vertex_id v = 1; v < 60; ++v) {
    for (vertex_id i = 0; i < v; ++i) { edges.push_back({v, v + i, static_cast<float>(i % 4)}); }
  }
  graph const g = make_graph(9000, edges);
  std::vector<vertex_id> const seeds = {0, 17, 33, 59};
  for (std::int64_t const k : {1, 15, 16, 17, 31, 32, 33, 1000, 5000}) {
    if (is_sanitized && k != 1 && k != 16 && k != 33 && k != 1000) { continue; }  // one pick, and each width
    for (int bits = 0; bits < 8; ++bits) {
      minibatch_params const params{.num_neighbors = {k, 3},
                                    .replace = (bits & 1) != 0,
                                    .weighted = (bits & 2) != 0,
                                    .disjoint = (bits & 4) != 0};
      EXPECT_EQ(wrong_with(hetero_graph(g), params, {{seeds}}), "") << name_of(params);
    }
  }
}

TEST(MinibatchReplay, FindsFaults)
{
  hetero_graph const graph = make_hetero_zoo(13, true);
  seed_lists const seeds = three_type_seeds();
  minibatch_params const params{.num_neighbors = {4, 3}, .disjoint = true};
  expected_batch const expected(graph, params, seeds.spans(true), 0);
  minibatch_sampler sampler(graph, params);
  batch_lists const good = lists_of(sampler.sample(seeds.spans(true)));
  EXPECT_EQ(difference(expected.lists(), good), "");
  auto const after = [&](auto spoil) {
    batch_lists bad = good;
    spoil(bad);
    return difference(expected.lists(), bad);
  };
  EXPECT_NE(after([](batch_lists& b) { std::swap(b.vertices[1].node[0], b.vertices[1].node[1]); }), "");
  EXPECT_NE(after([](batch_lists& b) { ++b.vertices[0].batch.back(); }), "");
  EXPECT_NE(after([](batch_lists& b) { ++b.vertices[2].num_sampled[1]; }), "");
  EXPECT_NE(after([](batch_lists& b) { b.edges[0].row[0] = 1; }), "");
  EXPECT_NE(after([](batch_lists& b) { ++b.edges[1].col[2]; }), "");
  EXPECT_NE(after([](batch_lists& b) { --b.edges[2].edge.back(); }), "");
  EXPECT_NE(after([](batch_lists& b) { b.edges[2].edge.pop_back(); }), "");
  EXPECT_NE(after([](batch_lists& b) { b.edges[3].edge.push_back(0); }), "");
  EXPECT_NE(after([](batch_lists& b) { ++b.edges[3].indptr.back(); }), "");
  EXPECT_NE(after([](batch_lists& b) { ++b.edges[0].first_expanded[1]; }), "");
  EXPECT_NE(after([](batch_lists& b) { ++b.edges[4].num_expanded[0]; }), "");
}

/// What the definition can't do by itself: be another one.
TEST(MinibatchReplay, OtherParametersAreOtherBatches)
{
  hetero_graph const graph = make_hetero_zoo(14, true);
  seed_lists const seeds = three_type_seeds();
  minibatch_params const params{.num_neighbors = {4, 3}, .disjoint = true};
  auto const batch = [&](minibatch_params const& p, batch_seeds const& from) {
    return expected_batch(graph, p, from, 0).lists();
  };
  batch_lists const here = batch(params, seeds.spans(true));
  minibatch_params other = params;
  other.seed = 1;
  EXPECT_NE(batch(other, seeds.spans(true)), here);
  other = params;
  other.temporal = temporal_strategy::last;
  EXPECT_NE(batch(other, seeds.spans(true)), here);
  other = params;
  other.frontier = batch_frontier::all;
  EXPECT_NE(batch(other, seeds.spans(true)), here);
  EXPECT_NE(batch(params, seeds.spans(false)), here);
}

}  // namespace
}  // namespace tendril::test
