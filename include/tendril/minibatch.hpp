#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril {

/// Which edges a mini-batch holds.
enum class subgraph_type {
  directional,    ///< The sampled ones.
  bidirectional,  ///< The sampled ones and, of each, the reverse.
  induced,        ///< All edges of the graph between the batch's vertices.
};

/// A mini-batch for a GNN: neighbours sampled hop by hop, vertices deduplicated and numbered anew.
struct minibatch_params {
  std::vector<std::int64_t> num_neighbors = {15, 10, 5};  ///< A hop: >= 0, or -1 for all.
  bool replace = false;
  bool weighted = false;
  bool disjoint = false;  ///< One subgraph a seed: no vertex is shared between seeds.
  subgraph_type subgraph = subgraph_type::directional;
  std::uint64_t seed = 0;
  std::uint64_t batch = 0;  ///< The batch's number, folded into the key.
};

/// Edge k leads from local vertex row[k] to col[k]; `node` maps local vertices to the graph's. Following pyg-lib:
/// the stored edges of v are the ones it samples from (for message flow from sampled to seed, pass a CSC, that is
/// the reversed graph), `row` is the vertex that was expanded and `col` the neighbour.
struct minibatch {
  buffer<std::int64_t> row, col;                ///< [num_edges]
  buffer<vertex_id> node;                       ///< [num_nodes] seeds first, then by first appearance.
  buffer<edge_id> edge;                         ///< [num_edges] positions in the graph's edge arrays.
  buffer<std::int64_t> batch;                   ///< disjoint: [num_nodes], the seed each vertex belongs to; else empty.
  std::vector<std::int64_t> num_sampled_nodes;  ///< [hops + 1], seeds first.
  std::vector<std::int64_t> num_sampled_edges;  ///< [hops]
};

/// A hop expands the vertices that the hop before saw first. The draws of a vertex depend on (graph, parameters,
/// batch number, vertex [, seed's position if disjoint], hop) alone.
/// @throws argument_error  seed out of range, fan-out below -1, weights missing.
[[nodiscard]] minibatch neighbor_sample(graph const& graph, std::span<vertex_id const> seeds,
                                        minibatch_params const& params, cpu_exec const& exec = {});

}  // namespace tendril
