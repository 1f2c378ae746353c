// Kernels that count how often rows are used, as src/gpu/features/row_counts.cpp calls them. All enqueue; the current GPU is
// that of `exec`.

#pragma once

#include <cstdint>
#include <span>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/types.hpp>

#include "gpu/features/row_ids.hpp"

namespace tendril::gpu {

/// Adds one to the count of each id that has one.
void count_rows(row_ids const& ids, std::span<std::uint32_t> counts, gpu_exec const& exec);

/// All rows, those of the greatest counts first, of equal counts those of lower ids.
[[nodiscard]] buffer<vertex_id> rows_by_counts(std::span<std::uint32_t const> counts, gpu_exec const& exec);

/// The counts, and 255 for greater ones.
void scores_of_counts(std::span<std::uint32_t const> counts, std::uint8_t* scores, gpu_exec const& exec);

}  // namespace tendril::gpu
