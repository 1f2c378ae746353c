// Which pairs of a step belong to which sub-graph, where a graph streams: sorted by transit, those of each stand together.

#include <cuda_runtime_api.h>

#include <tendril/gpu.hpp>

#include "gpu/applications/stream.hpp"
#include "gpu/device/launch.cuh"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 128;

/// The first of the ascending transits that is not below `v`. Any thread.
__device__ std::int64_t first_from(vertex_id const* transits, std::int64_t size, std::int64_t v)
{
  std::int64_t low = 0;
  for (std::int64_t high = size; low < high;) {
    std::int64_t const middle = low + (high - low) / 2;
    if (static_cast<std::int64_t>(transits[middle]) < v) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// A thread a sub-graph, in a loop over the grid. no_vertex is above every vertex: pairs without a transit are in none.
__global__ __launch_bounds__(block_threads) void subgraph_pairs_kernel(vertex_id const* transits, std::int64_t size,
                                                                       std::int64_t const* first_vertex,
                                                                       std::int64_t num_subgraphs, subgraph_pairs* out)
{
  for (std::int64_t k = global_thread(); k < num_subgraphs; k += grid_stride()) {
    std::int64_t const begin = first_from(transits, size, first_vertex[k]);
    std::int64_t const end = first_from(transits, size, first_vertex[k + 1]);
    bool const any = begin < end;
    out[k] = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), any ? transits[begin] : no_vertex,
              any ? transits[end - 1] : no_vertex};
  }
}

}  // namespace

std::vector<subgraph_pairs> pairs_by_subgraph(sorted_pairs const& sorted, std::int64_t num_pairs,
                                              std::int64_t const* first_vertex, std::int64_t num_subgraphs,
                                              gpu_exec const& exec)
{
  device_guard const guard(exec.device);
  buffer<subgraph_pairs> there(num_subgraphs, memory_of(exec));
  subgraph_pairs_kernel<<<grid_blocks(num_subgraphs, block_threads), block_threads, 0, exec.stream>>>(
      sorted.transits, num_pairs, first_vertex, num_subgraphs, there.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  std::vector<subgraph_pairs> out(static_cast<std::size_t>(num_subgraphs));
  TENDRIL_CUDA_TRY(
      cudaMemcpyAsync(out.data(), there.data(), out.size() * sizeof out[0], cudaMemcpyDeviceToHost, exec.stream));
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  return out;
}

}  // namespace tendril::gpu
