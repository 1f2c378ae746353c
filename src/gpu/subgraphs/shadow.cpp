// The front of the GPU's ShaDow: checks arguments, allocates, enqueues. CPU twin: src/cpu/subgraphs/shadow.cpp.

#include "gpu/subgraphs/shadow.hpp"

#include <utility>

#include <cuda_runtime_api.h>

#include <tendril/gpu.hpp>

#include "core/shadow.hpp"
#include "gpu/device/check.hpp"
#include "gpu/device/copy_value.hpp"
#include "graph/places.hpp"
#include "samplers/subgraphs/shadow_checks.hpp"

namespace tendril {

subgraphs shadow_sample(graph const& graph, std::span<vertex_id const> seeds, shadow_params const& params,
                        gpu_exec const& exec, std::int64_t first_sample)
{
  validation::expect_on_gpu(graph, exec);
  auto const num_samples = static_cast<std::int64_t>(seeds.size());
  samplers::check_shadow(params, num_samples, first_sample);
  gpu::device_guard const guard(exec.device);
  auto& memory = memory_of(exec);
  std::int64_t const most =
      core::most_shadow_vertices(params.depth, params.num_neighbors, std::max<std::int64_t>(1, graph.num_vertices()));
  TENDRIL_EXPECTS(most < std::int64_t{1} << 30U, "graph: a sample can have {} vertices, expected less than 2^30", most);
  gpu::shadow_job const job{graph.view(),
                            seeds.data(),
                            num_samples,
                            static_cast<std::uint64_t>(first_sample),
                            params.seed,
                            static_cast<std::uint32_t>(params.depth),
                            static_cast<std::uint32_t>(params.num_neighbors),
                            params.replace,
                            static_cast<std::uint32_t>(most)};
  buffer<std::int64_t> offsets(num_samples + 1, memory);
  if (num_samples == 0) {
    TENDRIL_CUDA_TRY(cudaMemsetAsync(offsets.data(), 0, sizeof(std::int64_t), exec.stream));
    return gpu::induce(graph, buffer<vertex_id>(0, memory), std::move(offsets), 0, false, exec);
  }
  buffer<gpu::sample_status> status(1, memory);
  TENDRIL_CUDA_TRY(cudaMemsetAsync(status.data(), 0xff, sizeof(gpu::sample_status), exec.stream));
  gpu::shadow_shape const shape = gpu::shape_of(job, exec.device);
  buffer<std::uint32_t> scratch(shape.scratch_bytes / 4, memory);
  buffer<std::uint32_t> sizes(num_samples + 1, memory);
  gpu::count_shadow(job, shape, scratch.data(), sizes.data(), status.data(), exec.stream);
  gpu::scan_counts(sizes.data(), num_samples, offsets.data(), status.data(), exec);
  gpu::sample_status const seen = gpu::value_at(status.data(), exec);
  if (seen.bad_node != ~0ULL) {
    auto const index = static_cast<std::int64_t>(seen.bad_node);
    vertex_id const seed = gpu::value_at(seeds.data() + index, exec);
    validation::refuse_vertex("seed", index, seed, graph.num_vertices());
  }
  buffer<vertex_id> nodes(seen.num_edges, memory);  // the sum of the sizes
  gpu::write_shadow(job, shape, scratch.data(), offsets.data(), nodes.data(), exec.stream);
  return gpu::induce(graph, std::move(nodes), std::move(offsets), seen.max_size, false, exec);
}

}  // namespace tendril
