// Rows of features of ranks, each read from the memory of the GPU that has it.

#pragma once

#include <cstddef>
#include <cstdint>

#include <tendril/exec.hpp>
#include <tendril/types.hpp>

#include "gpu/ranks/inbox.hpp"  // most_ranks

namespace tendril::gpu {

/// Rows in memory that this GPU reads.
struct reached_rows {
  std::byte const* rows = nullptr;
  std::int64_t stride = 0;  ///< Bytes from one row to the next.
};

/// Row ids[i] of all ranks' goes to row i of `out`.
struct rows_to_read {
  vertex_id const* ids;  ///< [size], in range.
  std::int64_t size;
  std::int64_t row_bytes;  ///< 1 or more, below 2^30.
  std::byte* out;
  int rank, num_ranks;
  std::int64_t bounds[most_ranks + 1];  ///< Rank r has the rows [bounds[r], bounds[r + 1]).
  reached_rows tables[most_ranks + 1];  ///< Of the ranks, and behind them the copies.
  vertex_id const* copy_of;             ///< Of each row the number of its copy here, or no_vertex; null: no copies.
  unsigned long long* away;  ///< [2], raised by the number of rows that are read from other ranks', and from copies.
};

/// Enqueues the reads.
void read_rows(rows_to_read const& job, gpu_exec const& exec);

}  // namespace tendril::gpu
