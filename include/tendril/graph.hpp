#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tendril/buffer.hpp>  // shared_array
#include <tendril/csr_arrays.hpp>
#include <tendril/exec.hpp>  // cpu_exec
#include <tendril/graph_view.hpp>
#include <tendril/types.hpp>

namespace tendril {

/// An owned array of labels, stored as uint8 or uint16.
class label_array {
 public:
  label_array() noexcept = default;
  label_array(shared_array<std::uint8_t> labels) noexcept : narrow_(std::move(labels)), bytes_(1) {}  // NOLINT
  label_array(shared_array<std::uint16_t> labels) noexcept : wide_(std::move(labels)), bytes_(2) {}   // NOLINT

  [[nodiscard]] label_view view() const noexcept
  {
    return {bytes_ == 1 ? static_cast<void const*>(narrow_.data()) : wide_.data(), bytes_};
  }
  [[nodiscard]] std::int64_t size() const noexcept { return bytes_ == 1 ? narrow_.size() : wide_.size(); }
  [[nodiscard]] bool empty() const noexcept { return bytes_ == 0; }
  [[nodiscard]] int bytes_per_label() const noexcept { return bytes_; }
  [[nodiscard]] std::shared_ptr<void const> const& owner() const noexcept
  {
    return bytes_ == 1 ? narrow_.owner() : wide_.owner();
  }

 private:
  shared_array<std::uint8_t> narrow_;
  shared_array<std::uint16_t> wide_;
  int bytes_ = 0;
};

/// The neighbours of a compressed graph (<tendril/compressed_view.hpp>), which has no `indptr` and no `indices`.
struct compressed_lists {
  shared_array<list_block> blocks;    ///< [V / 11 + 1]
  shared_array<wide_list> wide;       ///< 6 of each first half that is wide, 5 of each second one
  shared_array<std::uint32_t> words;  ///< The lists, and 16 words beyond; empty: not compressed.
  std::int64_t num_vertices = 0;
  edge_id num_edges = 0;
  graph_form form = graph_form::csr;  ///< That was asked for.
  vertex_id first_id = 0;             ///< The id of vertex 0: above 0 in a part of a graph alone (graph_part).

  [[nodiscard]] list_directory directory() const noexcept
  {
    return {blocks.data(), wide.data(), words.data(), first_id};
  }
  [[nodiscard]] std::int64_t num_bytes() const noexcept
  {
    return 64 * blocks.size() + 16 * wide.size() + 4 * words.size();
  }
};

/// Numbers of one width (<tendril/packed_numbers.hpp>), owned.
struct packed_array {
  shared_array<std::uint32_t> words;  ///< [packed_numbers::num_words(size, width)]
  std::int64_t size = 0;
  std::uint32_t width = 0;

  [[nodiscard]] packed_numbers view() const noexcept { return {words.data(), width}; }
  [[nodiscard]] bool empty() const noexcept { return size == 0; }
  /// 0 if it is empty.
  [[nodiscard]] double bits_each() const noexcept { return empty() ? 0 : 32.0 * double(words.size()) / double(size); }
};

/// Edge arrays of a compressed graph in fewer bits, each instead of the one of graph_arrays that it is named after.
/// Nothing is lost: `compress` chooses them by content, `to_csr` gives the arrays back bit for bit.
struct narrow_edges {
  packed_array weight_codes;          ///< [E]: positions in `weight_values`; at most 16 bits each.
  shared_array<float> weight_values;  ///< Weights that differ.
  packed_array labels;                ///< [E]; 1 to 16 bits each.
  int bytes_per_label = 0;            ///< That they take as an array.
  packed_array ids;                   ///< [E]: what id e is more than least_id + (ids_ascend ? e : 0).
  edge_id least_id = 0;
  bool ids_ascend = false;

  [[nodiscard]] std::int64_t num_bytes() const noexcept
  {
    return 4 * (weight_codes.words.size() + weight_values.size() + labels.words.size() + ids.words.size());
  }
};

/// A view of edge ids.
struct edge_id_view {
  edge_id const* data = nullptr;  ///< Null: narrow, or none.
  packed_numbers codes = {};      ///< Narrow, as narrow_edges has them.
  edge_id least = 0;
  bool ascend = false;

  [[nodiscard]] TENDRIL_HD edge_id operator[](edge_id e) const
  {
    return data != nullptr ? data[e] : least + (ascend ? e : 0) + static_cast<edge_id>(codes[e]);
  }
};

struct placed_lists;  // <tendril/place.hpp>
struct spread_graph;  // <tendril/several_gpus.hpp>

/// All arrays of a graph. All except either `indptr` and `indices`, or `compressed` may be empty.
struct graph_arrays {
  shared_array<edge_id> indptr;          ///< [V + 1], indptr[0] = 0, never decreasing, indptr[V] = E
  shared_array<vertex_id> indices;       ///< [E], each below V, ascending within a vertex
  shared_array<float> weights;           ///< [E], finite and >= 0
  label_array edge_labels;               ///< [E]
  label_array node_types;                ///< [V]
  shared_array<edge_id> edge_ids;        ///< [E]: the position of each edge in the input that the graph was built from
  shared_array<vertex_id> original_ids;  ///< [V]: the id of each vertex before renumbering; all differ
  std::vector<std::string> edge_label_names;
  std::vector<std::string> node_type_names;
  bool symmetric = false;                       ///< Every edge is stored in both directions, with one weight and label.
  std::map<std::string, std::string> metadata;  ///< name, origin, …: kept by the native container.
  int device = -1;                              ///< Where the arrays lie: a GPU's ordinal, or -1 for host memory.
  std::string source = {};  ///< The file that the arrays are mapped from, for messages about their content; or empty.
  compressed_lists compressed = {};                 ///< In place of `indptr` and `indices`.
  narrow_edges narrow = {};                         ///< Of a compressed graph alone.
  std::shared_ptr<placed_lists const> placed = {};  ///< Of a graph that is placed on a GPU and in host memory.
  std::shared_ptr<spread_graph const> spread = {};  ///< Of a graph over the memory of several GPUs.
};

/// What is known about the content of a graph's arrays. Each level includes the levels before it.
enum class graph_content : std::uint8_t {
  unchecked,  ///< The arrays' lengths fit each other. A mapped file starts here, and so do a caller's own arrays.
  sound,      ///< What samplers rely on: everything that `graph::validate` checks but symmetry and original ids.
  valid,      ///< Everything that `graph::validate` checks.
};

class content_state;  // what is known so far, shared by the copies of a graph: src/graph/content.hpp
class derived_cache;  // tables that planners build once a graph, kept with it: src/graph/derived_cache.hpp

/// An immutable graph. Copies share the arrays. The owner of an array may be the library, a mapped file or the caller.
class graph {
 public:
  graph();  ///< No vertices, no edges.

  /// Checks shapes in O(1). `view` checks the content once, when it is first used, unless the caller knows it already.
  /// The arrays must not change after that. Of arrays on a GPU the constructor and `view` read nothing.
  /// @param known  The caller's word: samplers read out of bounds if it is wrong.
  /// @throws argument_error if the arrays' lengths don't fit each other.
  explicit graph(graph_arrays arrays, graph_content known = graph_content::unchecked);

  [[nodiscard]] std::int64_t num_vertices() const noexcept;
  [[nodiscard]] edge_id num_edges() const noexcept
  {
    return form() == graph_form::csr ? arrays_.indices.size() : arrays_.compressed.num_edges;
  }
  /// How the neighbours are stored.
  [[nodiscard]] graph_form form() const noexcept
  {
    return arrays_.compressed.words.empty() ? graph_form::csr : arrays_.compressed.form;
  }
  [[nodiscard]] bool has_weights() const noexcept
  {
    return !arrays_.weights.empty() || !arrays_.narrow.weight_codes.empty();
  }
  [[nodiscard]] bool has_edge_labels() const noexcept
  {
    return !arrays_.edge_labels.empty() || !arrays_.narrow.labels.empty();
  }
  /// The bytes of a label in an array: 0 (no labels), 1 or 2, however they are stored.
  [[nodiscard]] int bytes_per_edge_label() const noexcept
  {
    return arrays_.narrow.labels.empty() ? arrays_.edge_labels.bytes_per_label() : arrays_.narrow.bytes_per_label;
  }
  [[nodiscard]] bool has_edge_ids() const noexcept { return !arrays_.edge_ids.empty() || !arrays_.narrow.ids.empty(); }
  [[nodiscard]] bool has_node_types() const noexcept { return !arrays_.node_types.empty(); }
  [[nodiscard]] graph_arrays const& arrays() const noexcept { return arrays_; }

  /// The GPU whose memory holds the arrays, or -1 for host memory.
  [[nodiscard]] int device() const noexcept { return arrays_.device; }

  /// The GPUs whose memory holds the arrays; none: host memory.
  [[nodiscard]] gpu_set placement() const { return arrays_.device < 0 ? gpu_set() : gpu_set(arrays_.device); }

  /// What lies where of a graph that `place_graph` made (<tendril/place.hpp>); null for every other graph.
  [[nodiscard]] placed_lists const* placed() const noexcept { return arrays_.placed.get(); }

  /// How each GPU sees a graph that `spread_over_gpus` laid out (<tendril/several_gpus.hpp>); null for every other graph.
  [[nodiscard]] spread_graph const* spread() const noexcept { return arrays_.spread.get(); }

  /// Valid as long as this graph or a copy of it lives. The first call checks unchecked content on all cores, at the
  /// speed of memory (see `check`); every later call, also of a copy, costs one atomic load. Thread-safe.
  /// @throws format_error as `check`.
  [[nodiscard]] graph_view view() const;

  /// The arrays of a graph in CSR form, checked as by `view`: for the code that builds graphs, files and tables. What
  /// samples takes a view.
  /// @throws format_error as `check`; argument_error if the graph has another form.
  [[nodiscard]] csr_arrays csr() const;

  /// The same of content that may be unchecked: offsets and neighbours can point anywhere.
  [[nodiscard]] csr_arrays raw_csr() const;

  /// What is known about the content so far: it only ever grows, and copies share it.
  [[nodiscard]] graph_content content() const noexcept;

  /// Reads all that samplers use once, in parallel, if the content is unchecked; then it is `graph_content::sound`.
  /// Thread-safe. Arrays on a GPU are left alone: `to_gpu` checks what it copies.
  /// @throws format_error with the first violation, as `validate`.
  void check(cpu_exec const& exec = {}) const;

  /// Bytes of the arrays, excluding derived tables.
  [[nodiscard]] std::int64_t num_bytes() const noexcept;

  /// Bits that neighbours and their directory take, divided by the number of edges; 0 without edges. In CSR form these
  /// are `indptr` and `indices`; of a compressed graph its directory and its lists.
  [[nodiscard]] double bits_per_edge() const noexcept;

  /// Reads everything once, in parallel, and checks each invariant named in `graph_arrays`; then the content is
  /// `graph_content::valid`.
  /// @throws format_error with the first violation: "vertex 7: neighbours not ascending at edge 31 (5 after 9)", after
  ///         the name of the file if the arrays are mapped.
  void validate(cpu_exec const& exec = {}) const;

  /// The tables built from this graph so far; its copies share them. Thread-safe.
  [[nodiscard]] derived_cache& derived() const noexcept { return *derived_; }

  /// Frees these tables. Results never depend on them.
  void drop_derived() const noexcept;

 private:
  graph_arrays arrays_;
  std::shared_ptr<derived_cache> derived_;
  std::shared_ptr<content_state> content_;
};

/// Whether every edge is stored in both directions, with one weight and label, whatever `graph_arrays::symmetric` says.
/// Searches for each reverse, in parallel, until the first one that is missing.
/// @throws argument_error if `input` is on a GPU; format_error if its content is not sound.
[[nodiscard]] bool is_symmetric(graph const& input, cpu_exec const& exec = {});

/// Input edges in any order. All spans have the same length; optional spans may be empty.
struct coo_view {
  std::span<vertex_id const> sources;
  std::span<vertex_id const> targets;
  std::span<float const> weights = {};
  label_view labels = {};  ///< One per edge, or empty.
};

/// Transformations that `build_graph` applies, in this order: reverse, symmetrize, drop self loops, drop duplicates,
/// compact.
struct build_options {
  std::int64_t num_vertices = -1;  ///< -1: the largest id plus one.
  bool reverse = false;            ///< Reverse every edge.
  bool symmetrize = false;         ///< Add each edge's reverse (a self loop is not doubled).
  bool drop_self_loops = false;
  bool drop_duplicates = false;  ///< Of edges with equal source, target and label, keep the first in the input.
  bool compact = false;        ///< Renumber the vertices that have an edge 0, 1, … in id order; keep `original_ids`.
  bool keep_edge_ids = false;  ///< Keep `edge_ids` (an added reverse edge has the id of its edge).
};

/// Builds the CSR of `edges` in parallel. Neighbours are sorted by id; equal neighbours keep their input order. The
/// result doesn't depend on the number of threads. Peak memory is at most 2.2 times the sum of input and result.
/// @throws argument_error if the lengths of the spans differ or an id is not below num_vertices (or is no_vertex);
///         format_error for a weight that is NaN, infinite or negative; memory_error.
[[nodiscard]] graph build_graph(coo_view const& edges, build_options const& options, cpu_exec const& exec = {});

/// Builds the same graph, bit for bit, from edges in GPU memory; the graph is in that memory too. Synchronises. Peak
/// memory in addition to the input: 18 bytes per arc (one arc per edge, two with symmetrize) and 16 per vertex; 34 per
/// arc if edges have weights, labels or ids; 46 per arc if duplicates with labels are dropped.
/// @throws as above, memory_error before anything is built; device_error.
[[nodiscard]] graph build_graph(coo_view const& edges, build_options const& options, gpu_exec const& exec);

/// Builds a graph from an existing graph with other options (edge ids refer to the edges of `input`).
[[nodiscard]] graph build_graph(graph const& input, build_options const& options, cpu_exec const& exec = {});

}  // namespace tendril
