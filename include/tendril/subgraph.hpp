#pragma once

#include <cstdint>
#include <span>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril {

/// Samples that are subgraphs, stored one after another. Sample s has the vertices nodes[node_offsets[s]] to
/// nodes[node_offsets[s + 1] - 1] and the edges [edge_offsets[s], edge_offsets[s + 1]). `row` and `col` are positions
/// within the sample, from 0: edge k of sample s leads from nodes[node_offsets[s] + row[k]] to nodes[node_offsets[s] +
/// col[k]]. The edges of a sample are in CSR order: by row, then by position in the graph.
struct subgraphs {
  std::int64_t num_samples = 0;
  buffer<vertex_id> nodes;            ///< [node_offsets[num_samples]]
  buffer<std::int64_t> node_offsets;  ///< [num_samples + 1]
  buffer<std::int64_t> row, col;      ///< [edge_offsets[num_samples]]
  buffer<edge_id> edges;              ///< [edge_offsets[num_samples]] positions in the graph's edge arrays.
  buffer<std::int64_t> edge_offsets;  ///< [num_samples + 1]
};

/// Builds the subgraphs that sets of vertices induce: every edge of the graph whose two ends are in the same set. Self
/// loops and parallel edges are kept. For each neighbour list the cheaper way is used: reading the list once, or
/// searching it for every vertex of the set. The cost of a hub is therefore bounded by the size of the set.
/// Synchronous.
/// @param nodes         The sets, one after another: vertices below num_vertices, distinct within a set. They are
///                      copied into the result, in this order.
/// @param node_offsets  [num_samples + 1] start of each set: ascending from 0 to nodes.size().
/// @throws argument_error  offsets that don't partition `nodes`; the first vertex out of range; the first sample in
///                         which a vertex occurs twice, with the least such vertex; memory_error.
[[nodiscard]] subgraphs induced_subgraphs(graph const& graph, std::span<vertex_id const> nodes,
                                          std::span<std::int64_t const> node_offsets, cpu_exec const& exec = {});

/// Builds the same subgraphs, bit for bit, on a GPU: the graph, the spans and the result are in its memory; the work is
/// ordered on `exec.stream`. In addition to the result it allocates, from the memory of `exec`, 12 bytes per vertex if
/// no sample has more than 64 vertices, else at most 60. Synchronises with the stream once, for the number of edges; a
/// second time if a sample has more than 64 vertices.
/// @throws argument_error as above, and for a graph that is elsewhere; device_error; memory_error.
[[nodiscard]] subgraphs induced_subgraphs(graph const& graph, std::span<vertex_id const> nodes,
                                          std::span<std::int64_t const> node_offsets, gpu_exec const& exec);

}  // namespace tendril
