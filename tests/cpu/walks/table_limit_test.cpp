// Walks, trees and mini-batches are the same whatever tables a plan may take: all, sums of weights that stand in for them, or none.

#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/sample.hpp>
#include <tendril/walk.hpp>

#include "support/messages.hpp"
#include "support/sample_bytes.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

constexpr std::int64_t huge_job = std::int64_t{1} << 40U;

std::vector<graph> weighted_graphs()
{
  edge_attributes const extra{.has_weights = true, .num_labels = 3, .num_node_types = 3};
  graph const rmat =
      generate_rmat({.scale = unless_sanitized(9, 7), .edge_factor = 16, .seed = 3}, {.symmetrize = true}, extra);
  return {make_zoo(11), rmat, compress(rmat, graph_form::best)};
}

/// The walks of every limit, and whether sums stood in for tables once.
bool compare_limits(graph const& g, walk_params params)
{
  std::vector<vertex_id> const starts = starts_everywhere(g, 2);
  bool by_sums = false;
  std::optional<sample_bytes> expected;
  for (std::int64_t const limit :
       {std::int64_t{1} << 40U, 16 * g.num_vertices() + 2 * g.num_edges(), std::int64_t{0}}) {
    g.drop_derived();
    params.table_bytes = limit;
    walker const walk(g, params, huge_job);
    by_sums = by_sums || (walk.plan().weight_sums && walk.plan().layout == table_layout::online);
    auto const made = walk.run(starts, 0);
    sample_bytes const bytes(made.vertices, made.lengths);
    if (!expected) { expected = bytes; }
    EXPECT_TRUE(bytes == *expected) << "limit " << limit;
  }
  return by_sums;
}

TEST(TableLimit, WalksAreTheSameWhateverTheLimit)
{
  for (graph const& g : weighted_graphs()) {
    for (auto const rule : {sampling_rule::alias, sampling_rule::its, sampling_rule::reject, sampling_rule::scan}) {
      SCOPED_TRACE(to_string(rule));
      bool const has_sums = rule == sampling_rule::alias || rule == sampling_rule::its;
      EXPECT_EQ(compare_limits(g, {.length = 20, .weighted = true, .rule = rule}), has_sums);
      if (rule == sampling_rule::its) { continue; }
      EXPECT_EQ(compare_limits(g, {.length = 20, .weighted = true, .p = 2, .q = 0.5, .rule = rule}), has_sums);
    }
    (void)compare_limits(g, {.length = 5, .weighted = true, .metapath = {0, 1, 2}, .rule = sampling_rule::alias});
    (void)compare_limits(g, {.length = 5, .metapath = {0, 1, 2}});
  }
}

/// What sums of weights, but no table of 8 bytes an edge, fit into.
std::int64_t room_for_sums(graph const& g) { return 16 * g.num_vertices() + 2 * g.num_edges(); }

TEST(TableLimit, TreesAreTheSameWhateverTheLimit)
{
  for (graph const& g : weighted_graphs()) {
    std::vector<vertex_id> const seeds = starts_everywhere(g, 30);
    for (auto const rule : {sampling_rule::alias, sampling_rule::its}) {
      khop_params params{.fanouts = {3, 1}, .replace = true, .weighted = true, .rule = rule};
      params.table_bytes = huge_job;
      auto const free = khop_sample(g, seeds, params, {}, 0, true);
      for (std::int64_t const limit : {room_for_sums(g), std::int64_t{0}}) {
        g.drop_derived();
        params.table_bytes = limit;
        auto const plan = plan_khop(g, params, std::ssize(seeds));
        EXPECT_EQ(plan.weight_sums, limit > 0);
        auto const limited = khop_sample(g, seeds, params, {}, 0, true);
        EXPECT_EQ(plan_khop(g, params, std::ssize(seeds)).table_bytes_built, plan.table_bytes);
        for (std::size_t h = 0; h < free.hops.size(); ++h) {
          EXPECT_TRUE(sample_bytes(free.hops[h].vertices, free.hops[h].edges) ==
                      sample_bytes(limited.hops[h].vertices, limited.hops[h].edges));
        }
      }
    }
  }
}

TEST(TableLimit, BatchesAreTheSameWhateverTheLimit)
{
  for (graph const& g : weighted_graphs()) {
    std::vector<vertex_id> const seeds = starts_everywhere(g, 1);
    minibatch_params params{.num_neighbors = {2, 1}, .replace = true, .weighted = true};
    std::optional<sample_bytes> expected;
    for (std::int64_t const limit : {huge_job, room_for_sums(g), std::int64_t{0}}) {
      g.drop_derived();
      params.table_bytes = limit;
      auto const plan = plan_minibatch(hetero_graph(g), params);
      EXPECT_EQ(plan.rule, sampling_rule::alias);
      EXPECT_EQ(plan.weight_sums, limit == room_for_sums(g));
      EXPECT_LE(plan.table_bytes, limit);
      EXPECT_EQ(plan.table_bytes_built, 0);
      minibatch_sampler sampler(hetero_graph(g), params);
      EXPECT_EQ(plan_minibatch(hetero_graph(g), params).table_bytes_built, plan.table_bytes);
      minibatch const made = sampler.sample({{seeds}}, 3);
      sample_bytes const bytes(made.vertices[0].node, made.edges[0].row, made.edges[0].col, made.edges[0].edge);
      if (!expected) { expected = bytes; }
      EXPECT_TRUE(bytes == *expected) << "limit " << limit;
    }
  }
}

// The first edge type takes what it needs of the limit, and the next one gets the rest.
TEST(TableLimit, EdgeTypesShareTheLimit)
{
  graph const g = weighted_graphs()[1];
  hetero_graph const two({g.num_vertices()}, {{0, 0, g}, {0, 0, g}});
  minibatch_params params{.num_neighbors = {2}, .replace = true, .weighted = true};
  std::int64_t const table = 16 * g.num_edges();
  params.table_bytes = table + room_for_sums(g);
  auto const plan = plan_minibatch(two, params);
  EXPECT_EQ(plan.layout, table_layout::table);
  EXPECT_TRUE(plan.weight_sums);
  EXPECT_GT(plan.table_bytes, table);
  EXPECT_LE(plan.table_bytes, *params.table_bytes);
  EXPECT_EQ(plan.table_bytes_refused, table);
  EXPECT_EQ(plan.reasons[0], "edge type 0: alias: many draws from one neighbourhood");
}

TEST(TableLimit, PlansOfBatchesSayWhatIsTaken)
{
  graph const g = weighted_graphs()[1];
  auto const plan = [&](minibatch_params const& params) { return plan_minibatch(hetero_graph(g), params); };
  for (auto const& [params, rule] : {std::pair{minibatch_params{}, sampling_rule::uniform},
                                     {{.replace = true}, sampling_rule::uniform},
                                     {{.choice = neighbor_choice::labor}, sampling_rule::uniform},
                                     {{.weighted = true}, sampling_rule::scan}}) {
    auto const made = plan(params);
    EXPECT_EQ(made.rule, rule);
    EXPECT_EQ(made.table_bytes, 0);
    EXPECT_EQ(made.reasons.size(), 1U);
  }
  EXPECT_EQ(plan({.replace = true, .weighted = true}).table_bytes, 16 * g.num_edges());
  EXPECT_EQ(message_of<argument_error>([&] { (void)plan({.table_bytes = -1}); }),
            "table_bytes: -1, expected 0 or more");
}

}  // namespace
}  // namespace tendril::test
