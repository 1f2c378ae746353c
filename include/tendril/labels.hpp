#pragma once

#include <cstdint>

#include <tendril/packed_numbers.hpp>
#include <tendril/types.hpp>

namespace tendril {

/// A view of labels, stored in 1 or 2 bytes each, or packed in fewer bits. Trivially copyable.
struct label_view {
  void const* data = nullptr;
  int bytes_per_label = 0;  ///< 0 (no labels), 1 or 2; 2 of packed labels.
  int width = 0;            ///< Of packed labels, 1 to 16: `data` are the words of packed_numbers. Else 0.

  [[nodiscard]] TENDRIL_HD bool empty() const { return bytes_per_label == 0; }
  [[nodiscard]] TENDRIL_HD label_id operator[](std::int64_t i) const
  {
    if (bytes_per_label == 1) { return static_cast<std::uint8_t const*>(data)[i]; }
    if (width == 0) { return static_cast<std::uint16_t const*>(data)[i]; }
    packed_numbers const codes{static_cast<std::uint32_t const*>(data), static_cast<std::uint32_t>(width)};
    return static_cast<label_id>(codes.at(i, plain_load{}));
  }
};

}  // namespace tendril
