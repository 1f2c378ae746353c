#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/names.hpp>

// Other numbers for the vertices of a graph. Compression and caches profit where neighbours have near numbers. A
// renumbered graph is another graph: its samples differ, since every draw and every result speaks of vertex numbers.

namespace tendril {

/// A way to number vertices. Edges count in both directions unless the graph is symmetric: the degree of a vertex is
/// then the number of edges that leave it and that enter it.
enum class vertex_order : std::uint8_t {
  degree,  ///< Falling degree; equal degrees by id.
  bfs,     ///< Breadth first, neighbours by id, from the vertex of largest degree of each component; the component with
           ///< the largest such degree first.
  rcm,     ///< Reverse Cuthill-McKee: breadth first, neighbours by rising degree, from a pseudo-peripheral vertex of
           ///< each component; then all of it reversed.
  llp,     ///< Layered label propagation: clusters, and clusters of clusters, have consecutive numbers.
};

template <>
inline constexpr std::array<named<vertex_order>, 4> enum_names<vertex_order>{{{vertex_order::degree, "degree"},
                                                                              {vertex_order::bfs, "bfs"},
                                                                              {vertex_order::rcm, "rcm"},
                                                                              {vertex_order::llp, "llp"}}};

struct order_params {
  vertex_order order = vertex_order::degree;
  std::uint64_t seed = 0;  ///< Of `llp`; the other orders draw nothing.
};

/// Computes an order of the vertices: entry i of the result, [num_vertices], is the vertex that gets number i.
/// The result depends on the graph and the parameters alone, never on threads or on the graph's form. Sources:
/// E. Cuthill, J. McKee, "Reducing the bandwidth of sparse symmetric matrices", ACM '69; A. George, J. Liu, "An
/// implementation of a pseudoperipheral node finder", TOMS '79 (at most 16 searches a component); P. Boldi, M. Rosa, M.
/// Santini, S. Vigna, "Layered label propagation", WWW'11.
///
/// Memory beside the graph: 8 bytes a vertex for `degree`, 20 for `bfs` and `rcm`, 29 for `llp`, and for each thread of
/// `llp` up to 32 bytes an edge of its largest neighbourhood. If the graph isn't symmetric, also 8 bytes a vertex and,
/// but for `degree`, 4 bytes an edge. Synchronous.
/// @throws argument_error  a graph on a GPU; memory_error; format_error as `graph::check`.
[[nodiscard]] buffer<vertex_id> order_vertices(graph const& graph, order_params const& params,
                                               cpu_exec const& exec = {});

/// Gives the vertices other numbers: vertex order[i] of `input` is vertex i of the result. Weights, labels, edge ids
/// and types stay with their edges and vertices, and parallel edges stay in their order. `original_ids` of the result
/// holds the original id that each vertex has in `input`, or its number there. The result is in CSR form, whatever the
/// form of `input`, and doesn't depend on threads.
///
/// Memory beside graph and result: 4 bytes a vertex, and for each thread 24 bytes an edge of its largest neighbourhood.
/// Synchronous.
/// @param order  [num_vertices], each vertex once.
/// @throws argument_error  another length; a vertex out of range or twice; a graph on a GPU; memory_error;
///                         format_error as `graph::check`.
[[nodiscard]] graph renumber(graph const& input, std::span<vertex_id const> order, cpu_exec const& exec = {});

/// The same by an order that `order_vertices` computes; its working memory is free again before the result is made.
[[nodiscard]] graph renumber(graph const& input, order_params const& params, cpu_exec const& exec = {});

}  // namespace tendril
