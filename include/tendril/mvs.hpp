#pragma once

#include <cstdint>
#include <span>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/layers.hpp>  // max_layer_size

namespace tendril {

/// Minimal variance sampling (Cong, Forsati, Kandemir and Mahdavi, "Minimal variance sampling with provable guarantees
/// for fast training of graph neural networks", KDD'20): the vertices of a batch are drawn in proportion to an
/// importance per vertex (in the paper the norm of its gradient). A drawn vertex brings all its neighbours.
struct mvs_params {
  std::int64_t batch_size = 64;  ///< In [1, max_layer_size].
  bool replace = false;          ///< Independent draws; false: distinct vertices, by successive draws.
  bool with_edges = false;       ///< Fill mvs_batches::edges.
  std::uint64_t seed = 0;
};

/// @throws argument_error for a parameter out of range, as every call that takes them.
void validate(mvs_params const& params);

/// Row i of the two-dimensional arrays is batch i.
struct mvs_batches {
  std::int64_t num_samples = 0, batch_size = 0;
  buffer<vertex_id> vertices;         ///< [num_samples, batch_size]; `no_vertex` in slots that stay empty.
  buffer<float> probabilities;        ///< The same shape: of one draw, importance / sum of all importances; 0 if empty.
  buffer<float> weights;              ///< The same shape: 1 / (batch_size * probability); 0 in empty slots. With
                                      ///< replacement, the sum of weight * f(vertex) is an unbiased estimate of the
                                      ///< sum of f over all vertices of positive importance.
  buffer<std::int64_t> edge_offsets;  ///< [num_samples * batch_size + 1]: where the neighbours of slot k begin.
  buffer<vertex_id> neighbors;        ///< [num_edges] all out-neighbours of each slot's vertex, ascending.
  buffer<edge_id> edges;              ///< [num_edges] positions in the graph's edge arrays if with_edges; else empty.
};

/// Draws num_samples batches. Without replacement a batch holds the first batch_size distinct vertices of a sequence of
/// independent draws; slots that are still empty after 256 rounds of draws stay empty. Batch i depends only on the
/// graph, the importances, the parameters and its logical id first_sample + i (docs/reproducibility.md). A call takes
/// O(num_vertices) to build an alias table, unless all vertices are equally important; a draw takes O(1). Synchronous.
/// @param importances  [num_vertices], finite and >= 0; empty: all vertices are equally important.
/// @throws argument_error  a parameter out of range; a number of importances other than num_vertices; the first
///                         importance that is negative or not finite; a graph on a GPU.
///         memory_error    if the result doesn't fit.
[[nodiscard]] mvs_batches mvs_sample(graph const& graph, std::span<float const> importances, std::int64_t num_samples,
                                     mvs_params const& params, cpu_exec const& exec = {},
                                     std::int64_t first_sample = 0);

/// Draws the same batches, bit for bit, on a GPU: the graph, the importances and the result are in its memory; the work
/// is ordered on `exec.stream`. Synchronises once, where the number of edges must be known (and once per 2^26 vertices
/// if importances are given); the last part of the work is still running when the call returns.
/// @throws argument_error as above, and for a graph that is elsewhere; device_error; memory_error.
[[nodiscard]] mvs_batches mvs_sample(graph const& graph, std::span<float const> importances, std::int64_t num_samples,
                                     mvs_params const& params, gpu_exec const& exec, std::int64_t first_sample = 0);

}  // namespace tendril
