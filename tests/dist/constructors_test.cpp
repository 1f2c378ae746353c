// One rank gives a constructor of all ranks wrong arguments: all are told at once what is wrong, and may go on.

#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/custom_walk.hpp>
#include <tendril/partition.hpp>
#include <tendril/sharded_features.hpp>
#include <tendril/sharded_khop.hpp>
#include <tendril/sharded_minibatch.hpp>
#include <tendril/sharded_walk.hpp>

#include "dist/refusal.hpp"
#include "support/custom_code.hpp"
#include "support/custom_walks.hpp"
#include "support/karate.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

constexpr int num_ranks = 3;

graph_part part_for(graph const& g, int rank) { return part_of(g, {.num_parts = num_ranks}, rank); }

TEST(ConstructorsOfRanks, AnothersPartIsRefusedOnAllRanks)
{
  graph const g = make_karate();
  run_ranks(num_ranks, [&](transport& ranks) {
    for (int const bad : {0, 2}) {
      int const mine = ranks.rank() == bad ? 1 : ranks.rank();
      auto const words = "part 1 of the graph, expected that of rank " + std::to_string(bad);
      expect_refusal(ranks, bad, words, [&] { (void)sharded_walker(part_for(g, mine), {.length = 3}, 1, ranks); });
      expect_refusal(ranks, bad, words,
                     [&] { (void)sharded_khop_sampler(part_for(g, mine), {.fanouts = {2}}, ranks); });
      expect_refusal(ranks, bad, words,
                     [&] { (void)sharded_minibatch_sampler(part_for(g, mine), {.num_neighbors = {2}}, ranks); });
    }
    sharded_walker walk(part_for(g, ranks.rank()), {.length = 3}, 1, ranks);
    EXPECT_EQ(walk.run(std::vector<vertex_id>{5}, ranks.rank()).lengths[0], 3);
  });
}

TEST(ConstructorsOfRanks, WrongParametersAreRefusedOnAllRanks)
{
  graph const g = make_graph(4, {{0, 1, 1, 0}, {1, 2, 1, 0}, {2, 3, 1, 0}}, {.weights = false});
  char const* const no_weights = "weighted: the graph has no weights, expected one an edge";
  run_ranks(num_ranks, [&](transport& ranks) {
    for (int const bad : {0, 2}) {
      bool const wrong = ranks.rank() == bad;
      expect_refusal(ranks, bad, no_weights, [&] {
        (void)sharded_khop_sampler(part_for(g, ranks.rank()), {.fanouts = {2}, .weighted = wrong}, ranks);
      });
      expect_refusal(ranks, bad, no_weights, [&] {
        (void)sharded_minibatch_sampler(part_for(g, ranks.rank()), {.num_neighbors = {2}, .weighted = wrong}, ranks);
      });
      std::vector<std::byte> const rows(wrong ? 2 : 1);
      std::vector<std::int64_t> const bounds{0, 1, 2, 3};
      expect_refusal(ranks, bad, "features: 2 rows, expected one for each of this rank's ids: 1", [&] {
        feature_table const here(rows, {"uint8", {wrong ? 2 : 1, 1}});
        (void)sharded_features(here, bounds, ranks);
      });
    }
    sharded_khop_sampler trees(part_for(g, ranks.rank()), {.fanouts = {1}}, ranks);
    EXPECT_EQ(trees.sample(std::vector<vertex_id>{1}, ranks.rank()).hops[0].vertices[0], 2U);
  });
}

class CustomWalkOfRanks : public custom_code_test<custom_walk> {};

TEST_F(CustomWalkOfRanks, ThatOneRankCannotMakeIsRefusedOnAllRanks)
{
  graph const g = make_zoo(3);
  custom_walk const walk(edge_bound_walk_text, "", {}, options);
  dynamic_walk_params const params{.length = 3};
  run_ranks(num_ranks, [&](transport& ranks) {
    for (int const bad : {0, 2}) {
      int const mine = ranks.rank() == bad ? 1 : ranks.rank();
      expect_refusal(ranks, bad, "part 1 of the graph, expected that of rank " + std::to_string(bad),
                     [&] { (void)sharded_walker(part_for(g, mine), walk, params, ranks); });
    }
    sharded_walker again(part_for(g, ranks.rank()), walk, params, ranks);
    EXPECT_EQ(again.run(std::vector<vertex_id>{5}, ranks.rank()).lengths.size(), 1);
  });
}

}  // namespace
}  // namespace tendril::test
