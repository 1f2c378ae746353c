// Rows of features of several tables, each read where it lies: in memory of this GPU, or of another one that it reaches.

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

/// Row ids[i] of all tables goes to row i of `out`; of an id that none has, zeros.
struct rows_to_read {
  vertex_id const* ids;  ///< [size]
  std::int64_t size;
  std::int64_t row_bytes;  ///< 1 or more, below 2^30.
  std::byte* out;
  int num_tables;
  std::int64_t bounds[most_ranks + 1];  ///< Table t has the rows [bounds[t], bounds[t + 1]).
  reached_rows tables[most_ranks + 1];  ///< And behind them the copies.
  vertex_id const* copy_of;             ///< Of each row the number of its copy here, or no_vertex; null: no copies.
  int own;                              ///< A table whose reads are not counted.
  unsigned long long* away;  ///< [2], raised by the rows that are read from other tables, and from copies; or null.
};

/// Enqueues the reads.
void read_rows(rows_to_read const& job, gpu_exec const& exec);

}  // namespace tendril::gpu
