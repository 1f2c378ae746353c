// The front of the GPU's multi-dimensional walks: checks arguments, allocates, enqueues. CPU twin: src/cpu/multidim.cpp.

#include <string>

#include <cuda_runtime_api.h>

#include <tendril/gpu.hpp>
#include <tendril/multidim.hpp>

#include "core/random.hpp"
#include "gpu/check.hpp"
#include "gpu/multidim.hpp"
#include "plan/multidim_checks.hpp"

namespace tendril {

multidim_walks multidim_walk(graph const& graph, std::span<vertex_id const> roots, std::int64_t num_roots,
                             multidim_params const& params, gpu_exec const& exec, std::int64_t first_walk)
{
  TENDRIL_EXPECTS(graph.device() == exec.device, "graph: it is {}, expected one on GPU {} (to_gpu)",
                  graph.device() < 0 ? std::string("in host memory") : fmt::format("on GPU {}", graph.device()),
                  exec.device);
  plan::check_multidim(static_cast<std::int64_t>(roots.size()), num_roots, params, first_walk);
  gpu::device_guard const guard(exec.device);
  memory_resource& memory = memory_of(exec);
  std::int64_t const num_walks = static_cast<std::int64_t>(roots.size()) / num_roots;
  auto out = plan::allocate_multidim(num_walks, num_roots, params.length, memory);
  if (num_walks == 0) { return out; }  // an empty grid is a launch error

  buffer<unsigned long long> bad(1, memory);
  TENDRIL_CUDA_TRY(cudaMemsetAsync(bad.data(), 0xff, sizeof(unsigned long long), exec.stream));
  gpu::multidim_job const job{graph.view(),
                              roots.data(),
                              num_walks,
                              static_cast<std::uint32_t>(num_roots),
                              static_cast<std::int32_t>(params.length),
                              params.choose == root_choice::by_degree,
                              static_cast<std::uint64_t>(first_walk),
                              core::make_key(params.seed, core::domain::multidim_walk),
                              out.vertices.data(),
                              out.slots.data(),
                              out.lengths.data(),
                              bad.data()};
  gpu::multidim_shape const shape = gpu::shape_of(job, exec.device);
  buffer<vertex_id> sets(shape.scratch_samples * num_roots, memory);
  buffer<std::uint64_t> sums(job.by_degree ? sets.size() : 0, memory);
  gpu::enqueue(job, shape, {sets.data(), sums.data()}, exec.stream);

  unsigned long long first_bad = 0;
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(&first_bad, bad.data(), sizeof first_bad, cudaMemcpyDeviceToHost, exec.stream));
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  if (first_bad != ~0ULL) {
    vertex_id vertex = 0;
    TENDRIL_CUDA_TRY(cudaMemcpy(&vertex, roots.data() + first_bad, sizeof vertex, cudaMemcpyDeviceToHost));
    throw argument_error(fmt::format("root {}: vertex {} is out of range, the graph has {} vertices", first_bad, vertex,
                                     graph.num_vertices()));
  }
  return out;
}

}  // namespace tendril
