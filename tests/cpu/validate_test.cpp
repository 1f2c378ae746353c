// Parameters are checked without a graph: validate() says what every call that takes them says.

#include <cmath>

#include <gtest/gtest.h>

#include <tendril/dynamic_walk.hpp>
#include <tendril/labor.hpp>
#include <tendril/layer_sampling.hpp>
#include <tendril/layers.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/multidim.hpp>
#include <tendril/mvs.hpp>
#include <tendril/saint.hpp>
#include <tendril/sample.hpp>
#include <tendril/shadow.hpp>
#include <tendril/walk.hpp>

#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

template <class... Arguments>
std::string complaint(Arguments const&... arguments)
{
  return message_of<argument_error>([&] { validate(arguments...); });
}

TEST(Validate, TheDefaultsAreValid)
{
  EXPECT_NO_THROW(validate(walk_params{}));
  EXPECT_NO_THROW(validate(dynamic_walk_params{}));
  EXPECT_NO_THROW(validate(multidim_params{}, 1));
  EXPECT_NO_THROW(validate(khop_params{}));
  EXPECT_NO_THROW(validate(minibatch_params{}));
  EXPECT_NO_THROW(validate(layer_params{}));
  EXPECT_NO_THROW(validate(fastgcn_params{}, 1));
  EXPECT_NO_THROW(validate(ladies_params{}, 1));
  EXPECT_NO_THROW(validate(mvs_params{}));
  EXPECT_NO_THROW(validate(labor_params{}));
  EXPECT_NO_THROW(validate(shadow_params{}));
  EXPECT_NO_THROW(validate(saint_params{}));
}

TEST(Validate, EveryApplicationOfTheTestsIsValid)
{
  for (auto const& app : all_applications(10)) { EXPECT_NO_THROW(validate(app.params)) << app.name; }
}

TEST(Validate, Walks)
{
  using enum sampling_rule;
  EXPECT_EQ(complaint(walk_params{.length = 0}), "length: 0, expected 1 to 2147483646 steps");
  EXPECT_EQ(complaint(walk_params{.length = 2147483647}), "length: 2147483647, expected 1 to 2147483646 steps");
  EXPECT_EQ(complaint(walk_params{.stop_prob = 1.5}), "stop_prob: 1.5, expected a probability in [0, 1]");
  EXPECT_EQ(complaint(walk_params{.restart_prob = -0.5}), "restart_prob: -0.5, expected a probability in [0, 1]");
  EXPECT_EQ(complaint(walk_params{.stop_prob = std::nan("")}), "stop_prob: nan, expected a probability in [0, 1]");
  EXPECT_EQ(complaint(walk_params{.p = 0}), "p: 0, expected a number from 1e-9 to 1e9");
  EXPECT_EQ(complaint(walk_params{.q = INFINITY}), "q: inf, expected a number from 1e-9 to 1e9");
  EXPECT_EQ(complaint(walk_params{.p = 2, .metapath = {0}}),
            "metapath: can't be combined with p and q, expected one of the two");
  EXPECT_EQ(complaint(walk_params{.second_order = true, .metapath = {0}}),
            "metapath: can't be combined with p and q, expected one of the two");
  EXPECT_EQ(complaint(walk_params{.rule = alias}),
            "rule alias: not for unweighted walks, expected auto, uniform or scan");
}

TEST(Validate, DynamicWalks)
{
  EXPECT_EQ(complaint(dynamic_walk_params{.length = 0}), "length: 0, expected 1 to 2147483646 steps");
  EXPECT_EQ(complaint(dynamic_walk_params{.stop_prob = 2}), "stop_prob: 2, expected a probability in [0, 1]");
  EXPECT_EQ(complaint(dynamic_walk_params{.rule = sampling_rule::alias}),
            "rule alias: not for dynamic walks, expected auto, scan or reject");
}

TEST(Validate, MultidimensionalWalks)
{
  EXPECT_EQ(complaint(multidim_params{.length = 0}, 1), "length: 0, expected 1 to 2147483646 steps");
  EXPECT_EQ(complaint(multidim_params{}, 0), "num_roots: 0, expected 1 to 65535 roots a sample");
  EXPECT_EQ(complaint(multidim_params{}, 65536), "num_roots: 65536, expected 1 to 65535 roots a sample");
}

TEST(Validate, Trees)
{
  using enum sampling_rule;
  EXPECT_EQ(complaint(khop_params{.fanouts = {}}), "fanouts: none given, expected one a hop");
  EXPECT_EQ(complaint(khop_params{.fanouts = {3, 0}}),
            "fanouts: 0 at hop 2, expected 1 or more, or -1 for all neighbours");
  EXPECT_EQ(complaint(khop_params{.fanouts = {1 << 16, 1 << 16}}), "fanouts: more than 2^31 slots a tree at hop 2");
  EXPECT_EQ(complaint(khop_params{.fanouts = {std::int64_t{1} << 62U, std::int64_t{1} << 62U}}),
            "fanouts: more than 2^31 slots a tree at hop 1");
  EXPECT_EQ(complaint(khop_params{.rule = its}), "rule its: not for unweighted trees, expected auto or uniform");
  EXPECT_EQ(complaint(khop_params{.weighted = true, .rule = its}),
            "rule its: not for weighted trees without replacement, expected auto or scan");
  EXPECT_EQ(complaint(khop_params{.replace = true, .weighted = true, .rule = reject}),
            "rule reject: not for weighted trees with replacement, expected auto, alias or its");
}

TEST(Validate, Minibatches)
{
  EXPECT_EQ(complaint(minibatch_params{.num_neighbors = {}}), "num_neighbors: none given, expected one a hop");
  EXPECT_EQ(complaint(minibatch_params{.num_neighbors = {3, -2}}),
            "num_neighbors: -2 at hop 2, expected 0 to 2147483647, or -1 for all neighbours");
  EXPECT_EQ(complaint(minibatch_params{.num_neighbors = std::vector<std::int64_t>(65536, 1)}),
            "num_neighbors: 65536 hops, expected at most 65535");
  EXPECT_EQ(complaint(minibatch_params{.num_neighbors_of_type = {{1, 2}, {1}}}),
            "num_neighbors_of_type: 1 hops of edge type 1, but 2 of edge type 0, expected as many");
  EXPECT_EQ(complaint(minibatch_params{.num_neighbors_of_type = {{1}, {-5}}}),
            "num_neighbors_of_type: -5 at hop 1 of edge type 1, expected 0 to 2147483647, or -1 for all neighbours");
}

TEST(Validate, Layers)
{
  EXPECT_EQ(complaint(layer_params{.layer_size = 0}), "layer_size: 0, expected 1 to 2147483647 vertices");
  EXPECT_EQ(complaint(layer_params{.max_size = -1}), "max_size: -1, expected 1 to 2147483647 vertices");
  EXPECT_EQ(complaint(layer_params{.max_steps = -1}),
            "max_steps: -1, expected 1 or more, or 0 for max_size / layer_size");
  EXPECT_EQ(complaint(fastgcn_params{.num_layers = 65536}, 1), "num_layers: 65536, expected 1 to 65535");
  EXPECT_EQ(complaint(fastgcn_params{}, 16385), "batch_size: 16385, expected 1 to 16384 roots");
  EXPECT_EQ(complaint(ladies_params{.layer_size = 0}, 1), "layer_size: 0, expected 1 to 16384 vertices");
  EXPECT_EQ(complaint(ladies_params{}, 0), "batch_size: 0, expected 1 to 16384 roots");
  EXPECT_EQ(complaint(mvs_params{.batch_size = 0}), "batch_size: 0, expected 1 to 16384 vertices");
  EXPECT_EQ(complaint(labor_params{.fanouts = {}}), "fanouts: none given, expected one a hop");
  EXPECT_EQ(complaint(labor_params{.fanouts = {3, -2}}),
            "fanouts: -2 at hop 2, expected 1 or more, or -1 for all neighbours");
}

TEST(Validate, Subgraphs)
{
  EXPECT_EQ(complaint(shadow_params{.depth = 0}), "depth: 0, expected 1 to 64 hops");
  EXPECT_EQ(complaint(shadow_params{.num_neighbors = 1025}), "num_neighbors: 1025, expected 1 to 1024");
  EXPECT_EQ(complaint(saint_params{.budget = 0}), "budget: 0, expected 1 to 2147483647");
  EXPECT_EQ(complaint(saint_params{.length = 1001}), "length: 1001, expected 0 to 1000 steps");
  EXPECT_EQ(complaint(saint_params{.sampler = saint_sampler::edge, .budget = 2'000'000'000}),
            "budget: 2000000000 draws 4000000000 vertices, expected at most 2147483647");
}

TEST(Validate, WeightsNeedAGraphThatHasThem)
{
  graph const g = make_graph(2, {{0, 1}}, {.weights = false});
  constexpr auto line = "matrix: the graph has no weights, expected one an edge";
  fastgcn_params const fastgcn{.matrix = propagation::weights};
  ladies_params const ladies{.matrix = propagation::weights};
  saint_params const saint{.sampler = saint_sampler::node, .matrix = propagation::weights};
  EXPECT_NO_THROW(validate(fastgcn, 1));
  EXPECT_NO_THROW(validate(ladies, 1));
  EXPECT_NO_THROW(validate(saint));
  EXPECT_EQ(complaint(fastgcn, g, 1), line);
  EXPECT_EQ(complaint(ladies, g, 1), line);
  EXPECT_EQ(complaint(saint, g), line);
}

}  // namespace
}  // namespace tendril::test
