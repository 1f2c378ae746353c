// ShaDow's samples follow their definition to the draw, their draws are uniform, and their edges are all those between
// their vertices, on graphs of any shape. Bad input gives one clear line.

#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/shadow.hpp>

#include "core/random.hpp"
#include "cpu/subgraphs/subgraph_verifier.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"
#include "support/statistics.hpp"

namespace tendril::test {
namespace {

std::vector<vertex_id> node_list_of(subgraphs const& samples, std::int64_t s)
{
  return {samples.nodes.data() + samples.node_offsets[s], samples.nodes.data() + samples.node_offsets[s + 1]};
}

/// The vertices of one sample, from the definition.
std::vector<vertex_id> reference(graph const& g, vertex_id seed, shadow_params const& params, std::uint64_t item)
{
  csr_arrays const view = g.csr();
  auto const k = static_cast<std::uint32_t>(params.num_neighbors);
  std::vector<vertex_id> nodes = {seed};
  std::size_t begin = 0;
  for (std::int64_t hop = 1; hop <= params.depth; ++hop) {
    rng_key const key = core::make_key(params.seed, core::domain::shadow, static_cast<std::uint64_t>(hop));
    std::size_t const end = nodes.size();
    for (std::size_t i = begin; i < end; ++i) {
      std::uint32_t const degree = view.degree(nodes[i]);
      std::vector<std::uint32_t> picks;
      if (!params.replace && degree <= k) {
        picks.resize(degree);
        std::iota(picks.begin(), picks.end(), 0U);
      } else if (degree > 0) {
        for (std::uint32_t j = 0; j < k; ++j) {
          auto const block = core::draw_block(key, item, static_cast<std::uint32_t>(i), j / 2);
          std::uint64_t const bits = j % 2 == 0 ? block.low() : block.high();
          std::uint32_t const last = degree - k + j;
          std::uint32_t const pick = core::bounded(bits, params.replace ? degree : last + 1);
          bool const taken = !params.replace && std::find(picks.begin(), picks.end(), pick) != picks.end();
          picks.push_back(taken ? last : pick);
        }
      }
      for (auto const pick : picks) {
        vertex_id const v = view.neighbor(nodes[i], pick);
        if (std::find(nodes.begin(), nodes.end(), v) == nodes.end()) { nodes.push_back(v); }
      }
    }
    begin = end;
  }
  return nodes;
}

void check(graph const& g, std::vector<vertex_id> const& seeds, shadow_params const& params)
{
  std::int64_t const first = 0xfffffffeLL;  // logical ids cross 2^32
  subgraphs const out = shadow_sample(g, seeds, params, {}, first);
  ASSERT_EQ(out.num_samples, static_cast<std::int64_t>(seeds.size()));
  verify_subgraphs(g, out);
  for (std::size_t s = 0; s < seeds.size(); ++s) {
    EXPECT_EQ(node_list_of(out, static_cast<std::int64_t>(s)),
              reference(g, seeds[s], params, static_cast<std::uint64_t>(first) + s));
  }
}

TEST(Shadow, FollowsItsDefinition)
{
  for (std::uint64_t const seed : {1U, 2U}) {
    graph const g = make_zoo(seed);
    auto const seeds = starts_everywhere(g, 2);
    for (bool const replace : {false, true}) {
      for (std::int64_t const depth : {1, 2, 5, 64}) {
        for (std::int64_t const k : {1, 3, 10, 1024}) {
          if (depth > 2 && k > 100) { continue; }
          check(g, seeds, {.depth = depth, .num_neighbors = k, .replace = replace, .seed = seed});
        }
      }
    }
  }
}

TEST(Shadow, FollowsItsDefinitionOnASkewedGraph)
{
  graph const g = generate_rmat({.scale = 11, .edge_factor = 12, .seed = 3}, {.symmetrize = true}, {});
  std::vector<vertex_id> seeds(100);
  std::iota(seeds.begin(), seeds.end(), 0U);
  check(g, seeds, {.depth = 2, .num_neighbors = 10});
  check(g, seeds, {.depth = 3, .num_neighbors = 7, .replace = true});
}

TEST(Shadow, AHubGivesNoMoreThanItIsAskedFor)
{
  graph const star = make_star(std::vector<float>(100'000, 1));
  subgraphs const out = shadow_sample(star, std::vector<vertex_id>{0, 5}, {.depth = 3, .num_neighbors = 1000});
  EXPECT_EQ(out.node_offsets[1], 1001);
  EXPECT_EQ(out.node_offsets[2], 1002);
  verify_subgraphs(star, out);
}

/// How often each set of reached vertices comes from vertex 0, which has the neighbours 1 to 5.
std::map<std::set<vertex_id>, std::int64_t> count_sets(bool replace, std::int64_t samples)
{
  graph const star = make_star(std::vector<float>(5, 1));
  std::vector<vertex_id> const seeds(static_cast<std::size_t>(samples), 0);
  subgraphs const out = shadow_sample(star, seeds, {.depth = 1, .num_neighbors = 2, .replace = replace, .seed = 4});
  std::map<std::set<vertex_id>, std::int64_t> counts;
  for (std::int64_t s = 0; s < samples; ++s) {
    auto const nodes = node_list_of(out, s);
    ++counts[std::set<vertex_id>(nodes.begin() + 1, nodes.end())];
  }
  return counts;
}

TEST(Shadow, DrawsAreUniform)
{
  constexpr std::int64_t samples = 100'000;
  for (bool const replace : {false, true}) {
    auto counted = count_sets(replace, samples);
    std::vector<std::int64_t> counts;
    std::vector<double> right;
    std::vector<double> wrong;  // of the other kind of draws
    for (vertex_id a = 1; a <= 5; ++a) {
      for (vertex_id b = a; b <= 5; ++b) {
        counts.push_back(counted[{a, b}]);
        double const with = a == b ? 1.0 : 2.0;
        double const without = a == b ? 0.0 : 1.0;
        right.push_back(replace ? with : without);
        wrong.push_back(replace ? without : with);
      }
    }
    EXPECT_TRUE(drawn_from(counts, right, 0.05));
    EXPECT_FALSE(drawn_from(counts, wrong, 0.05));
  }
}

TEST(Shadow, DrawsOfHopsPositionsAndSamplesDiffer)
{
  // Two hubs that share their neighbours: what one gives says nothing of what the other gives.
  std::vector<test_edge> edges = {{0, 1}};
  for (vertex_id v = 2; v < 18; ++v) { edges.push_back({1, v}); }
  graph const g = make_graph(18, edges);
  constexpr std::int64_t samples = 40'000;
  std::vector<vertex_id> const seeds(samples, 0);
  subgraphs const far = shadow_sample(g, seeds, {.depth = 2, .num_neighbors = 1});
  subgraphs const near = shadow_sample(g, std::vector<vertex_id>(samples, 1), {.depth = 1, .num_neighbors = 1});
  std::vector<std::int64_t> pairs(256);
  for (std::int64_t s = 0; s < samples; ++s) {
    ASSERT_EQ(node_list_of(far, s).size(), 3U);
    ASSERT_EQ(node_list_of(near, s).size(), 2U);
    ++pairs[(node_list_of(far, s)[2] - 2) * 16 + node_list_of(near, s)[1] - 2];
  }
  EXPECT_TRUE(drawn_from(pairs, std::vector<double>(256, 1.0), 0.15));
  for (std::int64_t s = 0; s < samples; ++s) {  // were they the same draws, they would pick the same
    --pairs[(node_list_of(far, s)[2] - 2) * 16 + node_list_of(near, s)[1] - 2];
    ++pairs[(node_list_of(far, s)[2] - 2) * 17];
  }
  EXPECT_FALSE(drawn_from(pairs, std::vector<double>(256, 1.0), 0.15));
}

TEST(Shadow, ThreadsAndBatchesDontChangeIt)
{
  graph const g = make_zoo(5);
  auto const seeds = starts_everywhere(g, 3);
  shadow_params const params{.depth = 3, .num_neighbors = 4, .seed = 7};
  subgraphs const whole = shadow_sample(g, seeds, params, cpu_exec{.num_threads = 1});
  EXPECT_TRUE(same_subgraphs(whole, shadow_sample(g, seeds, params, cpu_exec{.num_threads = 5})));
  for (std::size_t first = 0, size = 1; first < seeds.size(); first += size, size += 30) {
    std::size_t const n = std::min(size, seeds.size() - first);
    subgraphs const part =
        shadow_sample(g, std::span(seeds).subspan(first, n), params, {}, static_cast<std::int64_t>(first));
    std::int64_t const begin = whole.node_offsets[static_cast<std::int64_t>(first)];
    ASSERT_LE(begin + part.nodes.size(), whole.nodes.size());
    EXPECT_TRUE(std::equal(part.nodes.begin(), part.nodes.end(), whole.nodes.data() + begin));
  }
}

TEST(Shadow, NoSeedsAndIsolatedSeeds)
{
  EXPECT_EQ(shadow_sample(graph(), {}, {}).num_samples, 0);
  subgraphs const out = shadow_sample(make_graph(4, {{1, 1}}), std::vector<vertex_id>{3, 1, 3}, {});
  EXPECT_EQ(out.nodes.size(), 3);
  EXPECT_EQ(out.edges.size(), 1);
}

TEST(Shadow, NamesWhatIsWrong)
{
  graph const g = make_graph(3, {{0, 1}});
  auto const error = [&](std::vector<vertex_id> const& seeds, shadow_params const& params, std::int64_t first = 0) {
    return message_of<argument_error>([&] { (void)shadow_sample(g, seeds, params, {}, first); });
  };
  EXPECT_EQ(error({0}, {.depth = 0}), "depth: 0, expected 1 to 64 hops");
  EXPECT_EQ(error({0}, {.depth = 65}), "depth: 65, expected 1 to 64 hops");
  EXPECT_EQ(error({0}, {.num_neighbors = 0}), "num_neighbors: 0, expected 1 to 1024");
  EXPECT_EQ(error({0}, {.num_neighbors = 1025}), "num_neighbors: 1025, expected 1 to 1024");
  EXPECT_EQ(error({0, 3}, {}), "seed 1: vertex 3 is out of range, the graph has 3 vertices");
  EXPECT_EQ(error({0}, {}, -1), "first_sample: -1, expected 0 to 2^62");
}

}  // namespace
}  // namespace tendril::test
