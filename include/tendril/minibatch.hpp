#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/hetero_graph.hpp>

namespace tendril {

/// Which edges a mini-batch holds.
enum class subgraph_type {
  directional,    ///< The sampled ones.
  bidirectional,  ///< The sampled ones and, of each, the reverse. One type of edges only.
  induced,        ///< All edges of the graph between the batch's vertices (of one seed, in disjoint batches).
};

/// Which vertices a hop expands.
enum class batch_frontier {
  fresh,  ///< Those that the hop before saw first (PyG).
  all,    ///< All that are in the batch so far, anew with other draws (DGL's blocks, PGSampler).
};

/// Which of the edges that are not too late.
enum class temporal_strategy {
  uniform,  ///< As drawn.
  last,     ///< The latest, without any draw.
};

/// A mini-batch for a GNN: neighbours sampled hop by hop, vertices deduplicated and numbered anew.
struct minibatch_params {
  std::vector<std::int64_t> num_neighbors = {15, 10, 5};  ///< A hop: >= 0, or -1 for all.
  /// [edge types][hops]: fan-outs of each edge type; empty: num_neighbors for every one.
  std::vector<std::vector<std::int64_t>> num_neighbors_of_type = {};
  bool replace = false;
  bool weighted = false;  ///< In proportion to weights; not with times.
  bool disjoint = false;  ///< One subgraph a seed: no vertex is shared between seeds.
  subgraph_type subgraph = subgraph_type::directional;
  batch_frontier frontier = batch_frontier::fresh;
  temporal_strategy temporal = temporal_strategy::uniform;
  std::uint64_t seed = 0;
};

/// The vertices of one type in a batch.
struct minibatch_vertices {
  shared_array<vertex_id> node;           ///< [n] the graph's id of each; seeds first, then by first appearance.
  shared_array<std::int64_t> batch;       ///< Disjoint: [n], the seed each vertex belongs to; else empty.
  std::vector<std::int64_t> num_sampled;  ///< [hops + 1], seeds first.
};

/// The edges of one type in a batch, hop by hop. Edge k leads from vertex row[k] of type `from`, which was expanded, to
/// its neighbour col[k] of type `to`; numbers within the batch. Following pyg-lib, a vertex samples from its stored edges.
struct minibatch_edges {
  shared_array<std::int64_t> row, col;  ///< [e] COO.
  shared_array<edge_id> edge;           ///< [e] positions in the graph's edge arrays.
  /// CSR of the same edges (CSC, for message flow): hop h expands num_expanded[h] vertices, in the order of their numbers,
  /// beginning with first_expanded[h]; the edges of the i-th that is expanded, counted over all hops, are
  /// [indptr[i], indptr[i + 1]). Induced: one pseudo-hop of all vertices. Empty for bidirectional.
  shared_array<std::int64_t> indptr;
  std::vector<std::int64_t> first_expanded, num_expanded;  ///< [hops]
  std::vector<std::int64_t> num_sampled;  ///< [hops] sampled edges, also where others follow or replace them.
};

/// Of every vertex type and every edge type.
struct minibatch {
  std::vector<minibatch_vertices> vertices;
  std::vector<minibatch_edges> edges;
};

/// The seeds of a batch. One seed may be given twice; a disjoint batch then grows two subgraphs, any other one.
struct batch_seeds {
  std::vector<std::span<vertex_id const>> vertices;  ///< [vertex types]
  std::vector<std::span<std::int64_t const>> times =
      {};  ///< Likewise: seed i sees edges not later than this. Empty: all.
};

/// How the GPU makes batches. Never changes one.
enum class minibatch_executor {
  automatic,
  hops,        ///< Kernels hop by hop, any number of batches at once.
  graph,       ///< The same kernels, captured once in a CUDA graph: small batches.
  persistent,  ///< All hops in one launch without barriers: a queue of (vertex, hop) (PGSampler). Frontier `all`.
};

/// Makes batches of one graph with one set of parameters. Keeps what batches need beside their output, so that steady
/// work allocates nothing else. One call at a time.
///
/// The draws of a vertex depend on (graph, parameters, number of the batch, vertex [, seed's position if disjoint], edge
/// type, hop) alone: batches don't depend on the batches that are made together with them, nor on who makes them.
class minibatch_sampler {
 public:
  /// @throws argument_error  no fan-out, one below -1, or not one list of equal length for each edge type; weights missing;
  ///                         weighted with times; times without disjoint; bidirectional with several edge types;
  ///                         a graph that is elsewhere.
  minibatch_sampler(hetero_graph graph, minibatch_params params, cpu_exec const& exec = {});
  minibatch_sampler(hetero_graph graph, minibatch_params params, gpu_exec const& exec,
                    minibatch_executor executor = minibatch_executor::automatic);
  ~minibatch_sampler();
  minibatch_sampler(minibatch_sampler&&) noexcept;
  minibatch_sampler& operator=(minibatch_sampler&&) noexcept;

  [[nodiscard]] hetero_graph const& input() const noexcept;
  [[nodiscard]] minibatch_params const& params() const noexcept;

  /// Batch number `batch`. On a GPU: seeds and result lie in its memory; synchronises once at the end, and once for each
  /// fan-out of -1.
  /// @throws argument_error  not one span of seeds for each vertex type; a seed out of range; times missing or of another
  ///                         length; memory_error; device_error.
  [[nodiscard]] minibatch sample(batch_seeds const& seeds, std::uint64_t batch = 0);

  /// Batches first_batch, first_batch + 1, …: of consecutive `batch_size` seeds of type `vertex_type` each; the last one may
  /// have fewer. On a GPU many at once; synchronises once for all (and once for each fan-out of -1).
  /// @throws as above; a batch size < 1.
  [[nodiscard]] std::vector<minibatch> sample_batches(std::int32_t vertex_type, std::span<vertex_id const> seeds,
                                                      std::int64_t batch_size, std::uint64_t first_batch = 0,
                                                      std::span<std::int64_t const> times = {});

  struct state;  ///< What an executor keeps; not for users.

 private:
  std::unique_ptr<state> state_;
};

/// One call for a graph of one type: minibatch_sampler(...).sample(...).
[[nodiscard]] minibatch neighbor_sample(graph const& graph, std::span<vertex_id const> seeds,
                                        minibatch_params const& params, cpu_exec const& exec = {},
                                        std::uint64_t batch = 0);
[[nodiscard]] minibatch neighbor_sample(graph const& graph, std::span<vertex_id const> seeds,
                                        minibatch_params const& params, gpu_exec const& exec, std::uint64_t batch = 0);

}  // namespace tendril
