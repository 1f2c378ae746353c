// The walks of examples/: each draws from the distribution that its weights describe, worked out by brute force.

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/engine/walks/cpu.hpp>

#include "cpu/walks/exact_walks.hpp"
#include "examples/metapath2vec_walk.hpp"
#include "examples/time_decay_walk.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

template <class W>
outcome_counts count(graph const& g, W const& walk, vertex_id start, dynamic_walk_params const& params)
{
  std::vector<vertex_id> const starts(200'000, start);
  walks const out = run_dynamic_walk(g, walk, starts, params);
  outcome_counts counts;
  for (std::int64_t i = 0; i < out.num_walks; ++i) {
    vertex_id const* const row = out.vertices.data() + i * (out.length + 1);
    ++counts[outcome(row, row + out.length + 1)];
  }
  return counts;
}

/// All walks of `length` steps through edges in time, by their edges' times alone.
void follow(std::vector<test_edge> const& edges, double tau, std::size_t length, outcome const& row, double now,
            double probability, outcome_probabilities& out)
{
  double total = 0;
  auto const weight = [&](test_edge const& e) {
    if (e.from != row.back()) { return 0.0; }
    if (row.size() == 1) { return 1.0; }
    return e.weight < now ? 0.0 : 1 / (1 + (e.weight - now) / tau);
  };
  for (auto const& e : edges) { total += weight(e); }
  if (row.size() == length + 1 || total == 0) {
    outcome whole = row;
    whole.resize(length + 1, no_vertex);
    out[whole] += probability;
    return;
  }
  for (auto const& e : edges) {
    if (weight(e) == 0) { continue; }
    outcome next = row;
    next.push_back(e.to);
    follow(edges, tau, length, next, e.weight, probability * weight(e) / total, out);
  }
}

TEST(TimeDecayWalk, GoesForwardInTimeTheSoonerTheLikelier)
{
  if (is_sanitized) { GTEST_SKIP() << statistics_only; }
  std::vector<test_edge> const edges = {{0, 1, 1}, {0, 1, 5}, {0, 2, 3}, {1, 0, 2}, {1, 2, 4}, {1, 3, 9},
                                        {1, 3, 1}, {2, 0, 3}, {2, 1, 8}, {2, 3, 2}, {3, 0, 6}, {3, 3, 10}};
  graph const g = make_graph(4, edges);
  outcome_probabilities exact;
  follow(edges, 2, 3, {0}, 0, 1, exact);
  for (auto const rule : {sampling_rule::automatic, sampling_rule::scan}) {
    dynamic_walk_params const params{.length = 3, .rule = rule, .seed = 6};
    EXPECT_TRUE(fits(count(g, time_decay_walk{2}, 0, params), exact));
    EXPECT_FALSE(fits(count(g, time_decay_walk{3}, 0, params), exact)) << "another tau went unnoticed";
  }
}

TEST(Metapath2vecWalk, IsAMetapathWalkOverVertexTypes)
{
  std::vector<std::uint8_t> const types = {0, 1, 2, 1, 0, 1, 2};
  graph const g = make_graph(7,
                             {{0, 1, 2},
                              {0, 3, 1},
                              {0, 2, 9},
                              {0, 5, 4},
                              {1, 2, 1},
                              {1, 6, 3},
                              {1, 0, 7},
                              {3, 2, 5},
                              {3, 3, 2},
                              {5, 4, 1},
                              {2, 1, 1},
                              {2, 3, 2},
                              {2, 4, 8},
                              {6, 5, 2}},
                             {}, types);
  walk_params planned;
  planned.length = 3;
  planned.weighted = true;
  planned.metapath = {0, 1, 2, 1};
  planned.metapath_of = metapath_kind::vertex_types;
  metapath2vec_walk const walk{{0, 1, 2, 1}, 4};
  EXPECT_TRUE(fits(count(g, walk, 0, {.length = 3, .seed = 6}), exact_walks(g, planned).from(0)));
  EXPECT_TRUE(fits(count(g, walk, 1, {.length = 3, .seed = 6}), {{{1, no_vertex, no_vertex, no_vertex}, 1.0}}))
      << "a walk set out from a vertex of another type";
}

}  // namespace
}  // namespace tendril::test
