// Counts walks that are rows: a warp a row. 4 bytes a vertex are read in order, and 8 are added to somewhere.

#include "gpu/walks/counts.hpp"

#include "gpu/device/launch.cuh"
#include "gpu/walks/counts.cuh"

namespace tendril::gpu {
namespace {

constexpr int count_threads = 256;
constexpr std::int64_t count_blocks = 1 << 14;

__global__ __launch_bounds__(count_threads) void count_rows_kernel(vertex_id const* vertices,
                                                                   std::int32_t const* lengths, std::int64_t num_walks,
                                                                   std::int64_t row, vertex_counters to,
                                                                   std::int64_t* steps)
{
  std::int64_t taken = 0;
  std::int64_t const warps = grid_stride() / warp_size;
  for (std::int64_t i = global_thread() / warp_size; i < num_walks; i += warps) {
    std::int32_t const length = lengths[i];
    vertex_id const* const walk = vertices + i * row;
    if (to.visits != nullptr) {
      for (std::int64_t k = lane_id(); k <= length; k += warp_size) { count_visit(to, __ldcs(walk + k)); }
    }
    if (lane_id() == 0) { count_end(to, walk[length]); }
    taken += length;
  }
  if (lane_id() == 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(steps), static_cast<unsigned long long>(taken));
  }
}

}  // namespace

void vertex_counts::add_rows(vertex_id const* vertices, std::int32_t const* lengths, std::int64_t num_walks,
                             std::int64_t row)
{
  unsigned const blocks = grid_blocks(num_walks, count_threads / warp_size, count_blocks);
  count_rows_kernel<<<blocks, count_threads, 0, exec_.stream>>>(vertices, lengths, num_walks, row, view(),
                                                                steps_.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
