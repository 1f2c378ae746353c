// Ids of rows as kernels read them.

#pragma once

#include <cstdint>
#include <limits>

#include <tendril/gpu_array.hpp>
#include <tendril/types.hpp>

namespace tendril::gpu {

/// @throws argument_error "ids[3] is 9, expected 0 to 4" for the first id that is no row. Synchronises.
void expect_rows(id_matrix const& ids, std::int64_t num_rows, gpu_exec const& exec);

/// Ids of one column as vertex_id, without a copy where they are that already: then they must outlive the object. What is
/// no row stays or becomes an id that is none. Enqueues.
class row_ids {
 public:
  row_ids(id_matrix const& ids, std::int64_t num_rows, gpu_exec const& exec) : size_(ids.num_rows)
  {
    // Bits of a negative int32 are those of an id that only a table of more than 2^31 rows has.
    bool const fits = ids.type == id_type::uint32 ||
                      (ids.type == id_type::int32 && num_rows <= std::int64_t{std::numeric_limits<int>::max()} + 1);
    if (fits && (ids.row_stride == 1 || ids.num_rows <= 1)) {
      data_ = static_cast<vertex_id const*>(ids.data);
    } else {
      made_ = narrow_ids(ids, exec);
      data_ = made_.data();
    }
  }

  [[nodiscard]] vertex_id const* data() const { return data_; }
  [[nodiscard]] std::int64_t size() const { return size_; }

 private:
  buffer<vertex_id> made_;
  vertex_id const* data_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace tendril::gpu
