// How often batches use each row, and which rows are used most.

#include <algorithm>
#include <cstdint>

#include <cuda_runtime.h>
#include <cub/device/device_radix_sort.cuh>

#include <tendril/gpu.hpp>

#include "gpu/device/launch.cuh"
#include "gpu/features/row_counts.hpp"
#include "gpu/graph/edge_tiles.cuh"  // run_with_scratch

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;

__global__ __launch_bounds__(block_threads) void count_kernel(vertex_id const* ids, std::int64_t size,
                                                              std::int64_t num_rows, std::uint32_t* counts)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    if (ids[i] < num_rows) { atomicAdd(counts + ids[i], 1U); }
  }
}

__global__ __launch_bounds__(block_threads) void number_kernel(vertex_id* to, std::int64_t size)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) { to[i] = static_cast<vertex_id>(i); }
}

__global__ __launch_bounds__(block_threads) void score_kernel(std::uint32_t const* counts, std::int64_t size,
                                                              std::uint8_t* scores)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    scores[i] = static_cast<std::uint8_t>(counts[i] < 255 ? counts[i] : 255);
  }
}

}  // namespace

void count_rows(row_ids const& ids, std::span<std::uint32_t> counts, gpu_exec const& exec)
{
  if (ids.size() == 0) { return; }
  count_kernel<<<grid_blocks(ids.size(), block_threads), block_threads, 0, exec.stream>>>(
      ids.data(), ids.size(), std::ssize(counts), counts.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

buffer<vertex_id> rows_by_counts(std::span<std::uint32_t const> counts, gpu_exec const& exec)
{
  std::int64_t const size = std::ssize(counts);
  memory_resource& memory = memory_of(exec);
  buffer<vertex_id> rows(size, memory), ordered(size, memory);
  buffer<std::uint32_t> keys(size, memory);
  if (size == 0) { return ordered; }
  number_kernel<<<grid_blocks(size, block_threads), block_threads, 0, exec.stream>>>(rows.data(), size);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairsDescending(scratch, bytes, counts.data(), keys.data(), rows.data(),
                                                     ordered.data(), size, 0, 32, exec.stream);
  });
  return ordered;
}

void scores_of_counts(std::span<std::uint32_t const> counts, std::uint8_t* scores, gpu_exec const& exec)
{
  if (counts.empty()) { return; }
  score_kernel<<<grid_blocks(std::ssize(counts), block_threads), block_threads, 0, exec.stream>>>(
      counts.data(), std::ssize(counts), scores);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
