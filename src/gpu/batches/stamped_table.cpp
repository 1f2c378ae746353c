#include "gpu/batches/stamped_table.hpp"

#include <algorithm>
#include <bit>

#include <cuda_runtime_api.h>

#include <tendril/gpu.hpp>  // memory_of

#include "gpu/batches/numbering.hpp"  // move_table
#include "gpu/device/check.hpp"

namespace tendril::gpu {

std::int64_t stamped_table::slots_for(std::int64_t keys)
{
  // At most half full even if all keys differ. Small tables are emptier: they lie in the second-level cache anyway, and a
  // small launch waits for its longest search.
  constexpr std::int64_t few_keys = std::int64_t{1} << 17U;
  std::int64_t const needed = std::max(fewest_table_slots, (keys <= few_keys ? 4 : 2) * keys);
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(needed)));
}

bool stamped_table::grow(std::int64_t keys, std::uint32_t keep_from, table_cut const& cut, std::uint32_t first_stamp,
                         gpu_exec const& exec)
{
  std::int64_t const slots = slots_for(keys);
  if (slots_.size() >= slots) { return false; }
  buffer<numbered_slot> larger(slots, memory_of(exec));
  TENDRIL_CUDA_TRY(
      cudaMemsetAsync(larger.data(), 0, static_cast<std::size_t>(slots) * sizeof(numbered_slot), exec.stream));
  if (keep_from != 0) {
    number_table to{larger.data(), static_cast<std::uint32_t>(slots - 1)};
    to.cut(cut);
    move_table(view(), to, keep_from, exec);
  } else {
    next_stamp_ = first_stamp;
  }
  slots_ = std::move(larger);
  return true;
}

std::uint32_t stamped_table::take(std::int64_t count, gpu_exec const& exec)
{
  if (static_cast<std::int64_t>(next_stamp_) + count > most_stamps + 1) {
    next_stamp_ = 1;
    TENDRIL_CUDA_TRY(cudaMemsetAsync(slots_.data(), 0, static_cast<std::size_t>(slots_.size()) * sizeof(numbered_slot),
                                     exec.stream));
  }
  auto const first = static_cast<std::uint32_t>(next_stamp_);
  next_stamp_ += static_cast<std::uint64_t>(count);
  return first;
}

}  // namespace tendril::gpu
