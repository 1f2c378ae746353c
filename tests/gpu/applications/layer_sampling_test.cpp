// Layer sampling on a GPU: the CPU's bytes by every executor, for roots on hubs and in dead ends; plans say what runs.

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/generate.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/layer_sampling.hpp>
#include <tendril/starts.hpp>

#include "support/compare_samples.hpp"
#include "support/gpu_forms.hpp"
#include "support/gpu_test.hpp"

namespace tendril {
namespace {

class LayerSamplingOnGpu : public test::gpu_test {};

TEST_F(LayerSamplingOnGpu, IsTheCpus)
{
  std::vector<graph> graphs;
  graphs.push_back(generate_rmat({.scale = 12, .edge_factor = 8, .seed = 3}, {.symmetrize = true}, {}));
  graphs.push_back(generate_regular(regular_graph::star, 5000));
  graphs.push_back(generate_er({.num_vertices = 50, .num_edges = 0}, {}, {}));
  struct shape {
    std::int64_t num_samples, num_roots, layer_size, max_size;
    bool unique;
  };
  for (auto const& host : graphs) {
    graph const there = to_gpu(host, exec);
    graph const partly_there = test::partly_on_gpu(host, 0.3, exec, {.policy = placement_policy::degree});
    for (shape const s : {shape{1, 1, 1000, 2000, false}, shape{300, 1, 64, 200, false}, shape{40, 7, 33, 100, true},
                          shape{5000, 1, 5, 12, false}, shape{0, 1, 5, 12, false}}) {
      for (auto const executor :
           {sampling_executor::automatic, sampling_executor::sample_parallel, sampling_executor::transit_parallel}) {
        SCOPED_TRACE(testing::Message() << host.num_vertices() << " vertices, " << s.num_samples << " samples of "
                                        << s.num_roots << " roots, executor " << to_string(executor));
        layer_params params;
        params.layer_size = s.layer_size;
        params.max_size = s.max_size;
        params.max_steps = s.unique ? 5 : 0;
        params.unique = s.unique;
        params.seed = 4;
        params.executor = executor;
        auto const roots = random_vertices(host.num_vertices(), s.num_samples * s.num_roots, 5);
        auto const roots_there = copy_to_gpu(roots.span(), exec);
        auto const made = layer_sample(there, roots_there.span(), s.num_roots, params, exec, 11);
        auto const expected = layer_sample(host, roots.span(), s.num_roots, params, {}, 11);
        test::expect_same_samples(expected, made, &exec);
        test::expect_same_samples(expected,
                                  layer_sample(partly_there, roots_there.span(), s.num_roots, params, exec, 11), &exec);
        auto const steps = plan_layer_sample(there, s.num_samples, s.num_roots, params, exec);
        ASSERT_EQ(steps.size(), made.steps.size());
        for (auto const& step : steps) {
          EXPECT_EQ(step.num_slots, s.layer_size);
          EXPECT_FALSE(step.reason.empty());
          if (executor != sampling_executor::automatic) {
            EXPECT_EQ(step.executor, executor);
            EXPECT_EQ(step.reason, "asked for");
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tendril
