#pragma once

#include <cstdint>
#include <span>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/names.hpp>

namespace tendril {

/// The matrix Q of a graph convolution. An edge v -> u is the entry Q[v, u]. Parallel edges are separate entries; the
/// only self loops are those of the graph. deg is the out-degree.
enum class propagation {
  row,        ///< 1 / deg(v): the mean over the neighbours, D^-1 A.
  symmetric,  ///< 1 / sqrt(deg(v) deg(u)): D^-1/2 A D^-1/2; 0 where u has no out-edge.
  weights,    ///< The edge's weight: any normalisation that the graph comes with.
};

template <>
inline constexpr std::array<named<propagation>, 3> enum_names<propagation>{
    {{propagation::row, "row"}, {propagation::symmetric, "symmetric"}, {propagation::weights, "weights"}}};

/// The maximum number of vertices of a layer or a batch in layer-wise sampling.
inline constexpr std::int64_t max_layer_size = 16384;

/// FastGCN (Chen, Ma and Xiao, "FastGCN: fast learning with graph convolutional networks via importance sampling",
/// ICLR'18): every layer is drawn from one distribution over all vertices: q(u) is proportional to the squared norm of
/// column u, the sum over v of Q[v, u]^2.
struct fastgcn_params {
  std::int64_t num_layers = 2;    ///< In [1, 65535].
  std::int64_t layer_size = 400;  ///< Vertices drawn per layer, in [1, max_layer_size].
  propagation matrix = propagation::row;
  bool replace = true;          ///< Independent draws, which the estimator needs; false: distinct vertices.
  bool normalize_rows = false;  ///< Divide the coefficients of each row by their sum.
  bool with_edges = false;      ///< Fill layer_samples::edges.
  std::uint64_t seed = 0;
};

/// LADIES (Zou, Hu, Wang, Jiang, Sun and Gu, "Layer-dependent importance sampling for training deep and large graph
/// convolutional networks", NeurIPS'19): a layer is drawn from the neighbours of the previous layer S (the batch, for
/// the first layer); p(u) is proportional to the sum over v in S of Q[v, u]^2. A vertex that is in S twice counts
/// twice.
struct ladies_params {
  std::int64_t num_layers = 5;   ///< In [1, 65535].
  std::int64_t layer_size = 64;  ///< Vertices drawn per layer, in [1, max_layer_size].
  propagation matrix = propagation::row;
  bool replace = true;         ///< Independent draws, which the estimator needs; false: distinct vertices.
  bool normalize_rows = true;  ///< Divide the coefficients of each row by their sum, as the paper does.
  bool with_edges = false;     ///< Fill layer_samples::edges.
  std::uint64_t seed = 0;
};

/// Checks the parameters, without a graph. @throws argument_error for a parameter out of range, as every call that takes
/// them.
void validate(fastgcn_params const& params, std::int64_t batch_size);
void validate(ladies_params const& params, std::int64_t batch_size);

/// Checks the parameters for a graph. @throws as above, and argument_error for what this graph can't serve.
void validate(fastgcn_params const& params, graph const& graph, std::int64_t batch_size);
void validate(ladies_params const& params, graph const& graph, std::int64_t batch_size);

/// Sampled layers. Layer 0 is the nearest to the batch; the layer before layer 0 is the batch itself.
///
/// An edge leads from a vertex of the previous layer to a vertex of the layer. The edges of sample i and layer l are
/// the elements [edge_offsets[i * num_layers + l], edge_offsets[i * num_layers + l + 1]), ordered by row, then col,
/// then position in the graph. A vertex that occurs twice in a layer has two rows, or two columns, with the same edges.
struct layer_samples {
  std::int64_t num_samples = 0, num_layers = 0, layer_size = 0, batch_size = 0;
  buffer<vertex_id> vertices;         ///< [num_samples, num_layers, layer_size]; `no_vertex` in slots that stay empty.
  buffer<float> probabilities;        ///< The same shape: q(u) or p(u), the probability of one draw; 0 in empty slots.
  buffer<std::int64_t> edge_offsets;  ///< [num_samples * num_layers + 1]
  buffer<std::int32_t> row;           ///< [num_edges] slot in the previous layer, or position in the batch.
  buffer<std::int32_t> col;           ///< [num_edges] slot in the layer.
  buffer<float> coefficients;         ///< [num_edges] Q[v, u] / (layer_size * probability), before rows are normalised.
  buffer<edge_id> edges;              ///< [num_edges] positions in the graph's edge arrays if with_edges; else empty.
};

/// Draws num_layers layers for every batch of roots. With replacement, for any feature matrix X and any layer,
///   sum over the edges of row v of coefficient * X[u]
/// is an unbiased estimate of row v of Q X, unless rows are normalised. Without replacement the layer holds the first
/// layer_size distinct vertices of a sequence of independent draws. Slots that are still empty after 256 rounds of
/// draws stay empty; so do all slots if no vertex can be drawn.
///
/// Sample i depends only on the graph, the parameters, its roots and its logical id first_sample + i
/// (docs/reproducibility.md). A draw takes O(1) for matrix `row`, O(log degree) for the others. The first call for a
/// graph and a matrix builds tables that stay with the graph: 20 bytes per vertex. Synchronous.
/// @param roots       [n, batch_size] vertices, row-major; a repeated root has its own row.
/// @param batch_size  In [1, max_layer_size].
/// @throws argument_error  a parameter out of range; roots that don't fill n rows; the first root out of range; matrix
///                         `weights` on a graph without weights; a graph on a GPU.
///         memory_error    if the result doesn't fit.
[[nodiscard]] layer_samples fastgcn_sample(graph const& graph, std::span<vertex_id const> roots,
                                           std::int64_t batch_size, fastgcn_params const& params,
                                           cpu_exec const& exec = {}, std::int64_t first_sample = 0);

/// Draws layers as above, by LADIES. A draw chooses a vertex v of S in proportion to the squared norm of row v, then an
/// edge of v in proportion to its squared entry: P(u) = sum over v in S of (|Q[v]|^2 / sum of |Q[S]|^2) (Q[v, u]^2 /
/// |Q[v]|^2). This equals p(u), although the combined neighbourhood is never built. Tables: none for matrix `row`; for
/// the others 8 bytes per edge and 4 per vertex.
[[nodiscard]] layer_samples ladies_sample(graph const& graph, std::span<vertex_id const> roots, std::int64_t batch_size,
                                          ladies_params const& params, cpu_exec const& exec = {},
                                          std::int64_t first_sample = 0);

/// Draws the same samples, bit for bit, on a GPU: the graph, the roots and the result are in its memory; the work is
/// ordered on `exec.stream`. Once the tables exist, a call synchronises once, where the number of edges must be known;
/// the last part of the work is still running when the call returns. Scratch memory: one bit per pair of vertices of
/// neighbouring layers; at most 2 GiB, or the need of one sample if that is larger. Hash sets of the neighbourhoods (6
/// bytes per edge and 32 per vertex) are built where they pay and fit.
/// @throws argument_error as above, and for a graph that is elsewhere; device_error; memory_error.
[[nodiscard]] layer_samples fastgcn_sample(graph const& graph, std::span<vertex_id const> roots,
                                           std::int64_t batch_size, fastgcn_params const& params, gpu_exec const& exec,
                                           std::int64_t first_sample = 0);
[[nodiscard]] layer_samples ladies_sample(graph const& graph, std::span<vertex_id const> roots, std::int64_t batch_size,
                                          ladies_params const& params, gpu_exec const& exec,
                                          std::int64_t first_sample = 0);

}  // namespace tendril
