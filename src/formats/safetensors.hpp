#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <tendril/exec.hpp>

#include "formats/array_view.hpp"  // dtype

namespace tendril::formats {

/// The format that the metadata of one part of a cut graph name: no file of a graph, though it has the same arrays.
inline constexpr char const* part_format = "tendril-graph-part";

/// A tensor to be written.
struct tensor_spec {
  std::string name;
  dtype type = dtype::other;
  std::vector<std::int64_t> shape;
};

/// A tensor of a file: its elements are the bytes [begin, end) of the file.
struct tensor_entry {
  std::string name;
  dtype type = dtype::other;
  std::vector<std::int64_t> shape;
  std::int64_t begin = 0, end = 0;
};

struct safetensors_contents {
  std::map<std::string, tensor_entry> tensors;
  std::vector<std::string> names;  ///< Of the tensors, in the order of the header.
  std::map<std::string, std::string> metadata;
};

/// Reads the header of a safetensors file. Every tensor's bytes are inside of the file, overlap no other's, and are as
/// many as its shape and type need; types that this library does not know are `dtype::other` and not counted.
/// @param path   For messages.
/// @param bytes  The whole file.
/// @throws format_error "path: what, expected what".
[[nodiscard]] safetensors_contents parse_safetensors(std::string const& path, std::span<std::byte const> bytes);

/// What a file begins with: the header's length and the header, padded so that the data after it starts at a multiple
/// of 64 bytes. The tensors' data has to follow in the order of `tensors` and without gaps, as the format demands; put
/// those with large elements first, so that each is aligned.
/// @param least_size  Bytes that it takes at least, a multiple of 64: room for a longer one.
/// @throws argument_error for a shape that is negative or too large, or a type that the format doesn't know.
[[nodiscard]] std::string safetensors_header(std::span<tensor_spec const> tensors,
                                             std::map<std::string, std::string> const& metadata,
                                             std::size_t least_size = 0);

/// An array of one dimension, or of entries of several words, that is to be written.
struct tensor_data {
  tensor_spec spec;
  void const* data = nullptr;
  std::int64_t alignment = 0;  ///< Bytes of an element or entry.

  /// One dimension.
  [[nodiscard]] static tensor_data array(char const* name, dtype type, std::int64_t size, void const* data)
  {
    return {{name, type, {size}}, data, size_of(type)};
  }
  /// One dimension; `labels` are not empty.
  [[nodiscard]] static tensor_data array(char const* name, label_array const& labels)
  {
    return array(name, labels.bytes_per_label() == 1 ? dtype::uint8 : dtype::uint16, labels.size(), labels.view().data);
  }
};

/// Writes a file of these arrays, which appears when it is complete. Arrays of large elements come first, so that each is
/// aligned to its elements. `exec.on_progress` gets bytes.
/// @throws io_error
void write_tensors(std::string const& path, std::vector<tensor_data> tensors,
                   std::map<std::string, std::string> const& metadata, cpu_exec const& exec);

}  // namespace tendril::formats
