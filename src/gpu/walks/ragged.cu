// Walks are staged with room for `length` steps each, of which memory is touched only where walks have been; then lengths
// are summed up, and the walks are moved next to each other. A step moves 12 bytes beside its gathers: written when it is
// made, read and written once more. A walk moves 28: its start is read, its length and its offset are written and read.
// CPU twin: src/cpu/walks/ragged.cpp.

#include "gpu/walks/ragged.hpp"

#include <algorithm>
#include <optional>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_scan.cuh>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>  // expect_vertices

#include "gpu/device/launch.cuh"
#include "gpu/graph/edge_tiles.cuh"  // run_with_scratch

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;
constexpr int tile_walks = 256;   // moved by a block
constexpr int most_blocks = 256;  // of longest_kernel: each warp has one atomic operation on one address

constexpr std::int64_t slice_bytes = std::int64_t{1} << 30;
constexpr std::int64_t least_slice = std::int64_t{1} << 18;  // walks that keep a GPU busy

/// What offsets are sums of: where the first walk begins, then the vertices of each walk.
struct vertices_of {
  std::int32_t const* lengths;
  std::int64_t begin;

  __host__ __device__ std::int64_t operator()(std::int64_t i) const
  {
    return i == 0 ? begin : lengths[i - 1] + std::int64_t{1};
  }
};

/// Raises *longest to the most steps of a walk.
__global__ __launch_bounds__(block_threads) void longest_kernel(std::int32_t const* lengths, std::int64_t size,
                                                                std::int32_t* longest)
{
  std::int32_t most = 0;
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) { most = max(most, lengths[i]); }
  __syncwarp();
  most = __reduce_max_sync(full_warp, most);
  if (lane_id() == 0) { atomicMax(longest, most); }
}

/// Moves the walks of a slice next to each other: `out` is where the first begins. A block takes a tile of walks, whose
/// vertices are one run of the result; each thread looks up whose vertex it moves.
__global__ __launch_bounds__(block_threads) void join_kernel(staged_walks from, std::int64_t size,
                                                             std::int64_t const* offsets, vertex_id* out)
{
  __shared__ std::int64_t begins[tile_walks + 1];
  for (std::int64_t first = std::int64_t{blockIdx.x} * tile_walks; first < size;
       first += std::int64_t{gridDim.x} * tile_walks) {
    auto const count = static_cast<int>(min(std::int64_t{tile_walks}, size - first));
    __syncthreads();  // the tile before is done with `begins`
    for (int k = static_cast<int>(threadIdx.x); k <= count; k += block_threads) {
      begins[k] = offsets[first + k] - offsets[0];
    }
    __syncthreads();
    std::int64_t const end = begins[count];
    for (std::int64_t j = begins[0] + threadIdx.x; j < end; j += block_threads) {
      int walk = 0;  // the last that begins at j or before: each has a vertex
      for (int left = count; left > 1;) {
        int const half = left / 2;
        walk += begins[walk + half] <= j ? half : 0;
        left -= half;
      }
      out[j] = from.vertices[(first + walk) * from.walk_stride + (j - begins[walk]) * from.step_stride];
    }
  }
}

/// Walks of a slice that each have room for so many steps.
std::int64_t slice_of(std::int64_t room, std::int64_t num_walks, gpu_exec const& exec)
{
  std::int64_t const bytes = checked_product("room of a walk", checked_sum("room of a walk", room, 2), 4);
  std::int64_t const usual = slice_bytes / bytes;
  if (usual >= std::min(least_slice, num_walks)) { return usual; }
  return std::max(usual, std::min(least_slice, free_gpu_bytes(exec.device) / 2 / bytes));
}

}  // namespace

staged_slices::staged_slices(bool by_steps, gpu_exec const& exec)
    : exec_(exec.device, exec.stream, nullptr), by_steps_(by_steps)
{
}

staged_walks staged_slices::room_for(samplers::walk_slice const& slice)
{
  std::int64_t const row = slice.length + 1;
  std::int64_t const needed = checked_product("walks of a slice", slice.size, row);
  if (vertices_.size() < needed) {
    vertices_ = {};
    vertices_ = buffer<vertex_id>(needed, memory_of(exec_));
  }
  if (lengths_.size() <= slice.size) { lengths_ = buffer<std::int32_t>(slice.size + 1, memory_of(exec_)); }
  return {vertices_.data(), by_steps_ ? 1 : row, by_steps_ ? slice.size : 1, lengths_.data() + 1};
}

staged_slices::outcome staged_slices::make(staged_maker const& maker, samplers::walk_slice const& slice,
                                           std::int64_t length, std::int64_t* offsets, std::int64_t begin)
{
  staged_ = room_for(slice);
  auto space = workspace_pool::of(exec_.device).take();
  walk_status& status = *space->status();
  space->reset(exec_.stream);
  status.longest = 0;
  maker(slice, staged_, *space);

  if (slice.length < length) {
    std::int32_t* const longest = lengths_.data();
    TENDRIL_CUDA_TRY(cudaMemsetAsync(longest, 0, sizeof(std::int32_t), exec_.stream));
    longest_kernel<<<grid_blocks(slice.size, block_threads, most_blocks), block_threads, 0, exec_.stream>>>(
        staged_.lengths, slice.size, longest);
    TENDRIL_CUDA_TRY(cudaGetLastError());
    TENDRIL_CUDA_TRY(
        cudaMemcpyAsync(&status.longest, longest, sizeof status.longest, cudaMemcpyDeviceToHost, exec_.stream));
  }
  auto const sizes =
      thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), vertices_of{staged_.lengths, begin});
  run_with_scratch(exec_, [&](void* memory, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(memory, bytes, sizes, offsets, slice.size + 1, exec_.stream);
  });
  TENDRIL_CUDA_TRY(
      cudaMemcpyAsync(&status.end, offsets + slice.size, sizeof status.end, cudaMemcpyDeviceToHost, exec_.stream));
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec_.stream));
  outcome const made{status.longest < slice.length || slice.length == length, status.bad_start >= 0, status.end};
  workspace_pool::of(exec_.device).give_back(std::move(space));
  return made;
}

void staged_slices::join(samplers::walk_slice const& slice, std::int64_t const* offsets, vertex_id* out) const
{
  join_kernel<<<grid_blocks(slice.size, tile_walks), block_threads, 0, exec_.stream>>>(staged_, slice.size, offsets,
                                                                                       out);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

ragged_walks make_ragged(ragged_job const& job, staged_maker const& make, gpu_exec const& exec)
{
  device_guard const guard(exec.device);
  staged_slices slices(job.by_steps, exec);

  auto const make_slice = [&](samplers::walk_slice const& slice, std::int64_t* offsets,
                              std::int64_t begin) -> std::optional<buffer<vertex_id>> {
    auto const made = slices.make(make, slice, job.length, offsets, begin);
    // Which bad start the kernel saw is chance: the one that is named is the first.
    if (made.bad_start) { expect_vertices(job.starts, "start", job.num_vertices, exec); }
    if (!made.fits) { return std::nullopt; }
    buffer<vertex_id> part(made.end - begin, memory_of(exec));
    slices.join(slice, offsets, part.data());
    return part;
  };
  auto const copy = [&](vertex_id* to, buffer<vertex_id> const& from) {
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(to, from.data(), static_cast<std::size_t>(from.size()) * sizeof(vertex_id),
                                     cudaMemcpyDeviceToDevice, exec.stream));
  };
  ragged_walks out = samplers::make_ragged(
      job, memory_of(exec), [&](std::int64_t room) { return slice_of(room, job.num_walks, exec); }, make_slice, copy);
  if (job.num_walks == 0) {
    TENDRIL_CUDA_TRY(cudaMemsetAsync(out.offsets.data(), 0, sizeof(std::int64_t), exec.stream));
  }
  return out;
}

}  // namespace tendril::gpu
