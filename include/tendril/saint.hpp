#pragma once

#include <cstdint>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/layers.hpp>  // propagation
#include <tendril/subgraph.hpp>

// GraphSAINT (Zeng, Zhou, Srivastava, Kannan and Prasanna, "GraphSAINT: graph sampling based inductive learning method",
// ICLR'20): batches are subgraphs of sampled vertices; coefficients counted over many of them take the sampler's bias out.

namespace tendril {

/// How the vertices of a subgraph are drawn. Each draw is made with replacement; the subgraph has the distinct vertices.
enum class saint_sampler {
  node,  ///< `budget` vertices, u in proportion to the squared norm of column u of `matrix`, the sum over v of Q[v, u]^2.
  edge,  ///< `budget` edges and both their ends; edge (u, v) in proportion to 1/deg(u) in each direction it is stored in:
         ///< on a symmetric graph, as the paper has it, each undirected edge in proportion to 1/deg(u) + 1/deg(v).
  walk,  ///< Walks of `length` steps from `budget` roots, roots and steps uniform. A walk ends where it can't go on.
};

struct saint_params {
  saint_sampler sampler = saint_sampler::walk;
  std::int64_t budget = 2000;             ///< Draws, edges or roots of a sample: at least 1.
  std::int64_t length = 2;                ///< Steps of a walk, in [0, 1000]; of `walk` alone.
  propagation matrix = propagation::row;  ///< Q of `node`: row is the paper's D^-1 A.
  std::uint64_t seed = 0;
};

/// Subgraphs that are induced by drawn vertices. A sample's vertices ascend; it may have none where nothing can be drawn
/// (a graph without vertices; for `node` and `edge` without edges). Its logical id is first_sample + i, and sample i
/// depends on the graph, the parameters and that id alone. Tables of `node` (20 bytes a vertex) and `edge` (4, if there are
/// isolated vertices) are built by the first call and stay with the graph. Synchronous.
/// @throws argument_error  a parameter out of range: more than 2^31 - 1 vertices drawn a sample, negative numbers; a matrix
///                         of weights on a graph without; memory_error.
[[nodiscard]] subgraphs saint_sample(graph const& graph, saint_params const& params, std::int64_t num_samples,
                                     cpu_exec const& exec = {}, std::int64_t first_sample = 0);

/// The same samples, to the bit, on a GPU, in whose memory graph and result lie. Beside what induced_subgraphs takes it
/// allocates 16 bytes and the scratch of a radix sort a vertex drawn. Synchronises twice: to learn the number of vertices,
/// and that of edges; once more when a table is built.
/// @throws as above, and argument_error for a graph that is elsewhere; device_error.
[[nodiscard]] subgraphs saint_sample(graph const& graph, saint_params const& params, std::int64_t num_samples,
                                     gpu_exec const& exec, std::int64_t first_sample = 0);

/// What N sampled subgraphs say about the sampler's bias (section 3.2 of the paper). C_v is how many have vertex v, C_e how
/// many have edge e.
struct saint_coefficients {
  std::int64_t num_samples = 0;      ///< N
  buffer<std::int32_t> node_counts;  ///< [V] C_v
  buffer<std::int32_t> edge_counts;  ///< [E] C_e
  buffer<float> loss;                ///< [V] lambda_v = C_v / N. The loss of v is divided by it: PyG's node_norm is
                                     ///< 1 / (lambda_v V).
  buffer<float> aggregator;  ///< [E] alpha_e = C_e / C_v, v being the vertex whose list holds e, which aggregates;
                             ///< 0 where C_v is. What comes along e is divided by it: PyG's edge_norm is 1 / alpha_e.
};

/// Samples the subgraphs of logical ids first_sample to first_sample + num_samples - 1, and counts. Memory beside the
/// result doesn't grow with num_samples. Synchronous.
/// @throws as saint_sample, and argument_error unless num_samples is in [1, 2^31 - 1].
[[nodiscard]] saint_coefficients saint_normalization(graph const& graph, saint_params const& params,
                                                     std::int64_t num_samples, cpu_exec const& exec = {},
                                                     std::int64_t first_sample = 0);

/// The same numbers, to the bit, on a GPU. Synchronises twice for each 2^24 vertices drawn.
[[nodiscard]] saint_coefficients saint_normalization(graph const& graph, saint_params const& params,
                                                     std::int64_t num_samples, gpu_exec const& exec,
                                                     std::int64_t first_sample = 0);

}  // namespace tendril
