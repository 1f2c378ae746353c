// The walks of examples/ give the same rows on GPU and CPU.

#include <algorithm>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <tendril/engine/walks/cpu.hpp>
#include <tendril/engine/walks/gpu.cuh>
#include <tendril/generate.hpp>

#include "examples/metapath2vec_walk.hpp"
#include "examples/time_decay_walk.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

class ExampleWalksOnGpu : public gpu_test {
 protected:
  template <class W>
  void compare(graph const& g, W const& walk, dynamic_walk_params const& params)
  {
    auto const starts = starts_everywhere(g, 2);
    walks const here = run_dynamic_walk(g, walk, starts, params, cpu_exec{}, 3);
    auto const from = on_gpu(starts, exec);
    walks const there = run_dynamic_walk(to_gpu(g, exec), walk, from.span(), params, exec, 3);
    auto const rows = copied(there.vertices);
    EXPECT_TRUE(std::equal(rows.begin(), rows.end(), here.vertices.begin(), here.vertices.end()));
    EXPECT_GT(*std::max_element(here.lengths.begin(), here.lengths.end()), 3) << "no walk got anywhere";
  }

  graph skewed = generate_rmat({.scale = 11, .seed = 3}, {.symmetrize = true},
                               {.has_weights = true, .num_labels = 3, .num_node_types = 3});
};

TEST_F(ExampleWalksOnGpu, TimeDecay)
{
  for (auto const rule : {sampling_rule::automatic, sampling_rule::scan}) {
    compare(skewed, time_decay_walk{0.25F}, {.length = 30, .stop_prob = 0.01, .rule = rule, .seed = 6});
    compare(make_zoo(11), time_decay_walk{2}, {.length = 30, .rule = rule, .seed = 6});
  }
}

TEST_F(ExampleWalksOnGpu, Metapath2vec)
{
  metapath2vec_walk const walk{{0, 1, 2, 1}, 4};
  compare(skewed, walk, {.length = 30, .restart_prob = 0.05, .seed = 6});
  compare(make_zoo(11), walk, {.length = 30, .dead_ends = dead_end::repeat, .seed = 6});
}

}  // namespace
}  // namespace tendril::test
