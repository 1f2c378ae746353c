// Metapath walks that read labels at the step: one warp per walker, by the engine of dynamic walks
// (tendril/engine/walks/scan_kernel.cuh). A step goes over the labels of the whole row a few times, 32 edges at a time:
// slower than rows that are grouped by label, and without their 4 to 8 bytes an edge. The rules: src/core/labelled_row.hpp.
// CPU twin: src/cpu/walks/scalar_step.hpp, which lists the edges with the label.

#include <tendril/engine/walks/gpu.cuh>

#include "gpu/walks/label_sampler.cuh"
#include "gpu/walks/scan_walk.hpp"

namespace tendril::gpu {
namespace {

template <core::labelled_rule rule, bool of_types>
void launch(walk_job const& job, walk_batch const& batch, walk_shape const& shape, engine::dynamic_tuning const& tuning)
{
  using walk_type = core::metapath_weights<rule != core::labelled_rule::uniform, of_types>;
  walk_type const walk{job.metapath.schema, job.metapath.size, job.metapath.first_type};
  gpu_exec const exec{shape.device, shape.stream, nullptr};
  engine::dynamic_setup<graph_view> const setup = scan_setup(job, batch, shape);
  setup.graph.visit([&]<class View>(View const& view) {
    engine::launch_by<choose_by<rule>::template sampler>(walk, engine::setup_with(setup, view),
                                                         scan_batch(batch, shape), tuning, exec);
  });
}

template <bool of_types>
void launch_by_rule(walk_job const& job, walk_batch const& batch, walk_shape const& shape,
                    engine::dynamic_tuning const& tuning)
{
  using enum core::labelled_rule;
  switch (job.rule) {
    case sampling_rule::reject: launch<reject, of_types>(job, batch, shape, tuning); break;
    case sampling_rule::alias: launch<alias, of_types>(job, batch, shape, tuning); break;
    case sampling_rule::its: launch<its, of_types>(job, batch, shape, tuning); break;
    case sampling_rule::scan:  // scan_walk's
    case sampling_rule::automatic:
    case sampling_rule::uniform: launch<uniform, of_types>(job, batch, shape, tuning); break;
  }
}

}  // namespace

void label_walk(walk_job const& job, walk_batch const& batch, walk_shape const& shape,
                engine::dynamic_tuning const& tuning)
{
  if (job.metapath.of_vertices) {
    launch_by_rule<true>(job, batch, shape, tuning);
  } else {
    launch_by_rule<false>(job, batch, shape, tuning);
  }
}

}  // namespace tendril::gpu
