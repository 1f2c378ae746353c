// Gathers from tables over the memory of several GPUs, of which each has copies of some rows.

#pragma once

#include <cstddef>
#include <span>

#include <tendril/features.hpp>

#include "gpu/features/row_ids.hpp"

namespace tendril::gpu {

/// Whether GPUs have copies of rows of a table.
[[nodiscard]] bool has_copies(feature_table const& table);

/// Enqueues a gather from such a table, by one of its GPUs: a row's copy where there is one. Ids that are no rows give zeros.
void read_spread_rows(feature_table const& table, row_ids const& ids, std::span<std::byte> out, gpu_exec const& exec);

}  // namespace tendril::gpu
