#pragma once

#include <array>
#include <string_view>

namespace tendril::formats {

/// The arrays of a .safetensors file of walks, in the order in which they are given to an array_writer.
inline constexpr std::array<std::string_view, 2> row_arrays{"walks", "lengths"};
inline constexpr std::array<std::string_view, 2> ragged_arrays{"offsets", "vertices"};

}  // namespace tendril::formats
