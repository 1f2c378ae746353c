#include "gpu/walks/moving/columns.hpp"

#include "gpu/device/launch.cuh"
#include "gpu/walks/moving/deliver.cuh"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;
constexpr int warps = block_threads / warp_size;

__global__ __launch_bounds__(block_threads) void deliver_kernel(inbox<moved_vertex const> const told, vertex_id* column,
                                                                std::uint32_t first_walk)
{
  deliver(told, column, first_walk);
}

/// A block turns tiles of 32 walks by 32 steps, through shared memory; a warp writes the rows of four walks.
__global__ __launch_bounds__(block_threads) void rows_kernel(walk_columns const from, vertex_id* rows,
                                                             std::int32_t* lengths)
{
  __shared__ vertex_id tile[warp_size][warp_size + 1];  // [step][walk]
  constexpr int walks_a_warp = warp_size / warps;
  int const warp = static_cast<int>(threadIdx.x) / warp_size;
  std::int64_t const row = from.length + std::int64_t{1};
  for (std::int64_t first = std::int64_t{blockIdx.x} * warp_size; first < from.num_walks;
       first += std::int64_t{gridDim.x} * warp_size) {
    std::int32_t counts[walks_a_warp] = {};
    vertex_id lasts[walks_a_warp];  // that follow a walk's end
    for (std::int64_t step = 0; step < row; step += warp_size) {
      __syncthreads();
      std::int64_t const walk = first + lane_id();
      for (int s = warp; s < warp_size; s += warps) {
        bool const there = step + s < row && walk < from.num_walks;
        tile[s][lane_id()] = there ? __ldcs(from.vertices + (step + s) * from.stride + walk) : no_vertex;
      }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < walks_a_warp; ++k) {
        int const w = warp * walks_a_warp + k;
        vertex_id v = tile[lane_id()][w];
        // Vertices of a walk come before its end, so those here are the first lanes'.
        int const count = __popc(__ballot_sync(full_warp, v != no_vertex));
        counts[k] += count;
        if (count > 0) { lasts[k] = __shfl_sync(full_warp, v, count - 1); }
        bool const ends_here = count < warp_size && counts[k] < row && first + w < from.num_walks;
        if (ends_here && from.repeat_dead_ends && from.dead != nullptr) {
          if (from.dead[first + w] == 0) { lasts[k] = no_vertex; }
        } else if (ends_here && from.repeat_dead_ends && from.may_stop) {
          std::uint64_t const id = from.first_walk + static_cast<std::uint64_t>(first + w);
          if (from.ends.turn(id, counts[k] - 1) == core::walk_turn::stop) { lasts[k] = no_vertex; }
        }
        if (from.repeat_dead_ends && v == no_vertex) { v = lasts[k]; }
        if (first + w < from.num_walks && step + lane_id() < row) {
          __stcs(rows + (first + w) * row + step + lane_id(), v);
        }
      }
    }
    if (lengths != nullptr && lane_id() == 0) {
      for (int k = 0; k < walks_a_warp; ++k) {
        std::int64_t const walk = first + warp * walks_a_warp + k;
        if (walk < from.num_walks) { lengths[walk] = counts[k] - 1; }
      }
    }
  }
}

}  // namespace

void deliver_vertices(inbox<moved_vertex const> const& told, vertex_id* column, std::uint32_t first_walk,
                      gpu_exec const& exec)
{
  static std::int64_t const resident = resident_blocks(deliver_kernel, block_threads, 0, exec.device);
  deliver_kernel<<<static_cast<unsigned>(resident), block_threads, 0, exec.stream>>>(told, column, first_walk);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void write_rows(walk_columns const& columns, vertex_id* rows, std::int32_t* lengths, gpu_exec const& exec)
{
  if (columns.num_walks == 0) { return; }
  rows_kernel<<<grid_blocks(columns.num_walks, warp_size), block_threads, 0, exec.stream>>>(columns, rows, lengths);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
