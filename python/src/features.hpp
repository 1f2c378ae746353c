#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include <tendril/exec.hpp>
#include <tendril/features.hpp>
#include <tendril/gpu_features.hpp>

#include "gpu.hpp"

namespace tendril::python {

/// @param share  A work_share by its name. @throws argument_error for another one.
[[nodiscard]] gather_way way_of(std::string const& share, int num_threads);

/// An array of `count` rows like those of a table, in new memory of a GPU that `fill` fills on the stream. Needs no GIL.
[[nodiscard]] gpu_array new_rows(feature_table const& table, std::int64_t count, gpu_exec const& exec,
                                 std::function<void(std::span<std::byte>)> const& fill);

}  // namespace tendril::python
