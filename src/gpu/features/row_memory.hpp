// Where the rows of tables lie, as a GPU sees them.

#pragma once

#include <tendril/gpu_features.hpp>

#include "gpu/features/rows.hpp"

namespace tendril::gpu {

/// Of a table that the current GPU is to read. @throws device_error.
[[nodiscard]] row_memory memory_of_rows(feature_table const& table);

/// Copies of rows without ids, for memory that GPU number `device` can read. @throws device_error.
[[nodiscard]] row_copies copies_of(feature_table const& table, int device);

}  // namespace tendril::gpu
