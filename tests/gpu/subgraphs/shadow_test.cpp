// ShaDow's samples of the GPU are the CPU's, to the byte, wherever the sets of their vertices lie and however the seeds
// are split. Bad input gives the CPU's lines.

#include <random>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/shadow.hpp>

#include "gpu/subgraphs/subgraph_support.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_forms.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

class ShadowOnGpu : public gpu_test {
 protected:
  void compare(graph const& g, std::vector<vertex_id> const& seeds, shadow_params const& params) const
  {
    SCOPED_TRACE(::testing::Message() << seeds.size() << " seeds, " << params.depth << " hops of "
                                      << params.num_neighbors << (params.replace ? ", with replacement" : ""));
    std::int64_t const first = 0xfffffff0LL;
    auto const from = on_gpu(seeds, exec);
    subgraphs const expected = shadow_sample(g, seeds, params, {}, first);
    for (auto const& there : all_forms_on_gpu(g, exec)) {
      expect_same_subgraphs(shadow_sample(there, from.span(), params, exec, first), expected);
    }
  }

  static std::vector<vertex_id> random_seeds(graph const& g, std::size_t count)
  {
    std::mt19937_64 random(count);
    std::vector<vertex_id> out(count);
    for (auto& v : out) { v = static_cast<vertex_id>(random() % static_cast<std::uint64_t>(g.num_vertices())); }
    return out;
  }
};

TEST_F(ShadowOnGpu, IsTheCpusOnTheZoo)
{
  graph const g = make_zoo(1);
  auto const seeds = starts_everywhere(g, 3);
  for (bool const replace : {false, true}) {
    for (std::int64_t const depth : {1, 2, 3, 64}) {
      for (std::int64_t const k : {1, 2, 3, 7, 33, 1000, 1024}) {
        compare(g, seeds, {.depth = depth, .num_neighbors = k, .replace = replace, .seed = 3});
      }
    }
  }
}

TEST_F(ShadowOnGpu, IsTheCpusOnASkewedGraph)
{
  graph const g = generate_rmat({.scale = 15, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, {});
  compare(g, random_seeds(g, 3000), {.depth = 2, .num_neighbors = 10});
  compare(g, random_seeds(g, 3000), {.depth = 2, .num_neighbors = 5});  // samples of at most 31
  compare(g, random_seeds(g, 500), {.depth = 2, .num_neighbors = 20, .replace = true});
  compare(g, random_seeds(g, 50'000), {.depth = 1, .num_neighbors = 3});
}

TEST_F(ShadowOnGpu, IsTheCpusWhereSetsDontFitSharedMemory)
{
  graph const g = generate_rmat({.scale = 15, .edge_factor = 16, .seed = 4}, {.symmetrize = true}, {});
  compare(g, random_seeds(g, 200), {.depth = 3, .num_neighbors = 20});
  compare(g, random_seeds(g, 30), {.depth = 4, .num_neighbors = 30, .replace = true});
  compare(g, random_seeds(g, 20), {.depth = 2, .num_neighbors = 1024});
}

TEST_F(ShadowOnGpu, IsTheCpusBesideAHub)
{
  graph const star = make_star(std::vector<float>(1'000'003, 1));
  std::vector<vertex_id> seeds(300, 0);
  seeds[7] = 1'000'003;
  compare(star, seeds, {.depth = 2, .num_neighbors = 50});
  compare(star, seeds, {.depth = 2, .num_neighbors = 63, .replace = true});
}

TEST_F(ShadowOnGpu, NoSeedsAndIsolatedSeeds)
{
  compare(make_graph(4, {{1, 1}}), {3, 1, 3}, {});
  compare(make_graph(4, {}), {}, {});
  compare(graph(), {}, {});
}

TEST_F(ShadowOnGpu, RefusesWhatTheCpuRefuses)
{
  graph const g = make_graph(3, {{0, 1}});
  graph const there = to_gpu(g, exec);
  auto const error = [&](std::vector<vertex_id> const& seeds, shadow_params const& params) {
    auto const from = on_gpu(seeds, exec);
    return message_of<argument_error>([&] { (void)shadow_sample(there, from.span(), params, exec); });
  };
  EXPECT_EQ(error({0}, {.depth = 0}), "depth: 0, expected 1 to 64 hops");
  EXPECT_EQ(error({0}, {.num_neighbors = 1025}), "num_neighbors: 1025, expected 1 to 1024");
  EXPECT_EQ(error({0, 3, 9}, {}), "seed 1: vertex 3 is out of range, the graph has 3 vertices");
  EXPECT_EQ(message_of<argument_error>([&] { (void)shadow_sample(g, {}, {}, exec); }),
            "graph: it is in host memory, expected one on GPU 0 (to_gpu)");
  compare(g, {0, 1, 2}, {});
}

}  // namespace
}  // namespace tendril::test
