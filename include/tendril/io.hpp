#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/names.hpp>

namespace tendril {

/// File formats of graphs; docs/formats.md describes each format.
enum class graph_format {
  automatic,      ///< Recognised by content, then by extension.
  safetensors,    ///< The native container (.safetensors): opened by mmap without a copy.
  text_edges,     ///< SNAP text (.txt .tsv .csv .el .wel, and .gz of each).
  matrix_market,  ///< .mtx, .mtx.gz
  npz,            ///< SciPy CSR or CSC, or Tendril's indptr/indices layout (.npz).
  gap,            ///< GAP benchmark suite: .sg without weights, .wsg with.
  metis,          ///< .graph, .metis
  webgraph,       ///< WebGraph BV: .graph + .properties [+ .offsets]
  coo32,          ///< Pairs of little-endian uint32, source and target (.coo32). Read only.
  coo64,          ///< The same of uint64 (.coo64). Read only.
  npy,            ///< A NumPy array of edges, [2, E] or [E, 2] (.npy). Read only.
};

template <>
inline constexpr std::array<named<graph_format>, 11> enum_names<graph_format>{
    {{graph_format::automatic, "auto"},
     {graph_format::safetensors, "safetensors"},
     {graph_format::text_edges, "edge-list"},
     {graph_format::matrix_market, "matrix-market"},
     {graph_format::npz, "npz"},
     {graph_format::gap, "gap"},
     {graph_format::metis, "metis"},
     {graph_format::webgraph, "webgraph"},
     {graph_format::coo32, "coo32"},
     {graph_format::coo64, "coo64"},
     {graph_format::npy, "npy"}}};

struct read_options {
  graph_format format = graph_format::automatic;
  build_options build = {};  ///< Applied after reading; without options a CSR file is used unchanged.

  /// Edge lists and Matrix Market: the meaning of each column: "source", "target", "weight", "label" or "-" (ignore).
  /// Empty: source, target[, weight[, label]], as many as the first line has.
  std::vector<std::string> columns = {};
};

/// Detects the format of a file from its first bytes and its name.
/// @throws io_error if the file can't be read; format_error if no format fits.
[[nodiscard]] graph_format detect_graph_format(std::string const& path);

/// Reads a graph and validates it. A safetensors file is mapped, and opens in milliseconds whatever its size: its content
/// is checked when the graph is first used (`graph::view`). The file must stay as it is while the graph lives: a process
/// that reads past the end of a file that was made shorter gets SIGBUS (see `mapped_file_at` in file.hpp). Replacing the
/// file by renaming another one over it is safe.
/// @throws io_error, format_error ("file:line: what, expected what"), memory_error, argument_error.
[[nodiscard]] graph read_graph(std::string const& path, read_options const& options = {}, cpu_exec const& exec = {});

struct write_options {
  graph_format format = graph_format::automatic;  ///< automatic: by the extension.
};

/// Writes a graph into a temporary file beside `path` and renames it when it is complete. A graph that is not known to be
/// valid is validated first. A safetensors file keeps the form of the neighbours, the other formats have one of their own.
/// Weights, labels and types that a format can't hold (labels in a METIS file, say) are an argument_error, not dropped in
/// silence; edge ids, original ids, names and metadata are kept by safetensors and npz and left out elsewhere.
/// @throws io_error, argument_error; format_error as `graph::validate`.
void write_graph(graph const& input, std::string const& path, write_options const& options = {},
                 cpu_exec const& exec = {});

}  // namespace tendril
