// Walks by the samplers of gpu/picks/comparison_samplers.cuh, in the engine of dynamic walks. Their distribution: tests/gpu.

#include <tendril/engine/walks/gpu.cuh>
#include <tendril/error.hpp>

#include "gpu/picks/comparison_samplers.cuh"
#include "gpu/walks/scan_walk.hpp"

namespace tendril::gpu {
namespace {

template <template <class, class> class Sampler, class W>
void launch(W const& walk, walk_job const& job, walk_batch const& batch, walk_shape const& shape,
            engine::dynamic_tuning const& tuning)
{
  gpu_exec const exec{shape.device, shape.stream, nullptr};
  engine::dynamic_setup<graph_view> const setup = scan_setup(job, batch, shape);
  setup.graph.visit([&](auto const& view) {
    engine::launch_by<Sampler>(walk, engine::setup_with(setup, view), scan_batch(batch, shape), tuning, exec);
  });
}

}  // namespace

void comparison_walk(comparison sampler, walk_job const& job, walk_batch const& batch, walk_shape const& shape,
                     engine::dynamic_tuning const& tuning)
{
  if (!job.weighted) { throw argument_error("comparison_walk: weighted: false, expected a weighted walk"); }
  core::with_walk<true>(scan_choice(job), [&](auto const& walk) {
    switch (sampler) {
      case comparison::direct_reservoir: launch<direct_reservoir>(walk, job, batch, shape, tuning); break;
      case comparison::zigzag_reservoir: launch<zigzag_reservoir>(walk, job, batch, shape, tuning); break;
      case comparison::exponential_jumps: launch<exponential_jumps>(walk, job, batch, shape, tuning); break;
    }
  });
}

}  // namespace tendril::gpu
