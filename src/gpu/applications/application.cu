// Small kernels around sampling applications: checks of roots, where recorded edges go. CPU twin: src/cpu/applications/application.cpp.

#include <cub/device/device_scan.cuh>

#include <tendril/gpu.hpp>

#include "gpu/applications/application.hpp"
#include "gpu/device/launch.cuh"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;

/// Any threads, in a loop over the grid.
__global__ __launch_bounds__(block_threads) void root_check_kernel(vertex_id const* roots, std::int64_t size,
                                                                   std::int64_t num_roots, std::int64_t num_vertices,
                                                                   unsigned long long* problem)
{
  for (std::int64_t k = global_thread(); k < size; k += grid_stride()) {
    if (roots[k] >= num_vertices) {
      atomicMin(problem, engine::problem_code::of(k / num_roots, 0, engine::application_problem::root));
    }
  }
}

__global__ __launch_bounds__(block_threads) void pick_offsets_kernel(std::int64_t const* offsets, std::int64_t stride,
                                                                     std::int64_t count, std::int64_t* out)
{
  for (std::int64_t s = global_thread(); s < count; s += grid_stride()) { out[s] = offsets[s * stride]; }
}

}  // namespace

void enqueue_root_check(std::span<vertex_id const> roots, std::int64_t num_roots, std::int64_t num_vertices,
                        std::uint64_t* problem, gpu_exec const& exec)
{
  auto const size = static_cast<std::int64_t>(roots.size());
  if (size == 0) { return; }
  root_check_kernel<<<grid_blocks(size, block_threads), block_threads, 0, exec.stream>>>(
      roots.data(), size, num_roots, num_vertices, reinterpret_cast<unsigned long long*>(problem));
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void enqueue_edge_offsets(std::uint32_t const* counts, std::int64_t size, std::int64_t* offsets, gpu_exec const& exec)
{
  TENDRIL_CUDA_TRY(cudaMemsetAsync(offsets, 0, sizeof *offsets, exec.stream));
  if (size == 0) { return; }
  std::size_t bytes = 0;
  auto const scan = [&](void* scratch) {
    return cub::DeviceScan::InclusiveScan(scratch, bytes, counts, offsets + 1, cuda::std::plus<std::int64_t>{}, size,
                                          exec.stream);
  };
  TENDRIL_CUDA_TRY(scan(nullptr));
  buffer<unsigned char> scratch(static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1)), memory_of(exec));
  TENDRIL_CUDA_TRY(scan(scratch.data()));
}

void enqueue_pick_offsets(std::int64_t const* offsets, std::int64_t stride, std::int64_t num_samples, std::int64_t* out,
                          gpu_exec const& exec)
{
  pick_offsets_kernel<<<grid_blocks(num_samples + 1, block_threads), block_threads, 0, exec.stream>>>(
      offsets, stride, num_samples + 1, out);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
