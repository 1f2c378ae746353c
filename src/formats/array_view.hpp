#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/graph.hpp>  // label_array

namespace tendril::formats {

/// The element types that array files hold, little-endian. `other`: one that no graph is made of.
enum class dtype : std::uint8_t {
  boolean,
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  uint64,
  int64,
  float16,
  bfloat16,
  float32,
  float64,
  other
};

/// Bytes of an element; 0 for `other`.
[[nodiscard]] std::int64_t size_of(dtype type) noexcept;

/// As NumPy calls it: "int64".
[[nodiscard]] std::string_view to_string(dtype type) noexcept;

/// The number of elements of an array.
/// @return -1 if a dimension is negative or the array would be larger than 2^62 bytes.
[[nodiscard]] std::int64_t count_elements(std::span<std::int64_t const> shape, dtype type) noexcept;

/// An array inside of a file that is mapped or was inflated: row-major, little-endian, not necessarily aligned.
struct array_view {
  std::string name;
  dtype type = dtype::other;
  std::vector<std::int64_t> shape;
  std::span<std::byte const> bytes;
  std::shared_ptr<void const> owner;  ///< Keeps `bytes` alive.

  /// "(3, 4)", as NumPy shows it.
  [[nodiscard]] std::string shape_text() const;
};

// Arrays as parts of a graph. Where the elements are of the type asked for and aligned, the result refers to them;
// else it is a copy. Each throws format_error "path: array 'indices': what, expected what" for an array that is not
// one-dimensional, for a type that can't stand for what is asked, and for the first element out of range.

/// Integers of 4 or 8 bytes as edge offsets or ids, in [0, 2^62].
[[nodiscard]] shared_array<edge_id> to_edge_ids(std::string const& path, array_view const& array, cpu_exec const& exec);

/// Integers of 4 or 8 bytes as vertices, in [0, 2^32 - 1). @param what  "a vertex": what one is, for messages.
[[nodiscard]] shared_array<vertex_id> to_vertex_ids(std::string const& path, array_view const& array,
                                                    cpu_exec const& exec, char const* what = "a vertex");

/// Numbers as weights. Elements that are float32 already are not looked at.
[[nodiscard]] shared_array<float> to_weights(std::string const& path, array_view const& array, cpu_exec const& exec);

/// Integers as labels, in [0, 65,536): uint8 for 1-byte types, uint16 for the others.
[[nodiscard]] label_array to_labels(std::string const& path, array_view const& array, cpu_exec const& exec);

}  // namespace tendril::formats
