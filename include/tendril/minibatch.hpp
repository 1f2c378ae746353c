#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tendril/batch_numbers.hpp>
#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/hetero_graph.hpp>
#include <tendril/names.hpp>
#include <tendril/plan.hpp>

namespace tendril {

/// The edges that a mini-batch holds.
enum class subgraph_type {
  directional,    ///< The sampled edges.
  bidirectional,  ///< The sampled edges and the reverse of each. Only for graphs with one edge type.
  induced,        ///< All edges of the graph between the batch's vertices (disjoint batches: of one seed).
};

template <>
inline constexpr std::array<named<subgraph_type>, 3> enum_names<subgraph_type>{
    {{subgraph_type::directional, "directional"},
     {subgraph_type::bidirectional, "bidirectional"},
     {subgraph_type::induced, "induced"}}};

/// The vertices that a hop expands.
enum class batch_frontier {
  fresh,  ///< The vertices that the previous hop reached first (PyG).
  all,    ///< All vertices of the batch so far, again, with new draws (DGL's blocks, PGSampler).
};

template <>
inline constexpr std::array<named<batch_frontier>, 2> enum_names<batch_frontier>{
    {{batch_frontier::fresh, "new"}, {batch_frontier::all, "all"}}};

/// The choice among the edges that are not too late.
enum class temporal_strategy {
  uniform,  ///< Random draws.
  last,     ///< The latest edges, without any draw.
};

template <>
inline constexpr std::array<named<temporal_strategy>, 2> enum_names<temporal_strategy>{
    {{temporal_strategy::uniform, "uniform"}, {temporal_strategy::last, "last"}}};

/// How a vertex chooses its neighbours.
enum class neighbor_choice {
  independent,  ///< As many as the fan-out says, each vertex by draws of its own.
  /// LABOR-0 (Balin and Catalyurek, "Layer-neighbor sampling: defusing neighborhood explosion in GNNs", NeurIPS'23):
  /// every vertex u has one random number r_u in [0, 1) per batch, hop and vertex type (in a disjoint batch, per seed
  /// also); all vertices that ask for u share it. Edge v -> u is taken if r_u < fanout / d, where d is the number of v's
  /// edges of that type (that are not too late), so v gets min(d, fanout) neighbours in expectation. Vertices of a batch
  /// tend to choose the same neighbours, so a batch reaches fewer vertices than with independent choices.
  labor,
};

template <>
inline constexpr std::array<named<neighbor_choice>, 2> enum_names<neighbor_choice>{
    {{neighbor_choice::independent, "independent"}, {neighbor_choice::labor, "labor"}}};

/// Parameters of a mini-batch for a GNN: neighbours are sampled hop by hop; vertices are deduplicated and renumbered.
struct minibatch_params {
  std::vector<std::int64_t> num_neighbors = {15, 10, 5};  ///< Per hop: >= 0, or -1 for all.
  /// [edge types][hops]: fan-outs of each edge type; empty: num_neighbors for every edge type.
  std::vector<std::vector<std::int64_t>> num_neighbors_of_type = {};
  bool replace = false;
  bool weighted = false;  ///< In proportion to weights; excludes times.
  bool disjoint = false;  ///< One subgraph per seed: seeds share no vertices.
  subgraph_type subgraph = subgraph_type::directional;
  batch_frontier frontier = batch_frontier::fresh;
  temporal_strategy temporal = temporal_strategy::uniform;
  /// LABOR excludes `replace`, `weighted` and the `last` edges.
  neighbor_choice choice = neighbor_choice::independent;
  bool normalize = true;          ///< LABOR: the weights of a row add up to 1 (Hajek's estimator).
  bool layer_dependency = false;  ///< LABOR: all hops of a batch share the random numbers.
  /// LABOR: a vertex keeps its random number for so many consecutive batches, in [1, 2^32); different vertices change
  /// theirs at different batches. 1: batches are independent.
  std::int64_t batch_dependency = 1;
  std::uint64_t seed = 0;
  table_limit table_bytes = {};  ///< Most bytes of tables, >= 0. It changes speed alone, no batch.
};

/// Checks the parameters, without a graph. @throws argument_error for a parameter out of range, as every call that takes
/// them.
void validate(minibatch_params const& params);

/// The vertices of one type in a batch.
struct minibatch_vertices {
  shared_array<vertex_id> node;           ///< [n] graph id of each vertex; seeds first, then by first appearance.
  shared_array<std::int64_t> batch;       ///< Disjoint: [n], the seed that each vertex belongs to; else empty.
  std::vector<std::int64_t> num_sampled;  ///< [hops + 1], seeds first.
};

/// The edges of one type in a batch, hop by hop. Edge k leads from the expanded vertex row[k] of type `from` to its
/// neighbour col[k] of type `to`; both are numbers within the batch. As in pyg-lib, a vertex samples from its stored
/// edges.
struct minibatch_edges {
  shared_array<std::int64_t> row, col;  ///< [e] COO.
  shared_array<edge_id> edge;           ///< [e] positions in the graph's edge arrays.
  /// [e] LABOR, directional: 1 / min(1, fanout / d), so that the sum of weight * x[col] over a row is an unbiased
  /// estimate of the sum over all d neighbours; normalised: 1 / edges of the row, for the mean over all neighbours. Else
  /// empty.
  shared_array<float> weights;
  /// CSR of the same edges (CSC, for message flow). Hop h expands num_expanded[h] vertices, in the order of their
  /// numbers, from first_expanded[h] on. The edges of the i-th expanded vertex, counted over all hops, are [indptr[i],
  /// indptr[i + 1]). Induced: one pseudo-hop of all vertices. Empty for bidirectional.
  shared_array<std::int64_t> indptr;
  std::vector<std::int64_t> first_expanded, num_expanded;  ///< [hops]
  std::vector<std::int64_t> num_sampled;  ///< [hops] number of sampled edges, even if others follow or replace them.
};

/// A batch: the vertices of every vertex type and the edges of every edge type.
struct minibatch {
  std::vector<minibatch_vertices> vertices;
  std::vector<minibatch_edges> edges;
};

/// The seeds of a batch. If a seed is given twice, a disjoint batch grows two subgraphs; other batches hold it once.
struct batch_seeds {
  std::vector<std::span<vertex_id const>> vertices;  ///< Per vertex type.
  std::vector<std::span<std::int64_t const>> times =
      {};  ///< Per vertex type: seed i sees edges not later than this. Empty: all edges.
};

/// The executor of batches on a GPU. It never changes a batch.
enum class minibatch_executor {
  automatic,
  hops,        ///< Kernels hop by hop, for any number of batches at once.
  graph,       ///< The same kernels, captured once in a CUDA graph, for small batches.
  fused,       ///< The same work in one launch with barriers, for small batches. Fan-outs of 0 to 64.
  persistent,  ///< All hops in one launch without barriers: a queue of (vertex, hop) (PGSampler). Frontier `all`.
};

template <>
inline constexpr std::array<named<minibatch_executor>, 5> enum_names<minibatch_executor>{
    {{minibatch_executor::automatic, "auto"},
     {minibatch_executor::hops, "hops"},
     {minibatch_executor::graph, "graph"},
     {minibatch_executor::fused, "fused"},
     {minibatch_executor::persistent, "persistent"}}};

/// Makes batches of one graph with one set of parameters. It keeps the scratch memory of batches, so that steady-state
/// work allocates only the output. One call at a time.
///
/// The draws of a vertex depend only on (graph, parameters, batch number, vertex [, position of the seed if disjoint],
/// edge type, hop); of LABOR, those of a neighbour on (graph, parameters, batch number, vertex [, position of the seed],
/// its type, hop). A batch doesn't depend on other batches made in the same call, nor on the executor.
class minibatch_sampler {
 public:
  /// @throws argument_error  no fan-out, a fan-out below -1, or not one list of equal length per edge type; weights
  ///                         missing; weighted with times; times without disjoint; bidirectional with several edge
  ///                         types; LABOR with replace, weighted, the last edges, or an executor that fuses hops; a
  ///                         dependency without LABOR or out of range; a graph that is elsewhere.
  minibatch_sampler(hetero_graph graph, minibatch_params params, cpu_exec const& exec = {});
  minibatch_sampler(hetero_graph graph, minibatch_params params, gpu_exec const& exec,
                    minibatch_executor executor = minibatch_executor::automatic);
  ~minibatch_sampler();
  minibatch_sampler(minibatch_sampler&&) noexcept;
  minibatch_sampler& operator=(minibatch_sampler&&) noexcept;

  [[nodiscard]] hetero_graph const& input() const noexcept;
  [[nodiscard]] minibatch_params const& params() const noexcept;

  /// Makes batch number `batch`. On a GPU the seeds and the result are in its memory; the call synchronises once at the
  /// end, and once for each fan-out of -1.
  /// @throws argument_error  not one span of seeds per vertex type; a seed out of range; times missing or of another
  ///                         length; memory_error; device_error.
  [[nodiscard]] minibatch sample(batch_seeds const& seeds, std::uint64_t batch = 0);

  /// Makes the batches of these numbers: each takes the next `batch_size` seeds, of type `vertex_type`; the last batch may
  /// have fewer. The batches equal those of single calls. A GPU makes many batches at once and synchronises once for all of
  /// them (and once for each fan-out of -1).
  /// @throws as above; a batch size < 1.
  [[nodiscard]] std::vector<minibatch> sample_batches(std::int32_t vertex_type, std::span<vertex_id const> seeds,
                                                      std::int64_t batch_size, batch_numbers numbers = {},
                                                      std::span<std::int64_t const> times = {});

  struct state;  ///< The executor's data; not for users.

 private:
  std::unique_ptr<state> state_;
};

/// Plans a minibatch_sampler without making it: the rule is that of its weighted choices, else uniform; the tables are
/// those of all edge types together. Each edge type has a rule of its own; where there are several, reasons say of which
/// one they speak. @throws as minibatch_sampler's constructor; memory_error.
[[nodiscard]] sampling_plan plan_minibatch(hetero_graph const& graph, minibatch_params const& params,
                                           cpu_exec const& exec = {});

/// Plans for the GPU that holds the graph: it takes tables wherever they fit.
[[nodiscard]] sampling_plan plan_minibatch(hetero_graph const& graph, minibatch_params const& params,
                                           gpu_exec const& exec);

/// Makes one batch of a graph with one vertex type: minibatch_sampler(...).sample(...) in one call.
[[nodiscard]] minibatch neighbor_sample(graph const& graph, std::span<vertex_id const> seeds,
                                        minibatch_params const& params, cpu_exec const& exec = {},
                                        std::uint64_t batch = 0);
[[nodiscard]] minibatch neighbor_sample(graph const& graph, std::span<vertex_id const> seeds,
                                        minibatch_params const& params, gpu_exec const& exec, std::uint64_t batch = 0);

}  // namespace tendril
