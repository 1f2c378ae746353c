// Bad input to layer-wise sampling gives one clear line.

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/layers.hpp>

#include "cpu/layers/layer_verifier.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

template <class Params>
std::string error(std::vector<vertex_id> const& roots, std::int64_t batch, Params const& params, std::int64_t first = 0)
{
  graph const g = make_graph(3, {{0, 1}, {1, 2}, {2, 0}}, {.weights = false, .labels = false});
  return message_of<argument_error>([&] { (void)sample_layers(g, roots, batch, params, cpu_exec{}, first); });
}

TEST(LayersErrors, NameTheArgumentItsValueAndWhatWasExpected)
{
  EXPECT_EQ(error({0}, 1, fastgcn_params{.num_layers = 0}), "num_layers: 0, expected 1 to 65535");
  EXPECT_EQ(error({0}, 1, ladies_params{.num_layers = 65536}), "num_layers: 65536, expected 1 to 65535");
  EXPECT_EQ(error({0}, 1, ladies_params{.layer_size = 0}), "layer_size: 0, expected 1 to 16384 vertices");
  EXPECT_EQ(error({0}, 1, fastgcn_params{.layer_size = 16385}), "layer_size: 16385, expected 1 to 16384 vertices");
  EXPECT_EQ(error({0}, 0, ladies_params{}), "batch_size: 0, expected 1 to 16384 roots");
  EXPECT_EQ(error({0}, 16385, ladies_params{}), "batch_size: 16385, expected 1 to 16384 roots");
  EXPECT_EQ(error({0, 1, 2}, 2, ladies_params{}), "roots: 3 vertices, expected a multiple of batch_size, 2");
  EXPECT_EQ(error({0, 1, 2, 3}, 2, fastgcn_params{}), "root 3: vertex 3 is out of range, the graph has 3 vertices");
  EXPECT_EQ(error({no_vertex}, 1, ladies_params{}),
            "root 0: vertex 4294967295 is out of range, the graph has 3 vertices");
  EXPECT_EQ(error({0}, 1, ladies_params{}, -1), "first_sample: -1, expected 0 or more");
  EXPECT_EQ(error({0}, 1, ladies_params{.matrix = propagation::weights}),
            "matrix: the graph has no weights, expected one an edge");
}

TEST(LayersErrors, AnEmptyGraphHasNoRoots)
{
  EXPECT_EQ(message_of<argument_error>([] { (void)ladies_sample(graph(), std::vector<vertex_id>{0}, 1, {}); }),
            "root 0: vertex 0 is out of range, the graph has 0 vertices");
}

}  // namespace
}  // namespace tendril::test
