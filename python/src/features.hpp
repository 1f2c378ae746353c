#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include <tendril/exec.hpp>
#include <tendril/features.hpp>
#include <tendril/gpu_features.hpp>

#include "arrays.hpp"
#include "gpu.hpp"

namespace tendril::python {

/// A table as Python holds it.
struct features {
  feature_table table;
  bool writable = false;  ///< Whether its memory is of no one else.
};

/// An array that takes rows.
using rows_out = nb::ndarray<>;

/// The bytes of an array in host memory that takes `count` rows like those of a table.
/// @throws argument_error for another type, shape or layout; a TypeError for memory of a GPU.
[[nodiscard]] std::span<std::byte> host_bytes_for_rows(feature_table const& table, std::size_t count,
                                                       rows_out const& out);

/// @param share  A work_share by its name. @throws argument_error for another one.
[[nodiscard]] gather_way way_of(std::string const& share, int num_threads, double gpu_part, gather_meter* meter);

/// An array of `count` rows like those of a table, in new memory of a GPU that `fill` fills on the stream. Needs no GIL.
[[nodiscard]] gpu_array new_rows(feature_table const& table, std::int64_t count, gpu_exec const& exec,
                                 std::function<void(std::span<std::byte>)> const& fill);

}  // namespace tendril::python
