// Kernels that copy rows of features by their ids.

#pragma once

#include <cstddef>
#include <cstdint>

#include <tendril/exec.hpp>
#include <tendril/types.hpp>

namespace tendril::gpu {

/// Rows to copy: row ids[i] goes to row places[i] of `out`, for each i below `size`.
struct row_copies {
  std::byte const* rows = nullptr;  ///< Memory that the GPU can read.
  std::int64_t stride = 0;          ///< Bytes from one row to the next.
  std::int64_t num_rows = 0;
  std::int64_t row_bytes = 0;             ///< Below 2^30.
  vertex_id const* ids = nullptr;         ///< Null: row i.
  std::uint32_t const* places = nullptr;  ///< Null: row i.
  std::int64_t size = 0;
  std::byte* out = nullptr;
  std::byte const* more = nullptr;  ///< Rows num_rows and above, of the same stride; null: there are none.
};

/// Enqueues the copies. An id out of range gives a row of zeros.
/// @param first_bad  On the device, or null: lowered to the first i with such an id.
/// @param over_bus   The rows lie in host memory: few blocks read them at once, which is faster there.
void copy_rows(row_copies const& job, unsigned long long* first_bad, bool over_bus, gpu_exec const& exec);

/// Enqueues the numbers of copies: copy_of[ids[i]] = i, and no_vertex elsewhere. @param ids  [size] each once, below num_rows.
void number_copies(vertex_id const* ids, std::int64_t size, vertex_id* copy_of, std::int64_t num_rows,
                   gpu_exec const& exec);

/// Ids in ascending order, and where each was.
struct sorted_ids {
  buffer<vertex_id> ids;
  buffer<std::uint32_t> places;
};

/// Enqueues the sort. Equal ids keep their order. @param size  Below 2^31. @throws memory_error; device_error.
[[nodiscard]] sorted_ids sort_ids(vertex_id const* ids, std::int64_t size, std::int64_t num_rows, gpu_exec const& exec);

}  // namespace tendril::gpu
