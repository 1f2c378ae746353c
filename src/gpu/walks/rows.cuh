// How walks are written. A step yields 4 bytes, memory wants aligned runs: rows are gathered in shared memory and leave
// it a line of 128 bytes at a time, written by a warp. Lines are written through: left to the second-level cache they
// would push out what walkers read (bench/walks, axis stores: up to 8 % of a step).
//
// Neither form keeps anything in registers: where a walker writes follows from its index in the batch and the number of
// vertices it has.

#pragma once

#include <cstdint>

#include "gpu/device/launch.cuh"
#include "gpu/walks/job.hpp"

namespace tendril::gpu {

/// Rows as the CPU writes them: row i is walk i. One object a thread, made by whole warps; all members are called by the
/// whole warp, converged.
class row_major_rows {
 public:
  static constexpr int chunk = 32;                // vertices that leave together: 128 bytes
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
    // A line a round: rows of odd length fill them evenly over the steps.
    while (waiting != 0) {
      int const source = __ffs(static_cast<int>(waiting)) - 1;
      waiting &= waiting - 1;
      std::int64_t const row = __shfl_sync(full_warp, index, source);
      std::int32_t const k = __shfl_sync(full_warp, position, source) - (chunk - 1) + lane_id();
      if (k >= 0) { __stwt(row_of(row) + k, warp_stage_[source * padded_chunk + lane_id()]); }
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
    // Two rows a round, half a warp each, 16 bytes a lane.
    while (waiting != 0) {
      int source = __ffs(static_cast<int>(waiting)) - 1;
      waiting &= waiting - 1;
      int const second = waiting != 0 ? __ffs(static_cast<int>(waiting)) - 1 : source;
      waiting &= waiting - 1;
      bool const idle = source == second && lane_id() >= warp_size / 2;
      source = lane_id() < warp_size / 2 ? source : second;
      std::int64_t const row = __shfl_sync(full_warp, index, source);
      std::uint32_t const packed = __shfl_sync(full_warp, size_and_fill, source);
      if (!idle) { complete(row, warp_stage_ + source * padded_chunk, packed, lane_id() % (warp_size / 2)); }
    }
    __syncwarp();
  }

 private:
  /// Writes the share of a lane, one of 16, in what a row lacks: the vertices still staged, and what follows them.
  __device__ void complete(std::int64_t index, vertex_id const* stage, std::uint32_t size_and_fill, int lane) const
  {
    auto const size = static_cast<std::int32_t>(size_and_fill & 0x7fffffffU);
    vertex_id const fill = (size_and_fill >> 31U) != 0 ? stage[column(index, size - 1)] : no_vertex;
    // What the last whole line took is written already.
    std::int32_t const first = max(0, size - static_cast<std::int32_t>(column(index, size)));
    bool const rest_is_there = batch_.prefilled && (size_and_fill >> 31U) == 0;
    // Rows may be so long that a stride beyond their end is no int32.
    std::int64_t const begin = first;
    std::int64_t const end = rest_is_there ? size : batch_.length + std::int64_t{1};
    auto const value = [&](std::int64_t k) {
      return k < size ? stage[column(index, static_cast<std::int32_t>(k))] : fill;
    };
    vertex_id* const to = row_of(index);
    auto const ahead = static_cast<std::int32_t>(column(index, first) % 4);  // of a 16-byte boundary
    for (std::int64_t k = begin - ahead + 4 * lane; k < end; k += 4 * (warp_size / 2)) {
      if (k >= begin && k + 4 <= end) {
        __stcs(reinterpret_cast<uint4*>(to + k), make_uint4(value(k), value(k + 1), value(k + 2), value(k + 3)));
      } else {
        for (std::int64_t j = max(k, begin); j < min(k + 4, end); ++j) { __stcs(to + j, value(j)); }
      }
    }
  }

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

/// One row a step: [length + 1, stride]. Neighbouring lanes write neighbouring vertices as long as they walk in step.
/// Where walks may end early, the batch is prefilled: a walk that ends then leaves nothing to write but repeated
/// vertices.
template <bool may_end>
class step_major_rows {
 public:
  static constexpr std::size_t shared_bytes(int) { return 0; }

  __device__ step_major_rows(walk_batch const& batch, vertex_id*) : batch_(batch) {}

  /// Walks that end early fall out of step, so that a line is written in pieces, a few steps apart: the second-level cache
  /// collects them.
  __device__ void push(bool moved, std::int64_t index, std::int32_t position, vertex_id v)
  {
    if (!moved) { return; }
    vertex_id* const to = batch_.vertices + position * batch_.stride + index;
    if constexpr (may_end) {
      *to = v;
    } else {
      __stwt(to, v);
    }
  }

  __device__ void finish(bool ended, std::int64_t index, std::int32_t size, bool repeat_last)
  {
    if (!ended || size > batch_.length || !repeat_last) { return; }
    vertex_id* to = batch_.vertices + (size - 1) * batch_.stride + index;
    vertex_id const last = *to;
    for (; size <= batch_.length; ++size) {
      to += batch_.stride;
      __stcs(to, last);
    }
  }

 private:
  walk_batch const& batch_;
};

}  // namespace tendril::gpu
