// Memory of a table that is never cleared (src/gpu/batches/table.hpp): it hands out stamps that no call before had.

#pragma once

#include <algorithm>
#include <cstdint>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>

#include "gpu/batches/table.hpp"

namespace tendril::gpu {

class stamped_table {
 public:
  /// Room for `keys` keys. True if the table has moved.
  /// @param keep_from    Keeps keys of stamps from there on, if that is not 0,
  /// @param cut          where they are looked for then.
  /// @param first_stamp  Of a new table.
  bool grow(std::int64_t keys, std::uint32_t keep_from, table_cut const& cut, std::uint32_t first_stamp,
            gpu_exec const& exec);

  /// Whether a table of so many keys is beyond what places of 32 bits can tell apart.
  [[nodiscard]] static bool is_too_large(std::int64_t keys) { return slots_for(keys) > (std::int64_t{1} << 31U); }

  /// The first of as many stamps; enqueues the clearing of the table once in 2^32 of them.
  /// @param count  Below 2^32 - 1.
  [[nodiscard]] std::uint32_t take(std::int64_t count, gpu_exec const& exec);

  [[nodiscard]] number_table view() { return {slots_.data(), static_cast<std::uint32_t>(slots_.size() - 1)}; }

  /// As much of it as `keys` keys need: what lies close together stays in a cache.
  [[nodiscard]] number_table view(std::int64_t keys)
  {
    return {slots_.data(), static_cast<std::uint32_t>(std::min(slots_for(keys), slots_.size()) - 1)};
  }

 private:
  [[nodiscard]] static std::int64_t slots_for(std::int64_t keys);

  buffer<numbered_slot> slots_;
  std::uint64_t next_stamp_ = 0;
};

/// More stamps than there are.
inline constexpr std::int64_t most_stamps = 0xfffffffeLL;

}  // namespace tendril::gpu
