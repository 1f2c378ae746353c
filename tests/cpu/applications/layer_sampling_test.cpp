// Layer sampling on the CPU: what apps::layer grows; samples end where they say they do; plans; errors.

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <tendril/engine/applications/apps.hpp>
#include <tendril/engine/applications/cpu.hpp>
#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/layer_sampling.hpp>
#include <tendril/starts.hpp>

#include "support/compare_samples.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril {
namespace {

graph rmat() { return generate_rmat({.scale = 10, .edge_factor = 8, .seed = 3}, {.symmetrize = true}, {}); }

TEST(LayerSampling, IsTheGeneralEnginesLayer)
{
  graph const g = rmat();
  auto const roots = random_vertices(g.num_vertices(), 60, 1);
  layer_params params;
  params.layer_size = 30;
  params.max_size = 100;
  params.seed = 9;
  application_params general;
  general.seed = 9;
  general.max_steps = 4;
  test::expect_same_samples(run_application(g, apps::layer{30, 100}, roots.span(), 3, general, {}, 5),
                            layer_sample(g, roots.span(), 3, params, {}, 5));
}

/// Every vertex is a neighbour of a vertex of the step before; sizes count them; no sample has more than max_size.
void verify(graph const& g, std::span<vertex_id const> roots, std::int64_t num_roots, layer_params const& params,
            samples const& made)
{
  for (std::int64_t i = 0; i < made.num_samples; ++i) {
    std::set<vertex_id> reachable;
    auto const reach = [&](vertex_id v) {
      for (vertex_id const u : csr_view(g.csr()).out_neigh(v)) { reachable.insert(u); }
    };
    for (std::int64_t k = 0; k < num_roots; ++k) { reach(roots[static_cast<std::size_t>(i * num_roots + k)]); }
    std::int64_t total = 0;
    for (auto const& step : made.steps) {
      ASSERT_EQ(step.num_slots, params.layer_size);
      std::vector<vertex_id> added;
      for (std::int64_t k = 0; k < step.num_slots; ++k) {
        vertex_id const v = step.vertices[i * step.num_slots + k];
        if (v != no_vertex) { added.push_back(v); }
      }
      ASSERT_EQ(static_cast<std::int64_t>(added.size()), step.sizes[i]);
      for (vertex_id const v : added) { ASSERT_TRUE(reachable.contains(v)) << "sample " << i; }
      std::int64_t const room = std::min(params.layer_size, params.max_size - total);
      if (params.unique) {
        std::set<vertex_id> const different(added.begin(), added.end());
        ASSERT_EQ(different.size(), added.size());
        ASSERT_LE(static_cast<std::int64_t>(added.size()), room);
      } else {
        ASSERT_EQ(static_cast<std::int64_t>(added.size()), reachable.empty() ? 0 : room);
      }
      total += static_cast<std::int64_t>(added.size());
      reachable.clear();
      for (vertex_id const v : added) { reach(v); }
    }
  }
}

TEST(LayerSampling, DrawsNeighboursUntilSamplesAreFull)
{
  for (bool const unique : {false, true}) {
    for (std::int64_t const num_roots : {1, 5}) {
      graph const g = rmat();
      auto const roots = random_vertices(g.num_vertices(), 40 * num_roots, 2);
      layer_params params;
      params.layer_size = 7;
      params.max_size = 24;
      params.max_steps = unique ? 6 : 0;
      params.unique = unique;
      auto const made = layer_sample(g, roots.span(), num_roots, params);
      EXPECT_EQ(made.steps.size(), unique ? 6U : 4U);
      verify(g, roots.span(), num_roots, params, made);
    }
  }
}

TEST(LayerSampling, IsPlannedWithoutRunning)
{
  graph const g = rmat();
  layer_params params;
  params.layer_size = 7;
  params.max_size = 24;
  auto const steps = plan_layer_sample(g, 10, 3, params);
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_EQ(steps[0].num_transits, 3);
  EXPECT_EQ(steps[1].num_transits, 7);
  EXPECT_EQ(steps[1].num_slots, 7);
  EXPECT_EQ(steps[1].executor, sampling_executor::sample_parallel);
  EXPECT_EQ(steps[1].reason, "on the CPU a thread grows a sample, step by step");
}

TEST(LayerSampling, SaysWhatIsWrong)
{
  graph const g = rmat();
  std::vector<vertex_id> const roots{0, 1, 2};
  auto const say = [&](auto change) {
    layer_params params;
    change(params);
    return test::message_of<argument_error>([&] { (void)layer_sample(g, roots, 1, params); });
  };
  EXPECT_EQ(say([](auto& p) { p.layer_size = 0; }), "layer_size: 0, expected 1 to 2147483647 vertices");
  EXPECT_EQ(say([](auto& p) { p.max_size = 0; }), "max_size: 0, expected 1 to 2147483647 vertices");
  EXPECT_EQ(say([](auto& p) { p.max_steps = -1; }),
            "max_steps: -1, expected 1 or more, or 0 for max_size / layer_size");
  EXPECT_EQ(test::message_of<argument_error>([&] { (void)plan_layer_sample(g, -1, 1, {}); }),
            "num_samples: -1, expected 0 or more");
  EXPECT_EQ(test::message_of<argument_error>([] { (void)parse_name<sampling_executor>("executor", "fast"); }),
            "executor: 'fast', expected auto, sample or transit");
  for (auto const name : {"auto", "sample", "transit"}) {
    EXPECT_EQ(to_string(parse_name<sampling_executor>("executor", name)), name);
  }
}

}  // namespace
}  // namespace tendril
