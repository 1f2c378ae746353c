#pragma once

#include <cstdint>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/layers.hpp>  // propagation
#include <tendril/names.hpp>
#include <tendril/subgraph.hpp>

// GraphSAINT (Zeng, Zhou, Srivastava, Kannan and Prasanna, "GraphSAINT: graph sampling based inductive learning
// method", ICLR'20): batches are subgraphs of sampled vertices; coefficients, counted over many such subgraphs, correct
// the sampler's bias.

namespace tendril {

/// The method that draws the vertices of a subgraph. Each draw is made with replacement; the subgraph holds the
/// distinct vertices.
enum class saint_sampler {
  node,  ///< `budget` vertices; u in proportion to the squared norm of column u of `matrix`: sum over v of Q[v, u]^2.
  edge,  ///< `budget` edges and both their ends; edge (u, v) in proportion to 1/deg(u) in each stored direction. On
         ///< a symmetric graph, as in the paper, each undirected edge has the weight 1/deg(u) + 1/deg(v).
  walk,  ///< Walks of `length` steps from `budget` roots; roots and steps are uniform. A walk ends at a dead end.
};

template <>
inline constexpr std::array<named<saint_sampler>, 3> enum_names<saint_sampler>{
    {{saint_sampler::node, "node"}, {saint_sampler::edge, "edge"}, {saint_sampler::walk, "walk"}}};

struct saint_params {
  saint_sampler sampler = saint_sampler::walk;
  std::int64_t budget = 2000;             ///< Draws, edges or roots per sample: at least 1.
  std::int64_t length = 2;                ///< Steps per walk, in [0, 1000]; for `walk` only.
  propagation matrix = propagation::row;  ///< Q of `node`; row is the paper's D^-1 A.
  std::uint64_t seed = 0;
};

/// Checks the parameters, without a graph. @throws argument_error for a parameter out of range, as every call that takes
/// them.
void validate(saint_params const& params);

/// Checks the parameters for a graph. @throws as above, and argument_error for what this graph can't serve.
void validate(saint_params const& params, graph const& graph);

/// Samples subgraphs that the drawn vertices induce. The vertices of a sample ascend. A sample has no vertices if
/// nothing can be drawn (a graph without vertices; for `node` and `edge` without edges). The logical id of sample i is
/// first_sample + i sample_step; sample i depends only on the graph, the parameters and that id. Where n processes make
/// samples in turn, those of one process have the step n. The first call builds the tables of `node` (20 bytes per
/// vertex) and `edge` (4 bytes per vertex, if there are isolated vertices); they stay with the graph. Synchronous.
/// @throws argument_error  a parameter out of range: more than 2^31 - 1 vertices drawn per sample, negative numbers, a
///                         step below 1; matrix `weights` on a graph without weights; memory_error.
[[nodiscard]] subgraphs saint_sample(graph const& graph, saint_params const& params, std::int64_t num_samples,
                                     cpu_exec const& exec = {}, std::int64_t first_sample = 0,
                                     std::int64_t sample_step = 1);

/// Samples the same subgraphs, bit for bit, on a GPU; the graph and the result are in its memory. In addition to the
/// memory of induced_subgraphs it allocates 16 bytes and the scratch of a radix sort per vertex drawn. Synchronises
/// twice: for the number of vertices, and for the number of edges; once more if it builds a table.
/// @throws as above, and argument_error for a graph that is elsewhere; device_error.
[[nodiscard]] subgraphs saint_sample(graph const& graph, saint_params const& params, std::int64_t num_samples,
                                     gpu_exec const& exec, std::int64_t first_sample = 0, std::int64_t sample_step = 1);

/// Statistics of N sampled subgraphs that describe the sampler's bias (section 3.2 of the paper). C_v is the number of
/// subgraphs with vertex v, C_e the number of subgraphs with edge e.
struct saint_coefficients {
  std::int64_t num_samples = 0;      ///< N
  buffer<std::int32_t> node_counts;  ///< [V] C_v
  buffer<std::int32_t> edge_counts;  ///< [E] C_e
  buffer<float> loss;                ///< [V] lambda_v = C_v / N. Divide the loss of v by it: PyG's node_norm is
                                     ///< 1 / (lambda_v V).
  buffer<float> aggregator;  ///< [E] alpha_e = C_e / C_v, v being the vertex whose list holds e and that aggregates;
                             ///< 0 where C_v is 0. Divide the message along e by it: PyG's edge_norm is 1 / alpha_e.
};

/// Samples the subgraphs of logical ids first_sample to first_sample + num_samples - 1, and counts their vertices and
/// edges. Memory in addition to the result doesn't grow with num_samples. Synchronous.
/// @throws as saint_sample, and argument_error unless num_samples is in [1, 2^31 - 1].
[[nodiscard]] saint_coefficients saint_normalization(graph const& graph, saint_params const& params,
                                                     std::int64_t num_samples, cpu_exec const& exec = {},
                                                     std::int64_t first_sample = 0);

/// Computes the same numbers, bit for bit, on a GPU. Synchronises twice per 2^24 vertices drawn.
[[nodiscard]] saint_coefficients saint_normalization(graph const& graph, saint_params const& params,
                                                     std::int64_t num_samples, gpu_exec const& exec,
                                                     std::int64_t first_sample = 0);

}  // namespace tendril
