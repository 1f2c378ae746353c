// Steps on a part by the rule `scan`, and along metapaths whose labels no table groups: the structs of src/core/walk_apps.hpp.

#include <tendril/engine/walks/launch.hpp>
#include <tendril/engine/walks/part_kernels.cuh>

#include "gpu/walks/label_sampler.cuh"
#include "gpu/walks/parts/scan_on_part.hpp"
#include "gpu/walks/scan_walk.hpp"

namespace tendril::gpu {
namespace {

template <template <class, class> class Sampler, class W, class Transit>
void enqueue(W const& walk, engine::dynamic_setup<Transit> const& setup, engine::part_batch const& batch,
             gpu_exec const& exec)
{
  auto const* const kernel = reinterpret_cast<void const*>(engine::scan_steps_kernel<W, Transit, Sampler>);
  (void)engine::enqueue_steps({kernel, nullptr}, &walk, &setup, false, batch, {}, exec);
}

template <core::labelled_rule rule, class Transit>
void enqueue_by(walk_job const& job, engine::dynamic_setup<Transit> const& setup, engine::part_batch const& batch,
                gpu_exec const& exec)
{
  constexpr bool weighted = rule != core::labelled_rule::uniform;
  auto const& path = job.metapath;
  if (path.of_vertices) {
    core::metapath_weights<weighted, true> const walk{path.schema, path.size, path.first_type};
    enqueue<choose_by<rule>::template sampler>(walk, setup, batch, exec);
  } else {
    core::metapath_weights<weighted, false> const walk{path.schema, path.size, path.first_type};
    enqueue<choose_by<rule>::template sampler>(walk, setup, batch, exec);
  }
}

}  // namespace

template <class View>
void scan_steps(walk_job const& job, engine::dynamic_setup<basic_transit_view<View>> const& setup,
                engine::part_batch const& batch, gpu_exec const& exec)
{
  core::with_first_order_walk(scan_choice(job),
                              [&](auto const& walk) { enqueue<engine::race_sampler>(walk, setup, batch, exec); });
}

template <class View>
void label_steps(walk_job const& job, engine::dynamic_setup<basic_transit_view<View>> const& setup,
                 engine::part_batch const& batch, gpu_exec const& exec)
{
  using enum core::labelled_rule;
  switch (job.rule) {
    case sampling_rule::reject: enqueue_by<reject>(job, setup, batch, exec); break;
    case sampling_rule::alias: enqueue_by<alias>(job, setup, batch, exec); break;
    case sampling_rule::its: enqueue_by<its>(job, setup, batch, exec); break;
    case sampling_rule::scan:  // scan_steps'
    case sampling_rule::automatic:
    case sampling_rule::uniform: enqueue_by<uniform>(job, setup, batch, exec); break;
  }
}

template void scan_steps<csr_view>(walk_job const&, engine::dynamic_setup<transit_view> const&,
                                   engine::part_batch const&, gpu_exec const&);
template void scan_steps<compressed_view>(walk_job const&,
                                          engine::dynamic_setup<basic_transit_view<compressed_view>> const&,
                                          engine::part_batch const&, gpu_exec const&);
template void label_steps<csr_view>(walk_job const&, engine::dynamic_setup<transit_view> const&,
                                    engine::part_batch const&, gpu_exec const&);
template void label_steps<compressed_view>(walk_job const&,
                                           engine::dynamic_setup<basic_transit_view<compressed_view>> const&,
                                           engine::part_batch const&, gpu_exec const&);

}  // namespace tendril::gpu
