#include "gpu/applications/shared_samples.hpp"

#include <cuda_runtime_api.h>

#include <tendril/error.hpp>
#include <tendril/gpu.hpp>

#include "gpu/device/check.hpp"
#include "gpu/placed/shared_graph.hpp"

namespace tendril::gpu {
namespace {

/// Calls f(to, from, size) with each array of `part`, whose first sample is number `first` of `whole`, and its place there.
template <class F>
void for_each_array(samples& whole, samples const& part, std::int64_t first, F f)
{
  auto const place = [&]<class T>(buffer<T>& to, buffer<T> const& from) {
    if (from.size() > 0) { f(to.data() + first * (from.size() / part.num_samples), from.data(), from.size()); }
  };
  place(whole.vertices, part.vertices);
  place(whole.roots, part.roots);
  for (std::size_t t = 0; t < part.steps.size(); ++t) {
    place(whole.steps[t].vertices, part.steps[t].vertices);
    place(whole.steps[t].sizes, part.steps[t].sizes);
  }
}

std::int64_t slots_of(engine::application_job const& job)
{
  std::int64_t slots = 1;
  for (auto const& shape : job.shapes) { slots += shape.num_slots; }
  return slots;
}

}  // namespace

bool can_share_samples(graph const& graph, engine::application_job const& job)
{
  return is_shared(graph) && job.num_samples > 0 && !job.traits.adds_edges;
}

samples share_samples(graph const& graph, engine::application_job const& job, application_params const& params,
                      std::span<vertex_id const> roots, std::int64_t first_sample, sample_makers const& make,
                      gpu_exec const& exec)
{
  samples out = engine::allocate_samples(job, params, memory_of(exec));
  auto const part_of = [&](base::item_range turn) {
    return roots.subspan(static_cast<std::size_t>(turn.first * job.num_roots),
                         static_cast<std::size_t>(turn.size * job.num_roots));
  };
  shared_job shared;
  shared.num_items = job.num_samples;
  shared.reads = static_cast<double>(slots_of(job));
  shared.item_bytes = 4 * (slots_of(job) + job.num_roots);
  shared.kind = {5, job.traits.collective ? 1U : 0U, static_cast<std::uint64_t>(job.num_roots)};
  for (auto const& shape : job.shapes) {
    shared.kind.add(static_cast<std::uint64_t>(shape.num_slots));
    shared.kind.add(static_cast<std::uint64_t>(shape.sample_size));
  }
  shared.on_gpu = [&](base::item_range turn) {
    samples const part = make.on_gpu(part_of(turn), first_sample + turn.first);
    for_each_array(out, part, turn.first, [&](auto* to, auto const* from, std::int64_t size) {
      TENDRIL_CUDA_TRY(cudaMemcpyAsync(to, from, static_cast<std::size_t>(size) * sizeof *from,
                                       cudaMemcpyDeviceToDevice, exec.stream));
    });
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  };
  shared.on_cpu = [&](base::item_range turn, int, lane& mine) {
    samples const part = make.on_cpu(mine.fetch(part_of(turn)), first_sample + turn.first, cpu_exec{.num_threads = 1});
    for_each_array(out, part, turn.first,
                   [&](auto* to, auto const* from, std::int64_t size) { mine.upload(to, from, size); });
  };
  try {
    work_together(graph, shared, exec);
  } catch (argument_error const&) {
    // A part names its own first problem: the GPU alone finds that of the least sample.
    return make.on_gpu(roots, first_sample);
  }
  return out;
}

}  // namespace tendril::gpu
