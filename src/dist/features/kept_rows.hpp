// Copies of rows that other ranks have, for ranks that ask for them often.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <tendril/buffer.hpp>

namespace tendril::dist {

class kept_rows {
 public:
  kept_rows() = default;
  /// @param ids       Of the rows, each once, fewer than 2^32 - 1.
  /// @param num_rows  Of all ranks.
  kept_rows(std::span<std::int64_t const> ids, buffer<std::byte> rows, std::int64_t num_rows, std::int64_t row_bytes)
      : slots_(static_cast<std::size_t>(ids.empty() ? 0 : num_rows), none),
        rows_(std::move(rows)),
        size_(std::ssize(ids)),
        row_bytes_(row_bytes)
  {
    std::uint32_t slot = 0;
    for (std::int64_t const id : ids) { slots_[static_cast<std::size_t>(id)] = slot++; }
  }

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] bool has(std::int64_t id) const { return size_ > 0 && slots_[static_cast<std::size_t>(id)] != none; }
  /// Of an id that is there.
  [[nodiscard]] std::byte const* row(std::int64_t id) const
  {
    return rows_.data() + slots_[static_cast<std::size_t>(id)] * row_bytes_;
  }

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  std::vector<std::uint32_t> slots_;  // of each row of all ranks
  buffer<std::byte> rows_;
  std::int64_t size_ = 0, row_bytes_ = 0;
};

}  // namespace tendril::dist
