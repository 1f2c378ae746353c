// Elements of arrays in files.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tendril::formats {

inline constexpr std::int64_t elements_a_range = std::int64_t{1} << 18U;  ///< That a thread takes at once.

/// What begins at byte `at`, wherever that is aligned. Numbers in files are little-endian, as those of the processor.
template <class T>
[[nodiscard]] T load(std::span<std::byte const> bytes, std::size_t at)
{
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

}  // namespace tendril::formats
