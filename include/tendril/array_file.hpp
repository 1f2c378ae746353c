#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/types.hpp>

namespace tendril {

enum class element_type { int32, int64, float32 };

/// "int32", "int64", "float32".
[[nodiscard]] std::string_view to_string(element_type type) noexcept;

/// A type of ids by the name used on command lines. @throws argument_error unless it is int32 or int64.
[[nodiscard]] element_type parse_element_type(std::string_view name);

/// The narrowest type that holds every vertex of a graph, and -1: int32 up to 2^31 vertices, else int64.
[[nodiscard]] constexpr element_type vertex_element_type(std::int64_t num_vertices) noexcept
{
  return num_vertices <= (std::int64_t{1} << 31) ? element_type::int32 : element_type::int64;
}

/// An array that a file will hold.
struct array_spec {
  std::string name;
  element_type type = element_type::int64;
  std::vector<std::int64_t> shape;  ///< Row-major.
};

/// Writes arrays whose shapes are known beforehand, each in pieces from its beginning to its end, the arrays in any
/// interleaving: memory doesn't grow with the file. The extension decides on the container: .npy (one array), .npz
/// (not compressed) or .safetensors. The file appears when `commit` is called, complete.
class array_writer {
 public:
  /// @param metadata  Kept by .safetensors alone.
  /// @throws argument_error  an extension that is none of these, a .npy of more than one array; io_error.
  array_writer(std::string const& path, std::vector<array_spec> arrays,
               std::map<std::string, std::string> const& metadata = {});
  ~array_writer();
  array_writer(array_writer&&) noexcept;
  array_writer& operator=(array_writer&&) noexcept;

  /// Appends elements to array `which`, converted to its type where it is another: `no_vertex` becomes -1.
  /// @throws argument_error  more elements than its shape holds, a 64-bit array's values for a 32-bit one, integers for
  ///                         floats or floats for integers; io_error.
  void append(std::size_t which, std::span<vertex_id const> elements, cpu_exec const& exec = {});
  void append(std::size_t which, std::span<std::int32_t const> elements);
  void append(std::size_t which, std::span<std::int64_t const> elements);
  void append(std::size_t which, std::span<float const> elements);

  /// Completes the file. @throws argument_error if an array is not full; io_error.
  void commit();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tendril
