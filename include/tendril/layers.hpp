#pragma once

#include <cstdint>
#include <span>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril {

/// The matrix Q that a graph convolution multiplies by. An edge v -> u is the entry Q[v, u]; parallel edges are entries of
/// their own, self loops are those that the graph has. deg is the out-degree.
enum class propagation {
  row,        ///< 1 / deg(v): the mean over the neighbours, D^-1 A.
  symmetric,  ///< 1 / sqrt(deg(v) deg(u)): D^-1/2 A D^-1/2; 0 where u has no out-edge.
  weights,    ///< The edge's weight: whatever normalisation the graph brings.
};

/// The most vertices that a layer or a batch of layer-wise sampling can have.
inline constexpr std::int64_t max_layer_size = 16384;

/// FastGCN (Chen, Ma and Xiao, "FastGCN: fast learning with graph convolutional networks via importance sampling",
/// ICLR'18): every layer is drawn from one distribution over all vertices, q(u) proportional to the sum over v of
/// Q[v, u]^2, the squared norm of column u.
struct fastgcn_params {
  std::int64_t num_layers = 2;    ///< In [1, 65535].
  std::int64_t layer_size = 400;  ///< Vertices drawn a layer, in [1, max_layer_size].
  propagation matrix = propagation::row;
  bool replace = true;          ///< Independent draws, which the estimator needs; else different vertices.
  bool normalize_rows = false;  ///< Divide the coefficients of each row by their sum.
  bool with_edges = false;      ///< Fill layer_samples::edges.
  std::uint64_t seed = 0;
};

/// LADIES (Zou, Hu, Wang, Jiang, Sun and Gu, "Layer-dependent importance sampling for training deep and large graph
/// convolutional networks", NeurIPS'19): a layer is drawn among the neighbours of the layer S before it (of the batch, for
/// the first), p(u) proportional to the sum over v in S of Q[v, u]^2. A vertex that is in S twice counts twice.
struct ladies_params {
  std::int64_t num_layers = 5;   ///< In [1, 65535].
  std::int64_t layer_size = 64;  ///< Vertices drawn a layer, in [1, max_layer_size].
  propagation matrix = propagation::row;
  bool replace = true;         ///< Independent draws, which the estimator needs; else different vertices.
  bool normalize_rows = true;  ///< Divide the coefficients of each row by their sum, as the paper does.
  bool with_edges = false;     ///< Fill layer_samples::edges.
  std::uint64_t seed = 0;
};

/// Samples of layers. Layer 0 is the one nearest to the batch; what is "before" layer 0 is the batch.
///
/// Edges lead from a vertex of the layer before to one of the layer. Those of sample i and layer l are the elements
/// [edge_offsets[i * num_layers + l], edge_offsets[i * num_layers + l + 1]), by row, then col, then place in the graph.
/// A vertex that is in a layer twice is two rows, or columns, with the same edges.
struct layer_samples {
  std::int64_t num_samples = 0, num_layers = 0, layer_size = 0, batch_size = 0;
  buffer<vertex_id> vertices;         ///< [num_samples, num_layers, layer_size]; `no_vertex` in slots that stay empty.
  buffer<float> probabilities;        ///< The same shape: q(u) or p(u), that of one draw; 0 in empty slots.
  buffer<std::int64_t> edge_offsets;  ///< [num_samples * num_layers + 1]
  buffer<std::int32_t> row;           ///< [num_edges] slot in the layer before, or place in the batch.
  buffer<std::int32_t> col;           ///< [num_edges] slot in the layer.
  buffer<float> coefficients;         ///< [num_edges] Q[v, u] / (layer_size * probability), before normalising rows.
  buffer<edge_id> edges;              ///< [num_edges] positions in the graph's edge arrays, if asked for; else empty.
};

/// Draws num_layers layers for every batch of roots. With replacement, for any matrix X of features and any layer,
///   sum over the edges of row v of coefficient * X[u]
/// is an unbiased estimate of row v of Q X, unless rows are normalised. Without replacement the layer holds the first
/// layer_size different vertices of a sequence of independent draws; slots that are still empty after 256 rounds of draws
/// stay so, as they do where nothing can be drawn.
///
/// Sample i depends on the graph, the parameters, its roots and its logical id first_sample + i alone
/// (docs/reproducibility.md). A draw takes O(1) for matrix `row`, O(log degree) else. The first call for a graph and a
/// matrix builds tables that stay with the graph: 20 bytes a vertex. Synchronous.
/// @param roots       [n, batch_size] vertices, row-major; repeats are rows of their own.
/// @param batch_size  In [1, max_layer_size].
/// @throws argument_error  a parameter out of range; roots that don't fill n rows; the first root out of range; matrix
///                         `weights` on a graph without; a graph on a GPU.
///         memory_error    if the result doesn't fit.
[[nodiscard]] layer_samples fastgcn_sample(graph const& graph, std::span<vertex_id const> roots,
                                           std::int64_t batch_size, fastgcn_params const& params,
                                           cpu_exec const& exec = {}, std::int64_t first_sample = 0);

/// As above. Draws a vertex v of S in proportion to the squared norm of row v, then an edge of v in proportion to its
/// squared entry: P(u) = sum over v in S of (|Q[v]|^2 / sum of |Q[S]|^2) (Q[v, u]^2 / |Q[v]|^2), which is p(u), although
/// the combined neighbourhood is never built. Tables: none for matrix `row`, else 8 bytes an edge and 4 a vertex.
[[nodiscard]] layer_samples ladies_sample(graph const& graph, std::span<vertex_id const> roots, std::int64_t batch_size,
                                          ladies_params const& params, cpu_exec const& exec = {},
                                          std::int64_t first_sample = 0);

/// The same samples, bit for bit, on a GPU: the graph, the roots and the result lie in its memory, the work is ordered on
/// `exec.stream`. Once tables are there it synchronises once, where the number of edges must be known; the last of the work
/// is still under way when it returns. Scratch memory: a bit for each pair of vertices of neighbouring layers, at most
/// 2 GiB or what one sample takes. Hash sets of the neighbourhoods (6 bytes an edge and 32 a vertex) are built where they
/// pay and fit.
/// @throws argument_error as above, and for a graph that is elsewhere; device_error; memory_error.
[[nodiscard]] layer_samples fastgcn_sample(graph const& graph, std::span<vertex_id const> roots,
                                           std::int64_t batch_size, fastgcn_params const& params, gpu_exec const& exec,
                                           std::int64_t first_sample = 0);
[[nodiscard]] layer_samples ladies_sample(graph const& graph, std::span<vertex_id const> roots, std::int64_t batch_size,
                                          ladies_params const& params, gpu_exec const& exec,
                                          std::int64_t first_sample = 0);

}  // namespace tendril
