#pragma once

#include <cstdint>
#include <span>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/subgraph.hpp>

namespace tendril {

/// ShaDow's k-hop sampler (Zeng, Zhang, Xia, Srivastava, Malevich, Kannan, Prasanna, Jin and Chen, "Decoupling the
/// depth and scope of graph neural networks", NeurIPS'21): a model of any depth runs on a small subgraph around each
/// seed.
struct shadow_params {
  std::int64_t depth = 2;           ///< Hops, in [1, 64].
  std::int64_t num_neighbors = 10;  ///< Draws per vertex, in [1, max_shadow_neighbors].
  bool replace = false;  ///< With replacement; false: a vertex of degree <= num_neighbors gives all its edges.
  std::uint64_t seed = 0;
};

/// The maximum number of neighbours drawn per vertex.
inline constexpr std::int64_t max_shadow_neighbors = 1024;

/// @throws argument_error for a parameter out of range, as every call that takes them.
void validate(shadow_params const& params);

/// Samples one subgraph per seed, induced by the vertices of the seed's sampled k-hop neighbourhood. Hop h draws,
/// uniformly, from the out-edges of the vertices that hop h - 1 reached first; hop 0 is the seed. A vertex is in a
/// sample once. The seed comes first; the other vertices follow by first appearance, in the order of the expanded
/// vertices and of their draws. The edges are all edges of the graph between the vertices of the sample, not only the
/// drawn edges. Sample i depends only on the graph, the parameters, seeds[i] and its logical id first_sample + i.
/// Synchronous.
/// @param seeds  Vertices below num_vertices; a vertex may be the seed of many samples.
/// @throws argument_error  a parameter out of range, the first seed out of range; memory_error.
[[nodiscard]] subgraphs shadow_sample(graph const& graph, std::span<vertex_id const> seeds, shadow_params const& params,
                                      cpu_exec const& exec = {}, std::int64_t first_sample = 0);

/// Samples the same subgraphs, bit for bit, on a GPU: the graph, the seeds and the result are in its memory; the work
/// is ordered on `exec.stream`. In addition to the memory of induced_subgraphs it allocates nothing if a sample can't
/// have more than about 3,000 vertices (1 + num_neighbors + num_neighbors^2 + …, or all vertices of the graph).
/// Otherwise it allocates at most 2 GiB, or the need of one sample if that is more: up to 36 bytes per vertex.
/// Synchronises twice: for the number of vertices, and for the number of edges.
/// @throws argument_error as above, and for a graph that is elsewhere; device_error; memory_error.
[[nodiscard]] subgraphs shadow_sample(graph const& graph, std::span<vertex_id const> seeds, shadow_params const& params,
                                      gpu_exec const& exec, std::int64_t first_sample = 0);

}  // namespace tendril
