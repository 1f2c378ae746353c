// Counts walks that are rows: a warp a row. 4 bytes a vertex are read in order, and one is added to somewhere.

#include "gpu/walks/counts.hpp"

#include "gpu/device/launch.cuh"
#include "gpu/walks/counts.cuh"

namespace tendril::gpu {
namespace {

constexpr int count_threads = 256;
constexpr std::int64_t count_blocks = 1 << 14;
constexpr int visits_each = 4;  // of a thread, on their way at once

/// Counts the vertices of a row. Whole warp.
__device__ __forceinline__ void count_row(vertex_counters const& to, vertex_id const* walk, std::int32_t length)
{
  for (std::int32_t base = lane_id(); base <= length; base += visits_each * warp_size) {
    vertex_id places[visits_each];
    std::uint32_t before[visits_each];
#pragma unroll
    for (int k = 0; k < visits_each; ++k) {
      std::int32_t const at = base + k * warp_size;
      if (at <= length) { places[k] = __ldcs(walk + at) - to.first; }
    }
#pragma unroll
    for (int k = 0; k < visits_each; ++k) {
      if (base + k * warp_size <= length) { before[k] = count_one(to.visits, places[k]); }
    }
#pragma unroll
    for (int k = 0; k < visits_each; ++k) {
      if (base + k * warp_size <= length) { carry(to.visits, places[k], before[k]); }
    }
  }
}

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
    if (to.visits.words != nullptr) { count_row(to, walk, length); }
    if (lane_id() == 0) { count_end(to, walk[length]); }
    taken += length;
  }
  if (lane_id() == 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(steps), static_cast<unsigned long long>(taken));
  }
}

/// Nobody counts meanwhile.
__global__ __launch_bounds__(count_threads) void empty_kernel(byte_counters from, std::int64_t num_words)
{
  for (std::int64_t i = global_thread(); i < num_words; i += grid_stride()) {
    std::uint32_t const word = from.words[i];
    if (word == 0) { continue; }
    for (vertex_id place = 0; place < 4; ++place) { from.counts[4 * i + place] += byte_of(word, place); }
    from.words[i] = 0;
  }
}

}  // namespace

void vertex_counts::empty(tally& from) const
{
  std::int64_t const size = from.words.size();
  if (size == 0) { return; }
  empty_kernel<<<grid_blocks(size, count_threads, count_blocks), count_threads, 0, exec_.stream>>>(from.view(), size);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void vertex_counts::add_rows(vertex_id const* vertices, std::int32_t const* lengths, std::int64_t num_walks,
                             std::int64_t row)
{
  unsigned const blocks = grid_blocks(num_walks, count_threads / warp_size, count_blocks);
  count_rows_kernel<<<blocks, count_threads, 0, exec_.stream>>>(vertices, lengths, num_walks, row, view(),
                                                                steps_.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
