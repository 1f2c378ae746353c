#pragma once

#include <cstdint>
#include <span>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril {

/// Samples that are subgraphs, one behind the other. Sample s has the vertices nodes[node_offsets[s]] to
/// nodes[node_offsets[s + 1] - 1] and the edges [edge_offsets[s], edge_offsets[s + 1]). `row` and `col` are positions
/// within the sample, from 0: edge k of sample s leads from nodes[node_offsets[s] + row[k]] to
/// nodes[node_offsets[s] + col[k]]. The edges of a sample are in the order of a CSR: by row, then by their position in
/// the graph.
struct subgraphs {
  std::int64_t num_samples = 0;
  buffer<vertex_id> nodes;            ///< [node_offsets[num_samples]]
  buffer<std::int64_t> node_offsets;  ///< [num_samples + 1]
  buffer<std::int64_t> row, col;      ///< [edge_offsets[num_samples]]
  buffer<edge_id> edges;              ///< [edge_offsets[num_samples]] positions in the graph's edge arrays.
  buffer<std::int64_t> edge_offsets;  ///< [num_samples + 1]
};

/// The subgraphs that sets of vertices induce: every edge of the graph whose two ends are in the same set. Self loops and
/// parallel edges are kept. A list of neighbours is read once where that is less work than to search it for every vertex
/// of the set, and searched otherwise: hubs cost what the set is large. Synchronous.
/// @param nodes         The sets, one behind the other: vertices below num_vertices; those of a set are distinct. They
///                      are copied into the result, in this order.
/// @param node_offsets  [num_samples + 1] where each set begins: from 0, ascending, to nodes.size().
/// @throws argument_error  offsets that don't cut `nodes`; the first vertex out of range; the first sample in which a
///                         vertex occurs twice, with the least such vertex; memory_error.
[[nodiscard]] subgraphs induced_subgraphs(graph const& graph, std::span<vertex_id const> nodes,
                                          std::span<std::int64_t const> node_offsets, cpu_exec const& exec = {});

/// The same subgraphs, to the bit, on a GPU: graph, spans and result lie in its memory, the work is ordered on
/// `exec.stream`. Beside the result it allocates 12 bytes a vertex where no sample has more than 64, else at most 60, from
/// the memory of `exec`. Synchronises with the stream once, to learn the number of edges; a second time where a sample
/// has more than 64 vertices.
/// @throws argument_error as above, and for a graph that is elsewhere; device_error; memory_error.
[[nodiscard]] subgraphs induced_subgraphs(graph const& graph, std::span<vertex_id const> nodes,
                                          std::span<std::int64_t const> node_offsets, gpu_exec const& exec);

}  // namespace tendril
