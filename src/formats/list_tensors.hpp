// The neighbours of a compressed graph, and its edge arrays in fewer bits, in a safetensors file: what files of graphs and of
// their parts have in common. docs/formats.md has the layout.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

#include "formats/array_view.hpp"
#include "formats/safetensors.hpp"

namespace tendril::formats {

/// The tensors of a safetensors file.
class tensor_reader {
 public:
  /// @param path   For messages.
  /// @param bytes  The whole file, alive as long as `owner`.
  /// @throws format_error as parse_safetensors.
  tensor_reader(std::string path, std::span<std::byte const> bytes, std::shared_ptr<void const> owner,
                cpu_exec const& exec)
      : path_(std::move(path)),
        bytes_(bytes),
        owner_(std::move(owner)),
        exec_(exec),
        contents_(parse_safetensors(path_, bytes))
  {
  }

  [[nodiscard]] std::string const& path() const { return path_; }
  [[nodiscard]] std::int64_t num_bytes() const { return std::ssize(bytes_); }
  [[nodiscard]] cpu_exec const& exec() const { return exec_; }

  [[nodiscard]] std::map<std::string, std::string> const& metadata() const { return contents_.metadata; }
  /// Empty if there is none.
  [[nodiscard]] std::string metadata(char const* key) const;
  /// A number of the metadata. @throws format_error for none in [0, most].
  [[nodiscard]] std::int64_t number(char const* key, std::int64_t most) const;

  [[nodiscard]] bool has(char const* name) const { return contents_.tensors.contains(name); }
  /// A tensor. @throws format_error "path: no tensor 'name', expected `parts`".
  [[nodiscard]] array_view expect(char const* name, char const* parts) const;

 private:
  std::string path_;
  std::span<std::byte const> bytes_;
  std::shared_ptr<void const> owner_;
  cpu_exec const& exec_;
  safetensors_contents contents_;
};

/// The metadata entry that names the form of compressed neighbours.
inline constexpr char const* form_key = "form";

/// Whether the metadata entry says something of compressed neighbours.
[[nodiscard]] bool is_list_key(std::string const& key);

/// The compressed form of a name; nothing for "csr" and what is none.
[[nodiscard]] std::optional<graph_form> find_compressed_form(std::string_view name);
/// "packed, runs, ef, vbyte, auto".
[[nodiscard]] std::string compressed_form_names();

/// The form that `form_key` names. @param version  Of the file, for the message. @throws format_error for none.
[[nodiscard]] graph_form read_form(tensor_reader const& file, std::string const& version);

/// Compressed neighbours, whose shapes are right; their content may be anything. @throws format_error.
[[nodiscard]] compressed_lists read_lists(tensor_reader const& file, graph_form form);

/// The edge arrays in fewer bits that the file has, of so many edges. @throws format_error.
[[nodiscard]] narrow_edges read_narrow(tensor_reader const& file, edge_id edges);

/// Adds tensors, and what the metadata say of them.
void add_lists(compressed_lists const& lists, std::vector<tensor_data>& tensors,
               std::map<std::string, std::string>& metadata);
void add_narrow(narrow_edges const& narrow, std::vector<tensor_data>& tensors,
                std::map<std::string, std::string>& metadata);

}  // namespace tendril::formats
