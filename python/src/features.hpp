#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include <tendril/exec.hpp>
#include <tendril/features.hpp>

#include "gpu.hpp"

namespace tendril::python {

/// An array of `count` rows like those of a table, in new memory of a GPU that `fill` fills on the stream. Needs no GIL.
[[nodiscard]] gpu_array new_rows(feature_table const& table, std::int64_t count, gpu_exec const& exec,
                                 std::function<void(std::span<std::byte>)> const& fill);

}  // namespace tendril::python
