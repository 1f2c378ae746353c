// GraphSAINT's samples and coefficients of the GPU are the CPU's, to the byte, for every sampler and matrix. Bad input
// gives the CPU's lines.

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/saint.hpp>

#include "gpu/subgraphs/subgraph_support.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_forms.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

using enum saint_sampler;

class SaintOnGpu : public gpu_test {
 protected:
  void compare(graph const& g, std::int64_t budget, std::int64_t num_samples) const
  {
    for (auto const& there : all_forms_on_gpu(g, exec)) {
      std::int64_t const first = 0xfffffff0LL;
      for (auto const sampler : {node, edge, walk}) {
        for (auto const matrix : {propagation::row, propagation::symmetric, propagation::weights}) {
          if (sampler != node && matrix != propagation::row) { continue; }
          if (matrix == propagation::weights && !g.has_weights()) { continue; }
          SCOPED_TRACE(::testing::Message() << num_samples << " samples of " << budget << ", sampler "
                                            << static_cast<int>(sampler) << ", matrix " << static_cast<int>(matrix));
          saint_params const params{.sampler = sampler, .budget = budget, .length = 3, .matrix = matrix, .seed = 5};
          expect_same_subgraphs(saint_sample(there, params, num_samples, exec, first),
                                saint_sample(g, params, num_samples, {}, first));
          expect_same_subgraphs(saint_sample(there, params, num_samples, exec, first, 3),
                                saint_sample(g, params, num_samples, {}, first, 3));
        }
      }
    }
  }

  void compare_coefficients(graph const& g, saint_params const& params, std::int64_t num_samples) const
  {
    saint_coefficients const expected = saint_normalization(g, params, num_samples, {}, 3);
    for (auto const& there : all_forms_on_gpu(g, exec)) {
      saint_coefficients const got = saint_normalization(there, params, num_samples, exec, 3);
      EXPECT_EQ(got.num_samples, expected.num_samples);
      EXPECT_TRUE(same(got.node_counts, expected.node_counts));
      EXPECT_TRUE(same(got.edge_counts, expected.edge_counts));
      EXPECT_TRUE(same(got.loss, expected.loss));
      EXPECT_TRUE(same(got.aggregator, expected.aggregator));
    }
  }
};

TEST_F(SaintOnGpu, SamplesAreTheCpusOnTheZoo)
{
  graph const g = make_zoo(1);
  for (std::int64_t const budget : {1, 2, 9, 50, 2000}) {
    for (std::int64_t const samples : {0, 1, 3, 200}) { compare(g, budget, samples); }
  }
}

TEST_F(SaintOnGpu, SamplesAreTheCpusOnASkewedGraph)
{
  graph const g = generate_rmat({.scale = 15, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, {});
  compare(g, 10, 3000);
  compare(g, 6000, 20);
  compare(g, 50'000, 1);
}

TEST_F(SaintOnGpu, SamplesAreTheCpusBesideAHub)
{
  graph const star = make_star(std::vector<float>(1'000'003, 1));
  compare(star, 15, 100);
  compare(star, 100'000, 2);
}

TEST_F(SaintOnGpu, CoefficientsAreTheCpus)
{
  for (auto const sampler : {node, edge, walk}) {
    compare_coefficients(make_zoo(2), {.sampler = sampler, .budget = 10}, 500);
    graph const g = generate_rmat({.scale = 12, .edge_factor = 8, .seed = 3}, {.symmetrize = true}, {});
    compare_coefficients(g, {.sampler = sampler, .budget = 300}, 50);
    compare_coefficients(g, {.sampler = sampler, .budget = 200'000}, 60);  // in more than one part
  }
}

TEST_F(SaintOnGpu, WhereNothingCanBeDrawn)
{
  for (graph const& g : {graph(), make_graph(3, {}), make_graph(2, {{0, 1, 0.0F}})}) {
    compare(g, 3, 10);
    for (auto const sampler : {node, edge, walk}) { compare_coefficients(g, {.sampler = sampler, .budget = 2}, 4); }
  }
}

TEST_F(SaintOnGpu, RefusesWhatTheCpuRefuses)
{
  graph const g = make_graph(3, {{0, 1}}, {.weights = false});
  graph const there = to_gpu(g, exec);
  auto const error = [&](saint_params const& params, std::int64_t num = 1) {
    return message_of<argument_error>([&] { (void)saint_sample(there, params, num, exec); });
  };
  EXPECT_EQ(error({.budget = 0}), "budget: 0, expected 1 to 2147483647");
  EXPECT_EQ(error({.length = 1001}), "length: 1001, expected 0 to 1000 steps");
  EXPECT_EQ(error({.sampler = node, .matrix = propagation::weights}),
            "matrix: the graph has no weights, expected one an edge");
  EXPECT_EQ(error({}, -1), "num_samples: -1, expected 0 to 4294967295");
  EXPECT_EQ(message_of<argument_error>([&] { (void)saint_sample(g, {}, 1, exec); }),
            "graph: it is in host memory, expected one on GPU 0 (to_gpu)");
}

}  // namespace
}  // namespace tendril::test
