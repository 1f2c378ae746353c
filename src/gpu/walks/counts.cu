// Counts walks that are rows: a warp a row. 4 bytes a vertex are read in order, and 4 are added to somewhere.

#include "gpu/walks/counts.hpp"

#include <algorithm>

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

/// Others may count meanwhile.
__global__ __launch_bounds__(count_threads) void empty_kernel(std::uint32_t* counters, std::int64_t* counts,
                                                              std::int64_t size)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    if (counters[i] == 0) { continue; }
    atomicAdd(reinterpret_cast<unsigned long long*>(counts) + i, std::uint64_t{atomicExch(counters + i, 0U)});
  }
}

}  // namespace

void vertex_counts::empty(tally& from, cuda_stream stream) const
{
  std::int64_t const size = from.counts.size();
  if (size == 0) { return; }
  empty_kernel<<<grid_blocks(size, count_threads, count_blocks), count_threads, 0, stream>>>(from.counters.data(),
                                                                                             from.counts.data(), size);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void vertex_counts::add_rows(vertex_id const* vertices, std::int32_t const* lengths, std::int64_t num_walks,
                             std::int64_t row)
{
  std::int64_t const most = std::max<std::int64_t>(1, room_ / row);  // that counters have room for
  for (std::int64_t first = 0; first < num_walks; first += most) {
    std::int64_t const size = std::min(most, num_walks - first);
    unsigned const blocks = grid_blocks(size, count_threads / warp_size, count_blocks);
    count_rows_kernel<<<blocks, count_threads, 0, exec_.stream>>>(vertices + first * row, lengths + first, size, row,
                                                                  view(size * row, exec_.stream), steps_.data());
    TENDRIL_CUDA_TRY(cudaGetLastError());
  }
}

}  // namespace tendril::gpu
