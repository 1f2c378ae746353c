#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/array_view.hpp"

namespace tendril::formats {

/// What a .npy file begins with (format 1.0), padded to a multiple of 64 bytes: row-major, little-endian data follows.
/// @throws argument_error for a type that NumPy doesn't have.
[[nodiscard]] std::string npy_header(dtype type, std::span<std::int64_t const> shape);

/// The same for a single string of `size` > 0 bytes (dtype S, shape ()).
[[nodiscard]] std::string npy_text_header(std::size_t size);

/// Reads a .npy file, of format 1, 2 or 3; the result's bytes are the data, as many as shape and type need.
/// Types of no use in a graph (strings, records, big-endian numbers…) come out as `dtype::other`, with all that
/// follows the header as their bytes.
/// @param path   For messages; `array.name`, `bytes` and `owner` of the array are the caller's.
/// @throws format_error for a malformed header, data that is too short, or a matrix in column-major order.
[[nodiscard]] array_view parse_npy(std::string const& path, std::string name, std::span<std::byte const> bytes,
                                   std::shared_ptr<void const> owner);

}  // namespace tendril::formats
