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

/// Parses an id type by its command-line name. @throws argument_error unless the name is int32 or int64.
[[nodiscard]] element_type parse_element_type(std::string_view name);

/// The narrowest type that holds every vertex of a graph, and -1: int32 up to 2^31 vertices, int64 above.
[[nodiscard]] constexpr element_type vertex_element_type(std::int64_t num_vertices) noexcept
{
  return num_vertices <= (std::int64_t{1} << 31) ? element_type::int32 : element_type::int64;
}

/// Describes one array of a file.
struct array_spec {
  std::string name;
  element_type type = element_type::int64;
  std::vector<std::int64_t> shape;  ///< Row-major; {grows} if only the end of the writing tells.
};

/// The extent of an array of one dimension that has as many elements as are appended. A file may have one such array, if
/// it is a .safetensors.
inline constexpr std::int64_t grows = -1;

/// Writes arrays into one file. Each array is appended in pieces, from its beginning to its end; pieces
/// of different arrays may interleave. Memory use doesn't grow with the file. The extension selects the container: .npy
/// (one array), .npz (not compressed) or .safetensors. `commit` makes the complete file appear under its name.
class array_writer {
 public:
  /// @param metadata  Only .safetensors keeps it.
  /// @throws argument_error  an extension other than these, more than one array for a .npy, or an array that grows where
  ///                         none can; io_error.
  array_writer(std::string const& path, std::vector<array_spec> arrays,
               std::map<std::string, std::string> const& metadata = {});

  /// Several processes write one file, each its own elements; an array that grows has its size by `set_size`. The process that
  /// began the file commits after the others, whose written() it has been told. Only of a .npz it checks that all elements are
  /// written.
  /// @param unfinished  Empty: begins the file; else what unfinished_name() says in the process that began it.
  array_writer(std::string const& path, std::vector<array_spec> arrays,
               std::map<std::string, std::string> const& metadata, std::string const& unfinished);
  ~array_writer();
  array_writer(array_writer&&) noexcept;
  array_writer& operator=(array_writer&&) noexcept;

  /// Appends elements to array `which`. Elements of another type are converted: `no_vertex` becomes -1.
  /// @throws argument_error  more elements than the array's shape holds, 64-bit values for a 32-bit array, integers for
  ///                         an array of floats or floats for an array of integers; io_error.
  void append(std::size_t which, std::span<vertex_id const> elements, cpu_exec const& exec = {});
  void append(std::size_t which, std::span<std::int32_t const> elements);
  void append(std::size_t which, std::span<std::int64_t const> elements);
  void append(std::size_t which, std::span<float const> elements);

  /// Of a file that several processes write: how many elements an array that grows has, of all processes. Called once by each,
  /// before it writes there. The bytes are those of a file whose array has grown to this size.
  void set_size(std::size_t which, std::int64_t elements);

  /// Of a file that several processes write: the next elements of array `which` go to `element` and those after it.
  void seek(std::size_t which, std::int64_t element);
  [[nodiscard]] std::string const& unfinished_name() const noexcept;  ///< As atomic_file's.

  /// What this process has written, for `add_written` of the one that began the file: a .npz has check sums of whole arrays.
  [[nodiscard]] std::string written() const;
  void add_written(std::string_view by_another);

  /// Completes the file. @throws argument_error if an array is not full; io_error.
  void commit();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tendril
