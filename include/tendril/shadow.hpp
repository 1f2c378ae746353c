#pragma once

#include <cstdint>
#include <span>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/subgraph.hpp>

namespace tendril {

/// ShaDow's k-hop sampler (Zeng, Zhang, Xia, Srivastava, Malevich, Kannan, Prasanna, Jin and Chen, "Decoupling the depth and
/// scope of graph neural networks", NeurIPS'21): a model of any depth runs on a small subgraph around each seed.
struct shadow_params {
  std::int64_t depth = 2;           ///< Hops, in [1, 64].
  std::int64_t num_neighbors = 10;  ///< Drawn of each vertex, in [1, max_shadow_neighbors].
  bool replace = false;             ///< With replacement; else a vertex of degree <= num_neighbors gives all its edges.
  std::uint64_t seed = 0;
};

/// The most neighbours that can be drawn of a vertex.
inline constexpr std::int64_t max_shadow_neighbors = 1024;

/// One subgraph a seed, induced by the vertices of its sampled k-hop neighbourhood. Hop h draws, uniformly, from the
/// out-edges of the vertices that hop h - 1 reached first; hop 0 is the seed. A vertex is in a sample once: the seed first,
/// then by first appearance, in the order of the vertices drawn from and of their draws. The edges are all those of the
/// graph between the vertices of the sample, not the drawn ones alone. Sample i depends on the graph, the parameters,
/// seeds[i] and its logical id first_sample + i alone. Synchronous.
/// @param seeds  Vertices below num_vertices; a vertex may be the seed of many samples.
/// @throws argument_error  a parameter out of range, the first seed out of range; memory_error.
[[nodiscard]] subgraphs shadow_sample(graph const& graph, std::span<vertex_id const> seeds, shadow_params const& params,
                                      cpu_exec const& exec = {}, std::int64_t first_sample = 0);

/// The same samples, to the bit, on a GPU: graph, seeds and result lie in its memory, the work is ordered on `exec.stream`.
/// Beside what induced_subgraphs takes it allocates nothing where a sample can't have more than about 3,000 vertices (1 +
/// num_neighbors + num_neighbors^2 + …, or all of the graph's), else at most 2 GiB, or what one sample takes if that is
/// more: up to 36 bytes a vertex. Synchronises twice: to learn the number of vertices, and that of edges.
/// @throws argument_error as above, and for a graph that is elsewhere; device_error; memory_error.
[[nodiscard]] subgraphs shadow_sample(graph const& graph, std::span<vertex_id const> seeds, shadow_params const& params,
                                      gpu_exec const& exec, std::int64_t first_sample = 0);

}  // namespace tendril
