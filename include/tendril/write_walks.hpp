#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <tendril/array_file.hpp>  // element_type
#include <tendril/exec.hpp>
#include <tendril/types.hpp>

namespace tendril {

/// The format of a file of walks.
enum class walk_format {
  npy,          ///< One array [num_walks, length + 1], -1 after a walk's end (.npy).
  safetensors,  ///< `walks`: the same array; `lengths`: int32 [num_walks]; and metadata (.safetensors).
  text,         ///< One walk per line, up to its end, vertices separated by spaces, as word2vec tools read it (.txt).
};

/// Selects the format of an output file by its extension; "-" is text.
/// @throws argument_error naming the known extensions.
[[nodiscard]] walk_format walk_format_of(std::string_view path);

/// Properties of the walks that are known before the first walk is made.
struct walk_file_info {
  std::int64_t num_walks = 0;
  std::int64_t length = 0;           ///< Steps of a full walk: a row has length + 1 vertices.
  std::int64_t num_vertices = 0;     ///< Of the graph; determines the type if `type` is empty.
  std::optional<element_type> type;  ///< Type of the vertices; text has no type.
  /// No rows: `offsets`, int64 [num_walks + 1], and `vertices`: walk i is vertices[offsets[i], offsets[i + 1]), up to its
  /// end. Only .safetensors.
  bool ragged = false;
  std::map<std::string, std::string> metadata;  ///< Only .safetensors keeps it.
};

/// The walks that one of several processes writes into one file.
struct shared_walks {
  std::int64_t first = 0;  ///< Of the file's walks.
  std::int64_t size = 0;
  std::string unfinished =
      {};  ///< Empty: begins the file; else what unfinished_name() says in the process that began it.
  std::int64_t first_vertex = 0,
               num_vertices = 0;  ///< Ragged: where this process's begin, and how many all walks have.
};

/// Writes walks batch by batch, in order, into a file that appears when it is complete. It uses a few MiB of memory for
/// any number of walks.
class walk_writer {
 public:
  /// @param path  The extension selects the format; "-" writes text to standard output.
  /// @throws argument_error  an unknown extension, an extension that can't be ragged, or int32 for more than 2^31
  ///                         vertices; io_error.
  walk_writer(std::string const& path, walk_file_info const& info);

  /// Writes some walks of a file, .npy or .safetensors; `info` is of the whole file. The process that began the file
  /// commits after the others: the file is complete when all have.
  /// @throws argument_error as above, and for text, whose lines have no places of their own; io_error.
  walk_writer(std::string const& path, walk_file_info const& info, shared_walks const& part);
  ~walk_writer();
  walk_writer(walk_writer&&) noexcept;
  walk_writer& operator=(walk_writer&&) noexcept;

  /// Appends the next walks: `vertices` [n, length + 1] and `lengths` [n] as `walker::run_into` fills them. Text and
  /// int64 output is converted on the threads of `exec`. Synchronous.
  /// @throws argument_error if there are more walks than announced; io_error.
  void append(std::span<vertex_id const> vertices, std::span<std::int32_t const> lengths, cpu_exec const& exec = {});

  /// Appends the next walks to a ragged file: walk i is vertices[offsets[i], offsets[i + 1]), and offsets[0] is 0.
  /// @throws argument_error as above; for a file of rows, and offsets that don't fit the vertices; io_error.
  void append(std::span<std::int64_t const> offsets, std::span<vertex_id const> vertices, cpu_exec const& exec = {});

  /// The temporary name of a file that this process began, for others who write to it.
  [[nodiscard]] std::string const& unfinished_name() const noexcept;

  /// Completes the file. @throws argument_error if walks are missing; io_error.
  void commit();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tendril
