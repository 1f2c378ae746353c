#pragma once

#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/names.hpp>
#include <tendril/types.hpp>

// A graph that is cut into parts: each of several processes, the ranks, reads the rows of its own vertices alone. A part
// is a range of consecutive vertices; its neighbours have the ids of the whole graph.

namespace tendril {

/// How the vertices are dealt out to the parts.
enum class partition_method : std::uint8_t {
  range,  ///< Equal numbers of vertices: they differ by at most one.
  degree,  ///< Equal work, where a vertex counts one and each of its edges one: no other bounds have a smaller largest part.
  metis,  ///< METIS' clusters (cluster_vertices). The graph is renumbered first, so that each cluster is consecutive.
};

template <>
inline constexpr std::array<named<partition_method>, 3> enum_names<partition_method>{
    {{partition_method::range, "range"}, {partition_method::degree, "degree"}, {partition_method::metis, "metis"}}};

/// The most parts of a graph.
inline constexpr std::int64_t max_num_parts = 1024;

struct partition_params {
  std::int64_t num_parts = 1;  ///< In [1, max_num_parts]; more than there are vertices leave parts empty.
  partition_method method = partition_method::degree;
  std::optional<graph_form> form = {};  ///< Of the parts' neighbours; nullopt: that of the graph.
};

/// What a planner knows of the weights of the whole graph: on every rank the same, so that all choose the same rule.
struct partition_weights {
  double expected_trials = 1;  ///< Mean of degree * largest / sum over the vertices that random edges lead from.
  double mean_degree = 0;      ///< Mean degree of the same vertices.
  double most_trials = 1;      ///< Degree * largest / sum of the vertex where it is largest.

  [[nodiscard]] bool operator==(partition_weights const&) const = default;
};

/// What all ranks know of a graph that was cut: of the whole graph, which is the renumbered one after `metis`.
struct partition_info {
  std::int64_t num_vertices = 0;
  edge_id num_edges = 0;
  std::vector<std::int64_t> bounds{0, 0};  ///< [num_parts + 1]: part p has the vertices [bounds[p], bounds[p + 1]).
  std::vector<edge_id> part_edges{0};      ///< [num_parts]: edges that leave the part's vertices.
  std::vector<edge_id> crossing_edges{0};  ///< [num_parts]: those of them that lead to a vertex of another part.
  partition_method method = partition_method::degree;
  graph_form form = graph_form::csr;  ///< Of the parts' neighbours.
  bool symmetric = false;             ///< As graph_arrays::symmetric.
  bool has_weights = false;
  int bytes_per_edge_label = 0;  ///< 0 (no labels), 1 or 2.
  bool has_edge_ids = false;
  int bytes_per_node_type = 0;  ///< 0 (no types), 1 or 2.
  bool has_original_ids = false;
  std::vector<std::string> edge_label_names, node_type_names;
  std::map<std::string, std::string> metadata;  ///< As graph_arrays::metadata.
  std::optional<partition_weights> weights;     ///< Of a graph with weights.
  std::vector<label_id> edge_labels_in_use;     ///< Ascending.
  std::vector<label_id> node_types_in_use;      ///< Ascending.

  /// 32 hexadecimal digits that tell graphs apart: a hash of every array and of the names. It depends on neither threads,
  /// parts, `range` or `degree`, nor the form of the neighbours. Not made against forgery.
  std::string digest;

  [[nodiscard]] std::int64_t num_parts() const noexcept { return static_cast<std::int64_t>(bounds.size()) - 1; }

  /// The part that has vertex v, which the graph must have. O(log num_parts).
  [[nodiscard]] std::int64_t part_of(std::int64_t v) const noexcept;

  [[nodiscard]] bool operator==(partition_info const&) const = default;
};

/// One part: row i of `rows` is vertex first_vertex() + i.
struct graph_part {
  partition_info info;
  std::int64_t index = 0;

  /// Of the part's rows, in host memory: `indptr` ([num_vertices() + 1], from 0) and `indices` (ids of the whole graph, ascending
  /// in a row), or `compressed` with first_id = first_vertex(); where the graph has them, `weights`, `edge_labels` and
  /// `edge_ids`, or `narrow` in their place. No graph can be made of them: neighbours lie beyond the rows.
  graph_arrays rows;
  label_array node_types;                ///< [info.num_vertices]: of the whole graph, or empty.
  shared_array<vertex_id> original_ids;  ///< [info.num_vertices]: of the whole graph, or empty.

  [[nodiscard]] std::int64_t first_vertex() const { return info.bounds[static_cast<std::size_t>(index)]; }
  [[nodiscard]] std::int64_t last_vertex() const { return info.bounds[static_cast<std::size_t>(index) + 1]; }
  [[nodiscard]] std::int64_t num_vertices() const { return last_vertex() - first_vertex(); }
  /// The number of its first edge in the whole graph.
  [[nodiscard]] edge_id first_edge() const
  {
    return std::accumulate(info.part_edges.begin(), info.part_edges.begin() + index, edge_id{0});
  }
};

/// Cuts a graph, and writes graph.json, a file a part and, where vertices have types or original ids,
/// vertices.safetensors into a new folder (docs/formats.md). The folder appears when it is complete.
///
/// Parts of a graph in CSR form are written from its arrays, which may be mapped from a file larger than memory. Beside
/// the graph this takes 8 bytes a vertex of one part, and 4 bytes a vertex of the graph for the statistics of weights.
/// Compressed parts, and parts of a compressed graph, are made one after the other: each takes what it will take as a
/// file, and its weights, labels and edge ids at their full width. `metis` takes what METIS and `renumber` take. Synchronous.
/// @param folder  Must not exist, or be an empty folder.
/// @throws argument_error  the number of parts; more edges of a compressed part than 2^40 - 1; a folder that is not empty; a graph on a GPU;
///         io_error        writing, and for `metis` that METIS can't be loaded; format_error as `graph::check`;
///                         memory_error.
partition_info partition_graph(graph const& input, std::string const& folder, partition_params const& params,
                               cpu_exec const& exec = {});

/// The same part without files. In CSR form, of a graph in CSR form, it shares the arrays of edges; only `indptr` is a copy.
/// Reads the whole graph for what `info` tells.
/// @throws as partition_graph, and argument_error for an index out of range.
[[nodiscard]] graph_part part_of(graph const& input, partition_params const& params, std::int64_t index,
                                 cpu_exec const& exec = {});

/// The name of a part's file in the folder: "part-00001-of-00004.safetensors".
[[nodiscard]] std::string part_file(std::int64_t index, std::int64_t num_parts);

/// Whether `path` is a folder that has a graph.json.
[[nodiscard]] bool is_partition(std::string const& path);

/// Reads graph.json. @throws io_error; format_error "folder/graph.json: what, expected what".
[[nodiscard]] partition_info read_partition_info(std::string const& folder);

/// Maps one part, and reads it once to check all that walks rely on. The files must stay as they are while the part lives.
/// @throws argument_error for an index out of range; io_error; format_error "file: what, expected what", also for a file
///         of another graph.
[[nodiscard]] graph_part read_part(std::string const& folder, std::int64_t index, cpu_exec const& exec = {});

/// Reads all parts into one graph, in memory, in the form of the parts: with `range` and `degree` the one that was cut, bit for
/// bit; with `metis` the renumbered one. Beside the result it takes the weights, labels and edge ids of a compressed graph at
/// full width.
/// @param build  Applied after reading, as read_options::build.
/// @throws as read_part; memory_error.
[[nodiscard]] graph read_parts_as_graph(std::string const& folder, cpu_exec const& exec = {},
                                        build_options const& build = {});

}  // namespace tendril
