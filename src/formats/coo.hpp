#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <tendril/io.hpp>

namespace tendril::formats {

/// Edges as pairs of binary numbers: a file of nothing else, or a NumPy array of two rows or two columns.
class coo_edges {
 public:
  /// @param bytes   The whole file; must outlive this.
  /// @param format  coo32, coo64 or npy.
  /// @throws format_error for a file whose size or shape holds no pairs.
  coo_edges(std::string path, std::span<std::byte const> bytes, graph_format format, build_options const& build);

  [[nodiscard]] std::int64_t num_edges() const { return num_edges_; }

  /// Copies the edges from `first` on, as many as the spans take. Each number of the file is read once.
  /// @throws format_error for the first number that is no vertex.
  void read(std::int64_t first, std::span<vertex_id> sources, std::span<vertex_id> targets, cpu_exec const& exec) const;

 private:
  void read_ends(std::int64_t first, int end, std::span<vertex_id> to, cpu_exec const& exec) const;
  template <class T>
  void read_ends_of(std::int64_t first, int end, std::span<vertex_id> to, cpu_exec const& exec) const;

  std::string path_;
  std::byte const* data_ = nullptr;
  std::int64_t num_edges_ = 0;
  std::int64_t stride_ = 2;  // numbers from one edge to the next
  std::int64_t apart_ = 1;   // numbers from a source to its target
  int bytes_a_number_ = 4;
  bool is_signed_ = false;
  std::int64_t limit_ = 0;  // ids are below
  char const* hint_ = "";   // what to add to messages about ids
};

}  // namespace tendril::formats
