// The names of a cut graph's files, and what is in graph.json. docs/formats.md has the layout.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <tendril/partition.hpp>

#include "formats/safetensors.hpp"  // part_format

namespace tendril::dist {

inline constexpr char const* info_file = "graph.json";
inline constexpr char const* vertices_file = "vertices.safetensors";

// Metadata of the files of arrays.
inline constexpr char const* format_key = "format";
inline constexpr char const* version_key = "version";
inline constexpr char const* digest_key = "digest";
inline constexpr char const* part_key = "part";
using formats::part_format;
inline constexpr char const* vertices_format = "tendril-graph-vertices";
inline constexpr char const* format_version = "1";
inline constexpr char const* form_version = "2";  // of parts whose neighbours are compressed

// Names of arrays, as in the native container.
inline constexpr char const* indptr_name = "indptr";
inline constexpr char const* indices_name = "indices";
inline constexpr char const* weights_name = "weights";
inline constexpr char const* edge_labels_name = "edge_labels";
inline constexpr char const* edge_ids_name = "edge_ids";
inline constexpr char const* node_types_name = "node_types";
inline constexpr char const* original_ids_name = "original_ids";

/// Whether the graph has a file of vertices.
[[nodiscard]] inline bool has_vertex_arrays(partition_info const& info)
{
  return info.bytes_per_node_type > 0 || info.has_original_ids;
}

/// Bytes of the arrays of a part.
[[nodiscard]] std::int64_t part_bytes(partition_info const& info, std::int64_t index);

[[nodiscard]] std::string to_json_text(partition_info const& info);

/// @param path  For messages.
/// @throws format_error "path: what, expected what", for any text that to_json_text doesn't write of a graph.
[[nodiscard]] partition_info parse_partition_info(std::string const& path, std::string_view text);

/// What the metadata of a part say, whatever is in it.
[[nodiscard]] inline std::map<std::string, std::string> part_metadata(partition_info const& info, std::int64_t index)
{
  return {{format_key, part_format},
          {version_key, info.form == graph_form::csr ? format_version : form_version},
          {digest_key, info.digest},
          {part_key, fmt::format("{}/{}", index, info.num_parts())}};
}

}  // namespace tendril::dist
