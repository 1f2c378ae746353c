// How the kernels of induced subgraphs write what they find.

#pragma once

#include <cstdint>
#include <cstring>

#include "gpu/device/launch.cuh"
#include "gpu/subgraphs/subgraph.hpp"

namespace tendril::gpu {

/// Lanes before the calling one. Any thread of a block whose x-size is a multiple of 32.
__device__ __forceinline__ unsigned lanes_before() { return (1U << static_cast<unsigned>(lane_id())) - 1U; }

/// The sum of the values of the lanes before. All lanes.
template <class T>
__device__ __forceinline__ T sum_before(T value)
{
  T sum = value;
  for (int distance = 1; distance < warp_size; distance *= 2) {
    T const other = __shfl_up_sync(full_warp, sum, distance);
    sum += lane_id() >= distance ? other : 0;
  }
  return sum - value;
}

/// The value of another lane. All lanes.
template <class T>
__device__ __forceinline__ T from_lane(T const& value, int lane)
{
  static_assert(sizeof(T) % sizeof(std::uint32_t) == 0);
  std::uint32_t words[sizeof(T) / sizeof(std::uint32_t)];
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (std::uint32_t& word : words) { word = __shfl_sync(full_warp, word, lane); }
  T out;
  memcpy(&out, words, sizeof(T));
  return out;
}

/// Any thread.
__device__ __forceinline__ void write_edge(inner_edges const& out, std::int64_t at, std::int64_t row, std::int64_t col,
                                           edge_id e)
{
  out.row[at] = row;
  out.col[at] = col;
  out.edges[at] = e;
}

/// Each lane has a run of `count` edges from `e` on between one row and one column, which go to places from `at` on.
/// Long runs, of many parallel edges, are written by the whole warp. All lanes.
__device__ __forceinline__ void write_runs(inner_edges const& out, std::int64_t at, std::int64_t row, std::int64_t col,
                                           edge_id e, std::uint32_t count)
{
  constexpr std::uint32_t most_alone = 4;
  if (count <= most_alone) {
    for (std::uint32_t i = 0; i < count; ++i) { write_edge(out, at + i, row, col, e + i); }
  }
  for (unsigned left = __ballot_sync(full_warp, count > most_alone); left != 0; left &= left - 1) {
    int const lane = __ffs(static_cast<int>(left)) - 1;
    std::int64_t const to = __shfl_sync(full_warp, at, lane);
    std::int64_t const from_row = __shfl_sync(full_warp, row, lane);
    std::int64_t const to_col = __shfl_sync(full_warp, col, lane);
    edge_id const first = __shfl_sync(full_warp, e, lane);
    std::uint32_t const size = __shfl_sync(full_warp, count, lane);
    for (std::uint32_t i = lane_id(); i < size; i += warp_size) {
      write_edge(out, to + i, from_row, to_col, first + i);
    }
  }
}

}  // namespace tendril::gpu
