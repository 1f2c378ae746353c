#pragma once

#include <cstdint>
#include <optional>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/names.hpp>

namespace tendril {

/// Attributes that every generator can add to its graph.
struct edge_attributes {
  bool has_weights = false;
  float weight_min = 1.0F, weight_max = 5.0F;  ///< Weights are uniform in [min, max), 0 <= min < max.
  double weight_sigma = 0;                     ///< > 0: weights are lognormal(0, sigma) instead.
  int num_labels = 0;                          ///< > 0: edge labels are uniform in [0, num_labels), at most 65,536.
  int num_node_types = 0;                      ///< > 0: vertex types are uniform in [0, num_node_types).
};

/// Every graph below is a pure function of its parameters and the seed. Each edge draws from its own counter, so the
/// number of threads never changes a graph. The place doesn't either: with a gpu_exec the same arrays are built in the
/// memory of that GPU. A GPU build takes at most 18 bytes per edge (counted after symmetrizing and before duplicates
/// are dropped) and 16 per vertex; 34 bytes per edge if edge ids are kept. GPU calls return when the graph is ready.
/// All generators throw argument_error for parameters out of range, and memory_error, before anything is built, if the
/// graph wouldn't fit; GPU calls also throw device_error.

/// R-MAT (Chakrabarti et al., SDM'04) with the parameters of Graph500: 2^scale vertices and edge_factor * 2^scale edges
/// before `build`. If `scramble` is set, a bijection scrambles the vertex ids.
struct rmat_params {
  int scale = 16;
  double edge_factor = 16;
  double a = 0.57, b = 0.19, c = 0.19;
  bool scramble = true;
  std::uint64_t seed = 0;
};
[[nodiscard]] graph generate_rmat(rmat_params const& params, build_options const& build,
                                  edge_attributes const& extra = {}, cpu_exec const& exec = {});
[[nodiscard]] graph generate_rmat(rmat_params const& params, build_options const& build, edge_attributes const& extra,
                                  gpu_exec const& exec);

/// Erdős–Rényi G(n, m): num_edges edges with uniformly random ends, before `build`.
struct er_params {
  std::int64_t num_vertices = 1024;
  std::int64_t num_edges = 16384;
  std::uint64_t seed = 0;
};
[[nodiscard]] graph generate_er(er_params const& params, build_options const& build, edge_attributes const& extra = {},
                                cpu_exec const& exec = {});
[[nodiscard]] graph generate_er(er_params const& params, build_options const& build, edge_attributes const& extra,
                                gpu_exec const& exec);

/// A heavy-tailed graph: out-degrees follow a discrete power law with `exponent` between min_degree and max_degree
/// (vertex 0 has the largest degree); targets are chosen in proportion to the same law.
struct powerlaw_params {
  std::int64_t num_vertices = 1024;
  double exponent = 2.1;
  std::int64_t min_degree = 1;
  std::int64_t max_degree = 256;
  std::uint64_t seed = 0;
};
[[nodiscard]] graph generate_powerlaw(powerlaw_params const& params, build_options const& build,
                                      edge_attributes const& extra = {}, cpu_exec const& exec = {});
[[nodiscard]] graph generate_powerlaw(powerlaw_params const& params, build_options const& build,
                                      edge_attributes const& extra, gpu_exec const& exec);

/// A graph like a crawl of the web, with ids in the order of URLs: hosts are ranges of ids, pages of a directory have
/// almost equal lists of mostly consecutive ids, degrees have heavy tails, and some pages are popular everywhere. Each row
/// is a pure function of seed, num_vertices, edge_factor and the vertex (src/core/web_graph.hpp), sorted and without
/// duplicates; self loops occur. The model and its statistics beside those of crawls: docs/generators.md.
struct web_params {
  std::int64_t num_vertices = 65536;
  double edge_factor = 16;  ///< Mean degree of a large graph, 0 to 256. Small graphs differ: docs/generators.md.
  std::uint64_t seed = 0;
  /// How the neighbours are stored: the graph is that of CSR in another form (<tendril/compress.hpp>). Without building
  /// steps and attributes it is made in this form, in the memory of the result and a few hundred rows a thread.
  graph_form form = graph_form::csr;
};
[[nodiscard]] graph generate_web(web_params const& params, build_options const& build,
                                 edge_attributes const& extra = {}, cpu_exec const& exec = {});
/// The same graph in a GPU's memory, which has room for the result, 4 bytes a vertex, and a batch of rows, at most an
/// eighth of what is free. @throws argument_error also for building steps and attributes.
[[nodiscard]] graph generate_web(web_params const& params, build_options const& build, edge_attributes const& extra,
                                 gpu_exec const& exec);

enum class regular_graph {
  star,      ///< Edges between vertex 0 and each other vertex, in both directions.
  ring,      ///< Edges from v to v + 1 and back, cyclic.
  grid,      ///< The most square rows x columns grid of exactly num_vertices; 4 neighbours, in both directions.
  complete,  ///< Every ordered pair of distinct vertices.
};

template <>
inline constexpr std::array<named<regular_graph>, 4> enum_names<regular_graph>{{{regular_graph::star, "star"},
                                                                                {regular_graph::ring, "ring"},
                                                                                {regular_graph::grid, "grid"},
                                                                                {regular_graph::complete, "complete"}}};
[[nodiscard]] graph generate_regular(regular_graph kind, std::int64_t num_vertices, std::uint64_t seed = 0,
                                     edge_attributes const& extra = {}, cpu_exec const& exec = {});

}  // namespace tendril
