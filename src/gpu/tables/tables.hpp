// Tables of a graph on a GPU: those of plan/tables.hpp, element for element, and those that only the GPU's walks read.
// Every builder takes a view whose arrays lie in the memory of exec.device, allocates result and scratch from
// memory_of(exec) and enqueues its work on exec.stream. It returns without waiting unless it says otherwise. Work is cut
// by edges, so that no degree of any vertex unbalances it. Rows of a view may be more than 2^32 (plan::label_groups).
// All throw memory_error, and device_error if a launch fails.

#pragma once

#include <cstdint>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

#include "core/label_lists.hpp"
#include "plan/tables.hpp"

namespace tendril::gpu {

/// One vertex in 8 bytes, for graphs of less than 2^32 edges: where its edges are, and how many.
struct alignas(8) row_record {
  std::uint32_t first;
  std::uint32_t degree;
};

/// One edge in 16 bytes: its target, and where that one's edges are. One gather a step.
struct alignas(16) hop_record {
  vertex_id neighbor;
  std::uint32_t degree;  ///< Of `neighbor`.
  edge_id first;         ///< The first edge of `neighbor`.
};

/// One edge in 8 bytes: its target, and where that one's edges are, in as many bits as the graph needs. The degree has
/// what is left; one that doesn't fit reads as `saturated`, and is looked up in the rows.
struct hop_packing {
  std::uint32_t vertex_bits = 0, first_bits = 0;

  [[nodiscard]] static hop_packing of(std::int64_t num_vertices, edge_id num_edges)
  {
    auto const bits = [](std::int64_t largest) {
      std::uint32_t n = 1;
      while ((largest >> n) > 0) { ++n; }
      return n;
    };
    return {bits(num_vertices), bits(num_edges)};
  }

  [[nodiscard]] TENDRIL_HD int degree_bits() const
  {
    return 64 - static_cast<int>(vertex_bits) - static_cast<int>(first_bits);
  }
  [[nodiscard]] TENDRIL_HD std::uint32_t saturated() const { return (1U << (64U - vertex_bits - first_bits)) - 1U; }
  [[nodiscard]] TENDRIL_HD std::uint64_t pack(vertex_id neighbor, edge_id first, std::uint32_t degree) const
  {
    std::uint64_t const kept = degree < saturated() ? degree : saturated();
    return neighbor | (static_cast<std::uint64_t>(first) << vertex_bits) | (kept << (vertex_bits + first_bits));
  }
  [[nodiscard]] TENDRIL_HD vertex_id neighbor(std::uint64_t hop) const
  {
    return static_cast<vertex_id>(hop & ((std::uint64_t{1} << vertex_bits) - 1));
  }
  [[nodiscard]] TENDRIL_HD std::uint32_t first(std::uint64_t hop) const
  {
    return static_cast<std::uint32_t>((hop >> vertex_bits) & ((std::uint64_t{1} << first_bits) - 1));
  }
  [[nodiscard]] TENDRIL_HD std::uint32_t degree(std::uint64_t hop) const
  {
    return static_cast<std::uint32_t>(hop >> (vertex_bits + first_bits));
  }
};

/// A range of edges in 8 bytes, for graphs of less than 2^40 edges and degrees below 2^24.
struct packed_place {
  static constexpr edge_id first_limit = edge_id{1} << 40U;
  static constexpr std::uint32_t degree_limit = (1U << 24U) - 1;  ///< Below it no place has all bits set.

  std::uint64_t bits;

  [[nodiscard]] static TENDRIL_HD packed_place of(edge_id first, std::uint32_t degree)
  {
    return {static_cast<std::uint64_t>(first) | (std::uint64_t{degree} << 40U)};
  }
  [[nodiscard]] TENDRIL_HD edge_id first() const
  {
    return static_cast<edge_id>(bits & ((std::uint64_t{1} << 40U) - 1));
  }
  [[nodiscard]] TENDRIL_HD std::uint32_t degree() const { return static_cast<std::uint32_t>(bits >> 40U); }
};

/// One bucket of an alias table in 32 bytes, one sector of memory: the vertices it chooses between, and where their
/// edges are.
struct alignas(32) alias_hop_record {
  std::uint64_t threshold;
  vertex_id here;
  vertex_id there;
  packed_place here_place;
  packed_place there_place;
};

/// Three targets in 8 bytes, for graphs of at most 2^21 vertices: those of edges 3 k, 3 k + 1 and 3 k + 2 in word k, 21 bits
/// each from the lowest on. Two thirds of CSR's bytes: more of them stay in the second-level cache.
struct target_triples {
  static constexpr std::uint32_t targets = 3;
  static constexpr std::uint32_t bits = 21;

  [[nodiscard]] static constexpr std::int64_t words(edge_id num_edges) { return (num_edges + targets - 1) / targets; }
  [[nodiscard]] static TENDRIL_HD std::uint64_t put(std::uint32_t place, vertex_id target)
  {
    return std::uint64_t{target} << (place * bits);
  }
  [[nodiscard]] static TENDRIL_HD vertex_id get(std::uint64_t word, std::uint32_t place)
  {
    return static_cast<vertex_id>(word >> (place * bits)) & ((1U << bits) - 1U);
  }
};

/// The weighted edges of each vertex by label: what core::label_lists_view sees.
struct label_lists {
  std::int64_t num_labels = 0;
  buffer<edge_id> firsts;                ///< [num_vertices * num_labels + 1]
  buffer<core::listed_candidate> edges;  ///< [num_edges]; `index` counts in the vertex's whole row.

  [[nodiscard]] core::label_lists_view view() const
  {
    return {firsts.data(), edges.data(), static_cast<std::uint32_t>(num_labels)};
  }
};

/// Edges that alias tables and label groups are built from at a time; bounds their scratch memory. A batch is made of
/// whole rows, so it can be longer by the edges of one.
inline constexpr std::int64_t batch_edges = std::int64_t{1} << 26U;

/// The weights of each row as the planner sees them; plan::make_weight_statistics on the GPU. `largest` lies in device
/// memory. Synchronises once. The view has weights.
[[nodiscard]] plan::weight_statistics make_weight_statistics(graph_view const& graph, gpu_exec const& exec);

/// The largest degree of all rows; 0 without any. Synchronises once.
[[nodiscard]] std::int64_t largest_degree(graph_view const& graph, gpu_exec const& exec);

/// The mean degree over all edges' sources: what a call that comes along an edge meets. 0 without edges. Synchronises
/// once.
[[nodiscard]] double mean_met_degree(graph_view const& graph, gpu_exec const& exec);

/// Whether some row has no edge, or, with `largest` ([num_vertices], device memory), none of positive weight.
/// Synchronises once.
[[nodiscard]] bool has_dead_end(graph_view const& graph, float const* largest, gpu_exec const& exec);

/// Which labels occur, as plan::labels_in_use. Synchronises once.
[[nodiscard]] std::vector<char> labels_in_use(graph_view const& graph, plan::grouping by, gpu_exec const& exec);

/// [num_vertices]. @throws argument_error for 2^32 edges and more.
[[nodiscard]] buffer<row_record> make_row_records(graph_view const& graph, gpu_exec const& exec);

/// [num_vertices]. @param largest  [num_vertices], device memory: weight_statistics::largest.
[[nodiscard]] buffer<plan::vertex_record> make_vertex_records(graph_view const& graph, float const* largest,
                                                              gpu_exec const& exec);

/// [num_edges]. The view has weights.
[[nodiscard]] buffer<plan::edge_record> make_edge_records(graph_view const& graph, gpu_exec const& exec);

/// [num_edges]. The rows of the view are its vertices.
[[nodiscard]] buffer<hop_record> make_hop_records(graph_view const& graph, gpu_exec const& exec);

/// [num_edges]. The rows of the view are its vertices; `packing` leaves the degree between 1 and 31 bits.
[[nodiscard]] buffer<std::uint64_t> make_packed_hops(graph_view const& graph, hop_packing packing,
                                                     gpu_exec const& exec);

/// [num_edges]. The view has weights. Synchronises once for views of more than `most_edges` edges.
/// @param most_edges  Edges a batch: what the scratch memory, 13 bytes an edge of a batch, is bounded by.
[[nodiscard]] buffer<plan::alias_record> make_alias_records(graph_view const& graph, gpu_exec const& exec,
                                                            std::int64_t most_edges = batch_edges);

/// The same table with the positions of items in their rows, as plan::make_alias_buckets. Synchronises as above.
[[nodiscard]] buffer<core::alias_bucket> make_alias_buckets(graph_view const& graph, gpu_exec const& exec,
                                                            std::int64_t most_edges = batch_edges);

/// The same with places. The rows of the view are its vertices. Synchronises.
/// @throws argument_error for 2^40 edges and more, or a degree of 2^24 and more.
[[nodiscard]] buffer<alias_hop_record> make_alias_hop_records(graph_view const& graph, gpu_exec const& exec,
                                                              std::int64_t most_edges = batch_edges);

/// [num_edges]: inclusive sums of the fixed-point weights within each row. The view has weights.
[[nodiscard]] buffer<std::uint64_t> make_prefix_sums(graph_view const& graph, gpu_exec const& exec);

/// As plan::make_weight_sums. The view has weights. Takes 24 bytes of scratch memory for 64 edges, and 12 a vertex.
[[nodiscard]] plan::weight_sums make_weight_sums(graph_view const& graph, gpu_exec const& exec);

/// The neighbourhoods cut by label, as plan::make_label_groups. Synchronises once for views of more than `most_edges`
/// edges.
/// @param num_labels  All labels are below it; at most 65,536.
[[nodiscard]] plan::label_groups make_label_groups(graph_view const& graph, plan::grouping by, std::int64_t num_labels,
                                                   gpu_exec const& exec, std::int64_t most_edges = batch_edges);

/// The edges of each vertex cut by label, in the same order, by index and weight. The view has weights. Synchronises as
/// above. @param num_labels  As above.
[[nodiscard]] label_lists make_label_lists(graph_view const& graph, plan::grouping by, std::int64_t num_labels,
                                           gpu_exec const& exec, std::int64_t most_edges = batch_edges);

/// [target_triples::words(num_edges)]. @throws argument_error for more than 2^21 vertices.
[[nodiscard]] buffer<std::uint64_t> make_target_triples(csr_view const& graph, gpu_exec const& exec);

/// The neighbours of each vertex as hash sets (core/adjacency_set.hpp): core::adjacency_set_slots(V, E) slots. Where in
/// its row a neighbour lies differs from run to run; what the set answers doesn't. The rows are the view's vertices.
[[nodiscard]] buffer<vertex_id> make_adjacency_sets(graph_view const& graph, gpu_exec const& exec);

}  // namespace tendril::gpu
