// Trees of k-hop neighbourhoods: real edges, the fan-outs that were asked for, the documented distributions, and one
// sample whatever the threads, batches and tables.

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tendril/sample.hpp>

#include "core/random.hpp"
#include "cpu/picks/exact_picks.hpp"
#include "plan/planner.hpp"  // make_pick_tables
#include "support/hub.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

/// The serial verifier. Of every slot's children it checks that
///   1. there are as many as the fan-out says, or exactly the neighbours in order where it says all;
///   2. each is the target of the edge that is named, and that edge leads from the slot's vertex;
///   3. without replacement no edge repeats, and as many slots are filled as there are edges for (of positive weight,
///      if the choice is weighted); with replacement all are, or none;
///   4. empty slots come last, and hold no_vertex and -1, as all children of an empty slot do.
std::string check_trees(graph const& g, std::vector<vertex_id> const& seeds, khop_params const& params,
                        khop_trees const& trees)
{
  csr_arrays const view = g.csr();
  if (trees.num_roots != static_cast<std::int64_t>(seeds.size()) || trees.hops.size() != params.fanouts.size()) {
    return "wrong number of roots or hops";
  }
  std::vector<vertex_id> parents = seeds;
  for (std::size_t h = 0; h < trees.hops.size(); ++h) {
    tree_hop const& hop = trees.hops[h];
    std::int64_t const fanout = params.fanouts[h];
    auto const num_parents = static_cast<std::int64_t>(parents.size());
    bool const all = fanout == -1;
    if (hop.fanout != fanout || hop.offsets.size() != (all ? num_parents + 1 : 0) ||
        hop.edges.size() != hop.vertices.size() ||
        hop.vertices.size() != (all ? hop.offsets[num_parents] : num_parents * fanout)) {
      return fmt::format("hop {}: wrong shapes", h);
    }
    for (std::int64_t s = 0; s < num_parents; ++s) {
      vertex_id const v = parents[static_cast<std::size_t>(s)];
      std::int64_t const begin = all ? hop.offsets[s] : s * fanout;
      std::int64_t const end = all ? hop.offsets[s + 1] : begin + fanout;
      edge_id const first = v == no_vertex ? 0 : view.indptr[v];
      edge_id const last = v == no_vertex ? 0 : view.indptr[v + 1];
      std::int64_t useful = 0;
      for (edge_id e = first; e < last; ++e) { useful += !params.weighted || all || view.weights[e] > 0 ? 1 : 0; }
      std::set<edge_id> seen;
      std::int64_t filled = 0;
      for (std::int64_t i = begin; i < end; ++i) {
        edge_id const e = hop.edges[i];
        auto const where = fmt::format("hop {}, slot {}", h, i);
        if (e == -1 && hop.vertices[i] == no_vertex) { continue; }
        if (filled != i - begin) { return where + ": filled after an empty one"; }
        if (e < first || e >= last || view.indices[e] != hop.vertices[i]) { return where + ": not an edge"; }
        if (params.weighted && !all && !(view.weights[e] > 0)) { return where + ": a weight of 0"; }
        if (!seen.insert(e).second && !params.replace) { return where + ": repeated"; }
        if (all && e != first + filled) { return where + ": not in order"; }
        ++filled;
      }
      std::int64_t const expected = all              ? useful
                                    : params.replace ? (useful > 0 ? fanout : 0)
                                                     : std::min(useful, fanout);
      if (filled != expected || (all && end - begin != expected)) {
        return fmt::format("hop {}, parent {}: {} children, expected {}", h, s, filled, expected);
      }
    }
    parents.assign(hop.vertices.begin(), hop.vertices.end());
  }
  return {};
}

struct choice {
  bool replace, weighted;
  sampling_rule rule;
};

std::vector<choice> all_choices()
{
  using enum sampling_rule;
  return {{false, false, automatic}, {true, false, automatic}, {false, false, uniform}, {false, true, automatic},
          {false, true, scan},       {true, true, automatic},  {true, true, alias},     {true, true, its}};
}

khop_params params_of(choice const& c, std::vector<std::int64_t> fanouts, std::uint64_t seed = 0)
{
  return {.fanouts = std::move(fanouts), .replace = c.replace, .weighted = c.weighted, .rule = c.rule, .seed = seed};
}

/// All arrays of the trees, one after the other.
std::vector<std::int64_t> flat(khop_trees const& trees)
{
  std::vector<std::int64_t> out;
  for (auto const& hop : trees.hops) {
    out.insert(out.end(), hop.vertices.begin(), hop.vertices.end());
    out.insert(out.end(), hop.edges.begin(), hop.edges.end());
    out.insert(out.end(), hop.offsets.begin(), hop.offsets.end());
  }
  return out;
}

TEST(KhopInvariants, HoldForEveryChoiceAndFanout)
{
  for (std::uint64_t const seed : {1U, 2U}) {
    graph const g = make_zoo(seed);
    auto const seeds = starts_everywhere(g, 2);
    for (auto const& c : all_choices()) {
      for (auto const& fanouts : std::vector<std::vector<std::int64_t>>{
               {1}, {3}, {-1}, {2, 3, 2}, {-1, 2}, {3, -1}, {-1, -1, 1}, {1, -1, 2}, {40, 2}, {200, 3}}) {
        khop_params const params = params_of(c, fanouts, seed);
        EXPECT_EQ(check_trees(g, seeds, params, khop_sample(g, seeds, params, {}, 5, true)), "")
            << testing::PrintToString(fanouts) << (c.replace ? " replace" : "") << (c.weighted ? " weighted" : "");
      }
    }
  }
}

TEST(KhopInvariants, FewEdgesAreTakenInOrder)
{
  graph const g = make_graph(4, {{0, 1}, {0, 2}, {0, 3}});
  khop_trees const trees = khop_sample(g, std::vector<vertex_id>{0, 1}, {.fanouts = {5}});
  EXPECT_EQ(
      std::vector(trees.hops[0].vertices.begin(), trees.hops[0].vertices.end()),
      (std::vector<vertex_id>{1, 2, 3, no_vertex, no_vertex, no_vertex, no_vertex, no_vertex, no_vertex, no_vertex}));
  EXPECT_TRUE(trees.hops[0].edges.empty());
}

TEST(KhopInvariants, NoSeedsGiveNoTrees)
{
  khop_trees const trees = khop_sample(make_zoo(1), {}, {.fanouts = {3, -1, 2}}, {}, 0, true);
  ASSERT_EQ(trees.hops.size(), 3U);
  EXPECT_EQ(trees.hops[2].vertices.size(), 0);
}

TEST(KhopInvariants, TheVerifierFindsFaults)
{
  graph const g = make_graph(4, {{0, 1}, {0, 2}, {0, 3}, {1, 0}});
  std::vector<vertex_id> const seeds = {0};
  khop_params const params{.fanouts = {2}};
  auto const after = [&](std::int64_t slot, vertex_id v, edge_id e) {
    khop_trees trees = khop_sample(g, seeds, params, {}, 0, true);
    EXPECT_EQ(check_trees(g, seeds, params, trees), "");
    trees.hops[0].vertices[slot] = v;
    trees.hops[0].edges[slot] = e;
    return check_trees(g, seeds, params, trees);
  };
  EXPECT_EQ(after(0, 0, 3), "hop 0, slot 0: not an edge");
  EXPECT_EQ(after(1, no_vertex, -1), "hop 0, parent 0: 1 children, expected 2");
  EXPECT_EQ(after(0, no_vertex, -1), "hop 0, slot 1: filled after an empty one");
  khop_trees twice = khop_sample(g, seeds, params, {}, 0, true);
  twice.hops[0].vertices[1] = twice.hops[0].vertices[0];
  twice.hops[0].edges[1] = twice.hops[0].edges[0];
  EXPECT_EQ(check_trees(g, seeds, params, twice), "hop 0, slot 1: repeated");
}

TEST(KhopEquivalence, ThreadsAndBatchesDontChangeATree)
{
  graph const g = make_zoo(3);
  auto const seeds = starts_everywhere(g, unless_sanitized(20, 6));
  for (auto const& c : all_choices()) {
    khop_params const params = params_of(c, {3, 150, 1});
    auto const one = flat(khop_sample(g, seeds, params, {.num_threads = 1}, 7, true));
    for (int const threads : {2, 4}) {
      EXPECT_EQ(flat(khop_sample(g, seeds, params, {.num_threads = threads}, 7, true)), one);
    }
  }
  for (auto const& c : all_choices()) {
    for (auto const& fanouts : std::vector<std::vector<std::int64_t>>{{4, 2}, {-1, 3}, {2, -1, 2}}) {
      khop_params const params = params_of(c, fanouts);
      khop_trees const whole = khop_sample(g, seeds, params, {}, std::int64_t{1} << 33U, true);
      std::vector<std::int64_t> done(fanouts.size(), 0);
      for (std::size_t begin = 0, count = 1; begin < seeds.size(); begin += count, count = count * 5 % 997) {
        count = std::min(count, seeds.size() - begin);
        khop_trees const part = khop_sample(g, std::span(seeds).subspan(begin, count), params, {},
                                            (std::int64_t{1} << 33U) + static_cast<std::int64_t>(begin), true);
        for (std::size_t h = 0; h < fanouts.size(); ++h) {
          auto const& hop = part.hops[h];
          ASSERT_TRUE(std::equal(hop.edges.begin(), hop.edges.end(), whole.hops[h].edges.data() + done[h]));
          done[h] += hop.edges.size();
        }
      }
      for (std::size_t h = 0; h < fanouts.size(); ++h) { EXPECT_EQ(done[h], whole.hops[h].edges.size()); }
    }
  }
}

TEST(KhopEquivalence, TablesDontChangeATree)
{
  graph const g = make_zoo(4);
  auto const seeds = std::vector<vertex_id>{0, 0, 1, 2, 2, 5, 9, 50, 61};
  for (auto const rule : {sampling_rule::alias, sampling_rule::its}) {
    g.drop_derived();
    khop_params const params{.fanouts = {9}, .replace = true, .weighted = true, .rule = rule};
    ASSERT_EQ(plan_khop(g, params, std::ssize(seeds)).layout, table_layout::online);
    auto const online = flat(khop_sample(g, seeds, params, {}, 0, true));
    sampling_plan const large = plan_khop(g, params, std::int64_t{1} << 40U);
    ASSERT_EQ(large.layout, table_layout::table);
    (void)plan::make_pick_tables(g, large, {});
    ASSERT_EQ(plan_khop(g, params, std::ssize(seeds)).layout, table_layout::table);
    EXPECT_EQ(flat(khop_sample(g, seeds, params, {}, 0, true)), online);
  }
}

// The contract, written again: slot p of root r draws bits j from half j mod 2 of block j / 2 of counter (r, p).
// Degrees and fan-outs reach every way that the engine has to find repeats, with repeats in each.
TEST(KhopEquivalence, TheContractGivesTheSameSubsets)
{
  std::int64_t const first_root = 0xfffffffe;
  rng_key const key = core::make_key(77, core::domain::khop, 1);
  std::vector<vertex_id> const seeds(40, 0);
  std::int64_t repeats = 0;
  for (std::uint32_t const degree : {100U, 1000U, 4096U, 4097U, 6000U}) {
    graph const g = make_star(std::vector<float>(degree, 1.0F));
    for (std::uint32_t const k : {1U, 2U, 7U, 16U, 17U, 32U, 33U, 99U, 500U, 999U, 4095U}) {
      if (k >= degree) { continue; }
      khop_trees const trees = khop_sample(g, seeds, {.fanouts = {k}, .seed = 77}, {}, first_root, true);
      for (std::uint64_t r = 0; r < seeds.size(); ++r) {
        std::set<std::uint32_t> picked;
        for (std::uint32_t j = 0; j < k; ++j) {  // Floyd's method
          auto const block = core::draw_block(key, static_cast<std::uint64_t>(first_root) + r, 0, j / 2);
          std::uint64_t const bits = j % 2 == 0 ? block.low() : block.high();
          std::uint32_t const last = degree - k + j;
          __extension__ using uint128 = unsigned __int128;
          auto pick = static_cast<std::uint32_t>((uint128{bits} * (last + 1)) >> 64U);
          if (!picked.insert(pick).second) {
            picked.insert(pick = last);
            repeats += degree == 6000 && k == 16 ? 1 : 0;
          }
          ASSERT_EQ(trees.hops[0].edges[static_cast<std::int64_t>(r * k + j)], pick) << degree << ", " << k;
        }
      }
    }
  }
  EXPECT_GT(repeats, 0) << "the rarest way was not reached";
}

/// How often each sequence of picks came out of `n` roots at vertex 0.
outcome_counts count_picks(graph const& g, khop_params params, std::int64_t k, std::int64_t n, bool ordered)
{
  params.fanouts = {k};
  khop_trees const trees = khop_sample(g, std::vector<vertex_id>(static_cast<std::size_t>(n), 0), params, {}, 0, true);
  outcome_counts counts;
  for (std::int64_t r = 0; r < n; ++r) {
    outcome picks;
    for (std::int64_t j = 0; j < k; ++j) {
      if (trees.hops[0].edges[r * k + j] >= 0) {
        picks.push_back(static_cast<vertex_id>(trees.hops[0].edges[r * k + j]));
      }
    }
    if (!ordered) { std::sort(picks.begin(), picks.end()); }
    ++counts[picks];
  }
  return counts;
}

constexpr std::int64_t many_roots = 150'000;

TEST(KhopDistribution, SubsetsAreUniform)
{
  if (is_sanitized) { GTEST_SKIP() << statistics_only; }
  graph const g = make_star(std::vector<float>(6, 1.0F));
  for (std::int64_t k = 1; k <= 6; ++k) {
    EXPECT_TRUE(fits(count_picks(g, {}, k, many_roots, false),
                     unordered(exact_picks(std::vector<double>(6, 1.0), static_cast<std::size_t>(k), false))));
  }
  EXPECT_TRUE(
      fits(count_picks(g, {.replace = true}, 2, many_roots, true), exact_picks(std::vector<double>(6, 1.0), 2, true)));
}

TEST(KhopDistribution, WeightedPicks)
{
  if (is_sanitized) { GTEST_SKIP() << statistics_only; }
  std::vector<float> const weights = {1, 4, 0, 0.5F, 2};
  std::vector<double> const exact(weights.begin(), weights.end());
  graph const g = make_star(weights);
  using enum sampling_rule;
  for (std::size_t k = 1; k <= 5; ++k) {  // with 5, all but the edge of weight 0
    EXPECT_TRUE(fits(count_picks(g, {.weighted = true}, static_cast<std::int64_t>(k), many_roots, true),
                     exact_picks(exact, k, false), 0.1));
  }
  for (auto const rule : {alias, its}) {
    khop_params const params{.replace = true, .weighted = true, .rule = rule};
    EXPECT_TRUE(fits(count_picks(g, params, 2, many_roots, true), exact_picks(exact, 2, true)));
  }
}

TEST(KhopDistribution, APlantedBiasIsNoticed)
{
  if (is_sanitized) { GTEST_SKIP() << statistics_only; }
  graph const g = make_star({1, 4, 0, 0.5F, 2});
  EXPECT_FALSE(
      fits(count_picks(g, {.weighted = true}, 2, many_roots, true), exact_picks({1.05, 4, 0, 0.5, 2}, 2, false), 0.1));
  EXPECT_FALSE(fits(count_picks(g, {.replace = true, .weighted = true}, 2, many_roots, true),
                    exact_picks({1, 4, 0, 0.5, 2}, 2, false)));
}

TEST(KhopDistribution, SlotsAndHopsAreIndependent)
{
  graph const g = make_graph(3, {{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}});
  constexpr std::int64_t n = 60'000;
  khop_trees const trees =
      khop_sample(g, std::vector<vertex_id>(static_cast<std::size_t>(n), 0), {.fanouts = {2, 2}, .replace = true});
  std::vector<std::int64_t> counts(64);  // two choices at the root, two at each child: six bits
  for (std::int64_t r = 0; r < n; ++r) {
    std::size_t cell = 0;
    for (std::int64_t j = 0; j < 2; ++j) {
      vertex_id const child = trees.hops[0].vertices[2 * r + j];
      cell = 2 * cell + (child == 2 ? 1U : 0U);
      for (std::int64_t i = 0; i < 2; ++i) {
        cell = 2 * cell + (trees.hops[1].vertices[4 * r + 2 * j + i] == 0 ? 1U : 0U);
      }
    }
    ++counts[cell];
  }
  expect_distribution(counts, std::vector<double>(64, 1.0), 0.08);
}

class KhopHub : public hub_test {
 protected:
  static std::vector<std::uint32_t> picks(khop_params params, std::int64_t fanout, std::size_t num_roots)
  {
    params.fanouts = {fanout};
    khop_trees const trees = khop_sample(*hub, std::vector<vertex_id>(num_roots, 0), params, {}, 0, true);
    EXPECT_EQ(trees.hops[0].edges.size(), fanout * static_cast<std::int64_t>(num_roots));
    return {trees.hops[0].edges.begin(), trees.hops[0].edges.end()};
  }
};

TEST_F(KhopHub, Uniform)
{
  expect_drawn(picks({}, 20, 10'000), false, 0.04);
  expect_drawn(picks({}, 1000, 200), false, 0.04);
  expect_drawn(picks({.replace = true}, 20, 10'000), false, 0.04);
}

TEST_F(KhopHub, WeightedWithReplacement)
{
  if (is_sanitized) { GTEST_SKIP() << statistics_only; }
  for (auto const rule : {sampling_rule::alias, sampling_rule::its}) {
    expect_drawn(picks({.replace = true, .weighted = true, .rule = rule}, 50'000, 4), true, 0.04);
  }
}

// 4,096 of four million: so few that successive draws without replacement are as good as independent ones.
TEST_F(KhopHub, WeightedWithoutReplacement)
{
  if (is_sanitized) { GTEST_SKIP() << statistics_only; }
  expect_drawn(picks({.weighted = true}, 4096, 8), true, 0.1);
}

}  // namespace
}  // namespace tendril::test
