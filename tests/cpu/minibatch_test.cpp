// Mini-batches: right numbering, real edges, the fan-outs and subgraphs that were asked for, the documented
// distributions, and one sample whatever the threads.

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tendril/minibatch.hpp>

#include "cpu/exact_picks.hpp"
#include "cpu/hub.hpp"
#include "cpu/plain_batch.hpp"
#include "cpu/small_graphs.hpp"

namespace tendril::test {
namespace {

/// The serial verifier of the sampled part of a batch: it replays the edges in order and checks that
///   1. the seeds come first, each once (disjoint: each as often as it was given), in their order;
///   2. hop h expands exactly the vertices that hop h - 1 saw first, in order, and its counts are right;
///   3. each edge is the graph's, between the vertices that its local numbers stand for, and within one seed's subgraph
///      if the batch is disjoint;
///   4. a vertex gets its number at its first appearance, and only one;
///   5. without replacement no edge repeats at a vertex, and min(fan-out, edges) are there, counting edges of positive
///      weight if the choice is weighted; with replacement as many as the fan-out says; all in order where it says all.
class batch_replay {
 public:
  batch_replay(graph const& graph, std::vector<vertex_id> const& seeds, minibatch_params const& params,
               plain_batch const& out)
      : graph_(graph.view()), seeds_(seeds), params_(params), out_(out)
  {
  }

  /// The first violation, or nothing.
  [[nodiscard]] std::string run()
  {
    std::size_t const hops = params_.num_neighbors.size();
    if (out_.num_sampled_nodes.size() != hops + 1 || out_.num_sampled_edges.size() != hops) { return "wrong hops"; }
    if (out_.batch.size() != (params_.disjoint ? out_.node.size() : 0)) { return "wrong batch vector"; }
    for (std::size_t i = 0; i < seeds_.size(); ++i) { (void)number(params_.disjoint ? std::int64_t(i) : 0, seeds_[i]); }
    if (out_.num_sampled_nodes[0] != next_) { return "wrong number of seeds"; }
    std::int64_t begin = 0;
    for (std::size_t h = 0; h < hops; ++h) {
      std::int64_t const end = next_;
      std::int64_t const edges = edge_;
      for (std::int64_t local = begin; local < end; ++local) {
        if (std::string const wrong = expand(local, params_.num_neighbors[h]); !wrong.empty()) {
          return fmt::format("hop {}, vertex {}: {}", h, local, wrong);
        }
      }
      if (out_.num_sampled_edges[h] != edge_ - edges) { return fmt::format("hop {}: wrong number of edges", h); }
      if (out_.num_sampled_nodes[h + 1] != next_ - end) { return fmt::format("hop {}: wrong number of vertices", h); }
      begin = end;
    }
    return next_ == out_.node.size() ? "" : "more vertices than appear";
  }

  [[nodiscard]] std::int64_t num_edges() const { return edge_; }

 private:
  [[nodiscard]] std::int64_t tree(std::int64_t local) const { return params_.disjoint ? out_.batch[local] : 0; }

  /// The number that (tree, v) must have; -1 if the batch numbers it otherwise.
  std::int64_t number(std::int64_t in_tree, vertex_id v)
  {
    auto const [at, is_new] = numbers_.try_emplace({in_tree, v}, next_);
    next_ += is_new ? 1 : 0;
    std::int64_t const local = at->second;
    return local < out_.node.size() && out_.node[local] == v && tree(local) == in_tree ? local : -1;
  }

  std::string expand(std::int64_t local, std::int64_t fanout)
  {
    vertex_id const v = out_.node[local];
    std::set<edge_id> seen;
    std::int64_t count = 0;
    for (; edge_ < out_.row.size() && out_.row[edge_] == local && (fanout < 0 || count < fanout); ++edge_, ++count) {
      edge_id const e = out_.edge[edge_];
      if (e < graph_.indptr[v] || e >= graph_.indptr[v + 1]) { return "not its edge"; }
      if (number(tree(local), graph_.indices[e]) != out_.col[edge_]) { return "wrong local number"; }
      if (!seen.insert(e).second && !params_.replace) { return "an edge twice"; }
      if (fanout < 0 && e != graph_.indptr[v] + count) { return "not all in order"; }
      if (fanout >= 0 && params_.weighted && !(graph_.weights[e] > 0)) { return "a weight of 0"; }
    }
    std::int64_t useful = 0;
    for (edge_id e = graph_.indptr[v]; e < graph_.indptr[v + 1]; ++e) {
      useful += fanout < 0 || !params_.weighted || graph_.weights[e] > 0 ? 1 : 0;
    }
    std::int64_t const expected = fanout < 0                      ? useful
                                  : params_.replace && useful > 0 ? fanout
                                                                  : std::min(useful, fanout);
    return count == expected ? "" : fmt::format("{} edges, expected {}", count, expected);
  }

  graph_view graph_;
  std::vector<vertex_id> const& seeds_;
  minibatch_params const& params_;
  plain_batch const& out_;
  std::map<std::pair<std::int64_t, vertex_id>, std::int64_t> numbers_;
  std::int64_t next_ = 0, edge_ = 0;
};

std::vector<minibatch_params> all_params(std::vector<std::int64_t> const& fanouts)
{
  std::vector<minibatch_params> out;
  for (int bits = 0; bits < 8; ++bits) {
    out.push_back({.num_neighbors = fanouts,
                   .replace = (bits & 1) != 0,
                   .weighted = (bits & 2) != 0,
                   .disjoint = (bits & 4) != 0});
  }
  return out;
}

std::string name_of(minibatch_params const& p)
{
  return testing::PrintToString(p.num_neighbors) + (p.replace ? " replace" : "") + (p.weighted ? " weighted" : "") +
         (p.disjoint ? " disjoint" : "");
}

std::vector<std::vector<std::int64_t>> const all_fanouts = {{1}, {4, 3}, {-1},      {2, -1},      {-1, 2},
                                                            {0}, {0, 5}, {3, 0, 2}, {2, 2, 2, 2}, {200, 1}};

std::vector<vertex_id> const mixed_seeds = {5, 0, 61, 5, 2, 50, 1, 33, 0, 5};  // repeats, dead ends, a lonely one

TEST(MinibatchInvariants, HoldForEveryChoiceAndFanout)
{
  for (std::uint64_t const seed : {1U, 2U, 3U}) {
    graph const g = make_zoo(seed);
    for (auto const& fanouts : all_fanouts) {
      for (auto params : all_params(fanouts)) {
        params.seed = seed;
        plain_batch const out = sampled_batch(g, mixed_seeds, params);
        batch_replay replay(g, mixed_seeds, params, out);
        EXPECT_EQ(replay.run(), "") << name_of(params);
        EXPECT_EQ(replay.num_edges(), out.row.size()) << name_of(params);
      }
    }
  }
}

TEST(MinibatchInvariants, NoSeedsGiveAnEmptyBatch)
{
  plain_batch const out = sampled_batch(make_zoo(1), {}, {.num_neighbors = {3, 2}});
  EXPECT_EQ(out.node.size(), 0);
  EXPECT_EQ(out.row.size(), 0);
  EXPECT_EQ(out.num_sampled_nodes, (std::vector<std::int64_t>{0, 0, 0}));
  EXPECT_EQ(out.num_sampled_edges, (std::vector<std::int64_t>{0, 0}));
}

TEST(MinibatchInvariants, AKnownBatch)
{
  graph const g = make_graph(5, {{0, 1}, {0, 3}, {1, 0}, {1, 4}, {3, 1}});
  plain_batch const out = sampled_batch(g, std::vector<vertex_id>{1, 1, 2}, {.num_neighbors = {-1, -1}});
  EXPECT_EQ(std::vector(out.node.begin(), out.node.end()), (std::vector<vertex_id>{1, 2, 0, 4, 3}));
  EXPECT_EQ(std::vector(out.row.begin(), out.row.end()), (std::vector<std::int64_t>{0, 0, 2, 2}));
  EXPECT_EQ(std::vector(out.col.begin(), out.col.end()), (std::vector<std::int64_t>{2, 3, 0, 4}));
  EXPECT_EQ(std::vector(out.edge.begin(), out.edge.end()), (std::vector<edge_id>{2, 3, 0, 1}));
  EXPECT_EQ(out.num_sampled_nodes, (std::vector<std::int64_t>{2, 2, 1}));
  EXPECT_EQ(out.num_sampled_edges, (std::vector<std::int64_t>{2, 2}));
}

TEST(MinibatchInvariants, TheReplayFindsFaults)
{
  graph const g = make_graph(4, {{0, 1}, {0, 2}, {0, 3}, {1, 0}});
  std::vector<vertex_id> const seeds = {0};
  minibatch_params const params{.num_neighbors = {2}};
  auto const after = [&](auto spoil) {
    plain_batch out = sampled_batch(g, seeds, params);
    EXPECT_EQ(batch_replay(g, seeds, params, out).run(), "");
    spoil(out);
    return batch_replay(g, seeds, params, out).run();
  };
  EXPECT_EQ(after([](plain_batch& out) { out.edge[0] = 3; }), "hop 0, vertex 0: not its edge");
  EXPECT_EQ(after([](plain_batch& out) { std::swap(out.col[0], out.col[1]); }), "hop 0, vertex 0: wrong local number");
  EXPECT_EQ(after([](plain_batch& out) { out.row[1] = 1; }), "hop 0, vertex 0: 1 edges, expected 2");
  EXPECT_EQ(after([](plain_batch& out) { out.num_sampled_nodes[1] = 3; }), "hop 0: wrong number of vertices");
  EXPECT_EQ(after([](plain_batch& out) { out.edge[1] = out.edge[0], out.col[1] = out.col[0]; }),
            "hop 0, vertex 0: an edge twice");
}

TEST(MinibatchSubgraph, BidirectionalAddsEachReverse)
{
  graph const g = make_zoo(4);
  for (auto params : all_params({4, 3})) {
    plain_batch const sampled = sampled_batch(g, mixed_seeds, params);
    params.subgraph = subgraph_type::bidirectional;
    plain_batch const out = sampled_batch(g, mixed_seeds, params);
    EXPECT_EQ(batch_replay(g, mixed_seeds, params, out).run(), "");
    std::int64_t const edges = sampled.row.size();
    ASSERT_EQ(out.row.size(), 2 * edges);
    for (std::int64_t k = 0; k < edges; ++k) {
      EXPECT_EQ(out.row[k], sampled.row[k]);
      EXPECT_EQ(out.col[k], sampled.col[k]);
      EXPECT_EQ(out.row[edges + k], sampled.col[k]);
      EXPECT_EQ(out.col[edges + k], sampled.row[k]);
      EXPECT_EQ(out.edge[edges + k], sampled.edge[k]);
    }
  }
}

TEST(MinibatchSubgraph, InducedHoldsAllEdgesBetweenItsVertices)
{
  graph const g = make_zoo(5);
  graph_view const view = g.view();
  for (auto params : all_params({4, 3})) {
    plain_batch const sampled = sampled_batch(g, mixed_seeds, params);
    params.subgraph = subgraph_type::induced;
    plain_batch const out = sampled_batch(g, mixed_seeds, params);
    ASSERT_EQ(std::vector(out.node.begin(), out.node.end()), std::vector(sampled.node.begin(), sampled.node.end()));
    std::set<std::vector<std::int64_t>> expected, got;
    for (std::int64_t i = 0; i < out.node.size(); ++i) {
      for (std::int64_t j = 0; j < out.node.size(); ++j) {
        if (params.disjoint && out.batch[i] != out.batch[j]) { continue; }
        for (edge_id e = view.indptr[out.node[i]]; e < view.indptr[out.node[i] + 1]; ++e) {
          if (view.indices[e] == out.node[j]) { expected.insert({i, j, e}); }
        }
      }
    }
    for (std::int64_t k = 0; k < out.row.size(); ++k) { got.insert({out.row[k], out.col[k], out.edge[k]}); }
    EXPECT_EQ(got, expected) << name_of(params);
    EXPECT_EQ(out.row.size(), std::ssize(expected)) << "an edge twice: " << name_of(params);
    EXPECT_EQ(out.num_sampled_nodes, sampled.num_sampled_nodes);
  }
}

/// All arrays of a batch, one after the other.
std::vector<std::int64_t> flat(plain_batch const& b)
{
  std::vector<std::int64_t> out(b.row.begin(), b.row.end());
  out.insert(out.end(), b.col.begin(), b.col.end());
  out.insert(out.end(), b.node.begin(), b.node.end());
  out.insert(out.end(), b.edge.begin(), b.edge.end());
  out.insert(out.end(), b.batch.begin(), b.batch.end());
  out.insert(out.end(), b.num_sampled_nodes.begin(), b.num_sampled_nodes.end());
  out.insert(out.end(), b.num_sampled_edges.begin(), b.num_sampled_edges.end());
  return out;
}

TEST(MinibatchEquivalence, ThreadsDontChangeABatch)
{
  graph const g = make_zoo(6);
  auto const seeds = starts_everywhere(g, 4);
  for (auto const& fanouts : all_fanouts) {
    for (auto const& params : all_params(fanouts)) {
      auto const one = flat(sampled_batch(g, seeds, params, {.num_threads = 1}));
      for (int const threads : {2, 4}) {
        EXPECT_EQ(flat(sampled_batch(g, seeds, params, {.num_threads = threads})), one) << name_of(params);
      }
    }
  }
}

TEST(MinibatchEquivalence, SeedAndBatchNumberChangeABatch)
{
  graph const g = make_zoo(6);
  for (auto params : all_params({4, 3})) {
    auto const here = flat(sampled_batch(g, mixed_seeds, params));
    EXPECT_NE(flat(sampled_batch(g, mixed_seeds, params, {}, 1)), here);
    params.seed = 1;
    EXPECT_NE(flat(sampled_batch(g, mixed_seeds, params)), here);
  }
}

/// The edges sampled from each seed, by its place in the batch.
std::vector<std::vector<edge_id>> edges_of_seeds(plain_batch const& b)
{
  std::vector<std::vector<edge_id>> out(static_cast<std::size_t>(b.num_sampled_nodes[0]));
  for (std::int64_t k = 0; k < b.num_sampled_edges[0]; ++k) {
    out[static_cast<std::size_t>(b.row[k])].push_back(b.edge[k]);
  }
  return out;
}

TEST(MinibatchEquivalence, AVertexDrawsTheSameWhoeverItsNeighboursInTheBatchAre)
{
  graph const g = make_zoo(7);
  for (auto const& params : all_params({3})) {
    auto const together = edges_of_seeds(sampled_batch(g, std::vector<vertex_id>{0, 7, 2}, params));
    auto const alone = edges_of_seeds(sampled_batch(g, std::vector<vertex_id>{0, 9}, params));
    EXPECT_EQ(together[0], alone[0]) << name_of(params);
    if (!params.disjoint) {
      auto const turned = edges_of_seeds(sampled_batch(g, std::vector<vertex_id>{2, 7, 0}, params));
      EXPECT_EQ(together[0], turned[2]) << name_of(params);
    }
  }
}

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
