// The front of the GPU's minimal variance sampling: checks arguments, allocates, enqueues. CPU twin: src/cpu/layers/mvs.cpp.

#include <string>

#include <cuda_runtime_api.h>

#include <tendril/gpu.hpp>
#include <tendril/mvs.hpp>

#include "gpu/device/check.hpp"
#include "gpu/layers/layer_tables.hpp"
#include "gpu/layers/layers.hpp"
#include "gpu/layers/mvs.hpp"
#include "graph/places.hpp"
#include "samplers/layers/mvs_checks.hpp"

namespace tendril {
namespace {

/// What the host must know before edges can be allocated.
struct report {
  unsigned long long bad_vertex;
  std::int64_t num_edges;
};

/// A layer of its own, which no root leads to.
gpu::layerwise_job job_of(graph const& graph, mvs_params const& params, std::int64_t first_sample, mvs_batches& out)
{
  gpu::layerwise_job job{};
  job.graph = graph.view();
  job.application = core::layer_method::mvs;
  job.replace = params.replace;
  job.seed = params.seed;
  job.first_sample = static_cast<std::uint64_t>(first_sample);
  job.num_samples = out.num_samples;
  job.num_layers = 1;
  job.layer_size = static_cast<std::uint32_t>(params.batch_size);
  job.vertices = out.vertices.data();
  job.probabilities = out.probabilities.data();
  return job;
}

}  // namespace

mvs_batches mvs_sample(graph const& graph, std::span<float const> importances, std::int64_t num_samples,
                       mvs_params const& params, gpu_exec const& exec, std::int64_t first_sample)
{
  validation::expect_on_gpu(graph, exec);
  samplers::check_mvs(graph, static_cast<std::int64_t>(importances.size()), num_samples, params, first_sample);
  gpu::device_guard const guard(exec.device);
  memory_resource& memory = memory_of(exec);
  auto out = samplers::allocate_mvs(num_samples, params.batch_size, memory);
  if (num_samples == 0) {  // an empty grid is a launch error
    TENDRIL_CUDA_TRY(cudaMemsetAsync(out.edge_offsets.data(), 0, sizeof(std::int64_t), exec.stream));
    return out;
  }
  buffer<report> found(1, memory);
  TENDRIL_CUDA_TRY(cudaMemsetAsync(found.data(), 0xff, sizeof(report), exec.stream));
  gpu::layerwise_job job = job_of(graph, params, first_sample, out);
  samplers::vertex_table table;
  if (!importances.empty()) {
    buffer<float> cleaned(graph.num_vertices(), memory);
    gpu::clean_importances(importances.data(), cleaned.size(), cleaned.data(), &found.data()->bad_vertex, exec.stream);
    table = gpu::make_vertex_table(graph.num_vertices(), cleaned.data(), exec);
    job.columns = table.records.data();
    job.column_probabilities = table.probabilities.data();
  }
  gpu::layer_shape const shape = gpu::draws_shape(job, exec.device);
  buffer<char> scratch(shape.scratch_bytes(), memory);
  gpu::enqueue_draws(job, shape, scratch.data(), exec.stream);
  std::int64_t const slots = out.vertices.size();
  gpu::weigh_slots(graph.view(), out.vertices.data(), out.probabilities.data(), slots, params.batch_size,
                   out.weights.data(), out.edge_offsets.data(), exec);
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(&found.data()->num_edges, out.edge_offsets.data() + slots, sizeof(std::int64_t),
                                   cudaMemcpyDeviceToDevice, exec.stream));
  report known{};
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(&known, found.data(), sizeof known, cudaMemcpyDeviceToHost, exec.stream));
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  if (known.bad_vertex != ~0ULL) {
    float value = 0;
    TENDRIL_CUDA_TRY(cudaMemcpy(&value, importances.data() + known.bad_vertex, sizeof value, cudaMemcpyDeviceToHost));
    samplers::refuse_importance(static_cast<std::int64_t>(known.bad_vertex), value);
  }
  out.neighbors = buffer<vertex_id>(known.num_edges, memory);
  if (params.with_edges) { out.edges = buffer<edge_id>(known.num_edges, memory); }
  if (known.num_edges > 0) {
    gpu::copy_neighbors(graph.view(), out.vertices.data(), slots, out.edge_offsets.data(), known.num_edges,
                        out.neighbors.data(), params.with_edges ? out.edges.data() : nullptr, exec);
  }
  return out;
}

}  // namespace tendril
