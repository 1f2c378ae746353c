// How walks are written. A step yields 4 bytes, memory wants aligned runs: rows are gathered in shared memory and leave
// it 64 bytes at a time, written by half a warp.
//
// Neither form keeps anything in registers: where a walker writes follows from its index in the batch and the number of
// vertices it has.

#pragma once

#include <cstdint>

#include "gpu/launch.cuh"
#include "gpu/walk_job.hpp"

namespace tendril::gpu {

/// Rows as the CPU writes them: row i is walk i. One object a thread, made by whole warps; all members are called by the
/// whole warp, converged.
class row_major_rows {
 public:
  static constexpr int chunk = 16;                // vertices that leave together: 64 bytes
  static constexpr int padded_chunk = chunk + 1;  // neighbouring lanes' columns fall into different banks

  /// Shared memory of a block.
  static constexpr std::size_t shared_bytes(int block_threads)
  {
    return static_cast<std::size_t>(block_threads) * padded_chunk * sizeof(vertex_id);
  }

  __device__ row_major_rows(walk_batch const& batch, vertex_id* shared)
      : batch_(batch), warp_stage_(shared + threadIdx.x / warp_size * warp_size * padded_chunk)
  {
  }

  /// Lanes with `moved` append v at `position` of the row of walk `index`.
  __device__ void push(bool moved, std::int64_t index, std::int32_t position, vertex_id v)
  {
    bool full = false;
    if (moved) {
      std::uint32_t const c = column(index, position);
      warp_stage_[lane_id() * padded_chunk + c] = v;
      full = c == chunk - 1;
    }
    unsigned waiting = __ballot_sync(full_warp, full);
    if (waiting == 0) { return; }
    __syncwarp();
    // Two rows a round, half a warp each: with rows of odd length one round a step serves the whole warp.
    while (waiting != 0) {
      int const first = __ffs(static_cast<int>(waiting)) - 1;
      waiting &= waiting - 1;
      int const second = waiting != 0 ? __ffs(static_cast<int>(waiting)) - 1 : first;
      waiting &= waiting - 1;
      int const source = lane_id() < chunk ? first : second;
      std::int64_t const row = __shfl_sync(full_warp, index, source);
      std::int32_t const k = __shfl_sync(full_warp, position, source) - (chunk - 1) + lane_id() % chunk;
      bool const idle = first == second && lane_id() >= chunk;
      if (!idle && k >= 0) { __stcs(row_of(row) + k, warp_stage_[source * padded_chunk + lane_id() % chunk]); }
    }
    __syncwarp();
  }

  /// Lanes with `ended` complete the row of walk `index`, which has `size` vertices.
  __device__ void finish(bool ended, std::int64_t index, std::int32_t size, bool repeat_last)
  {
    unsigned waiting = __ballot_sync(full_warp, ended);
    if (waiting == 0) { return; }
    __syncwarp();
    auto const size_and_fill = static_cast<std::uint32_t>(size) | (repeat_last ? 0x80000000U : 0U);
    while (waiting != 0) {
      int const source = __ffs(static_cast<int>(waiting)) - 1;
      waiting &= waiting - 1;
      std::int64_t const row = __shfl_sync(full_warp, index, source);
      std::uint32_t const packed = __shfl_sync(full_warp, size_and_fill, source);
      auto const count = static_cast<std::int32_t>(packed & 0x7fffffffU);
      vertex_id const* const stage = warp_stage_ + source * padded_chunk;
      vertex_id const fill = (packed >> 31U) != 0 ? stage[column(row, count - 1)] : no_vertex;
      // What the last whole chunk took is written already.
      std::int32_t k = max(0, count - static_cast<std::int32_t>(column(row, count))) + lane_id();
      for (vertex_id* const to = row_of(row); k <= batch_.length; k += warp_size) {
        __stcs(to + k, k < count ? stage[column(row, k)] : fill);
      }
    }
    __syncwarp();
  }

 private:
  [[nodiscard]] __device__ vertex_id* row_of(std::int64_t index) const
  {
    return batch_.vertices + index * (batch_.length + std::int64_t{1});
  }

  /// The column of a row's vertex in its 64-byte line, and so in the stage.
  [[nodiscard]] __device__ std::uint32_t column(std::int64_t index, std::int32_t position) const
  {
    auto const base = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(batch_.vertices) / sizeof(vertex_id));
    return (base + static_cast<std::uint32_t>(index) * (static_cast<std::uint32_t>(batch_.length) + 1U) +
            static_cast<std::uint32_t>(position)) %
           chunk;
  }

  walk_batch const& batch_;
  vertex_id* warp_stage_;  // [32, padded_chunk]
};

/// One row a step: [length + 1, size]. Neighbouring lanes write neighbouring vertices as long as they walk in step.
/// Where walks may end early, everything holds no_vertex before the launch (see launch_walk): a walk that ends then
/// leaves nothing to write but repeated vertices.
class step_major_rows {
 public:
  static constexpr std::size_t shared_bytes(int) { return 0; }

  __device__ step_major_rows(walk_batch const& batch, vertex_id*) : batch_(batch) {}

  __device__ void push(bool moved, std::int64_t index, std::int32_t position, vertex_id v)
  {
    if (moved) { __stcs(batch_.vertices + position * batch_.size + index, v); }
  }

  __device__ void finish(bool ended, std::int64_t index, std::int32_t size, bool repeat_last)
  {
    if (!ended || size > batch_.length || !repeat_last) { return; }
    vertex_id* to = batch_.vertices + (size - 1) * batch_.size + index;
    vertex_id const last = *to;
    for (; size <= batch_.length; ++size) {
      to += batch_.size;
      __stcs(to, last);
    }
  }

 private:
  walk_batch const& batch_;
};

}  // namespace tendril::gpu
