// Walks and trees are the same whatever tables a plan may take: all, sums of weights that stand in for them, or none.

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/generate.hpp>
#include <tendril/sample.hpp>
#include <tendril/walk.hpp>

#include "support/sample_bytes.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

constexpr std::int64_t huge_job = std::int64_t{1} << 40U;

std::vector<graph> weighted_graphs()
{
  edge_attributes const extra{.has_weights = true, .num_labels = 3, .num_node_types = 3};
  graph const rmat = generate_rmat({.scale = 9, .edge_factor = 16, .seed = 3}, {.symmetrize = true}, extra);
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
    by_sums = by_sums || walk.plan().weight_sums;
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

TEST(TableLimit, TreesAreTheSameWhateverTheLimit)
{
  for (graph const& g : weighted_graphs()) {
    std::vector<vertex_id> const seeds = starts_everywhere(g, 1);
    for (auto const rule : {sampling_rule::alias, sampling_rule::its}) {
      khop_params params{.fanouts = {3, 2}, .replace = true, .weighted = true, .rule = rule};
      auto const free = khop_sample(g, seeds, params);
      g.drop_derived();
      params.table_bytes = 0;
      auto const limited = khop_sample(g, seeds, params);
      for (std::size_t h = 0; h < free.hops.size(); ++h) {
        EXPECT_TRUE(sample_bytes(free.hops[h].vertices) == sample_bytes(limited.hops[h].vertices));
      }
    }
  }
}

}  // namespace
}  // namespace tendril::test
