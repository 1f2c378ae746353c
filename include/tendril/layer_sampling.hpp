#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tendril/application.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/plan_application.hpp>

namespace tendril {

/// Layer sampling (Gao, Wang and Ji, "Large-scale learnable graph convolutional networks", KDD'18, in the form of
/// NextDoor: Jangda et al., EuroSys'21): a step draws vertices from all neighbours of the vertices that the sample's
/// previous step added. Each edge is equally likely. The sample ends at its maximum size.
struct layer_params {
  std::int64_t layer_size = 1000;  ///< Vertices drawn per step, at least 1.
  std::int64_t max_size = 2000;    ///< Maximum number of vertices of a sample, not counting its roots; at least 1.
  int max_steps = 0;               ///< Steps of the result; 0: max_size / layer_size, rounded up.
  bool unique = false;             ///< A step adds each vertex at most once; it may then add fewer vertices.
  std::uint64_t seed = 0;
  sampling_executor executor = sampling_executor::automatic;  ///< Executor on a GPU. It never changes a sample.
  /// On a GPU, for a graph in host memory: bytes that the graph may take on the GPU; 0: all free memory. Never changes
  /// a sample.
  std::int64_t gpu_memory = 0;
};

/// Checks the parameters, without a graph. @throws argument_error for a parameter out of range, as every call that takes
/// them.
void validate(layer_params const& params);

/// Samples layers. Sample i depends only on the graph, the parameters, its roots and its logical id first_sample + i. A
/// step holds [n, layer_size] vertices, with `no_vertex` in slots that stay empty. sampled_step::sizes holds how many
/// vertices each sample got: 0 once the sample is full, or no vertex can be reached. A full step is filled from slot 0
/// on, unless it is `unique`. Synchronous.
/// @param roots      [n, num_roots] vertices in host memory, row-major.
/// @param num_roots  Number of roots of each sample, at least 1.
/// @throws argument_error  a parameter out of range; roots that don't fill n rows; the first root out of range; a graph
///                         on a GPU; memory_error.
[[nodiscard]] samples layer_sample(graph const& graph, std::span<vertex_id const> roots, std::int64_t num_roots,
                                   layer_params const& params, cpu_exec const& exec = {},
                                   std::int64_t first_sample = 0);

/// Samples the same layers, bit for bit, on a GPU: the roots and the result are in its memory; the work is ordered on
/// `exec.stream`. The graph is in the GPU's memory or in host memory. A graph in host memory is copied; if it takes
/// more than params.gpu_memory, it streams, or lies there in part. Synchronises once, at the end; transit-parallel
/// execution also synchronises once per step.
/// @throws argument_error as above, and for a graph that is elsewhere; device_error; memory_error.
[[nodiscard]] samples layer_sample(graph const& graph, std::span<vertex_id const> roots, std::int64_t num_roots,
                                   layer_params const& params, gpu_exec const& exec, std::int64_t first_sample = 0);

/// Plans without running the sampler. @throws argument_error as layer_sample.
[[nodiscard]] std::vector<planned_step> plan_layer_sample(graph const& graph, std::int64_t num_samples,
                                                          std::int64_t num_roots, layer_params const& params,
                                                          cpu_exec const& exec = {});
[[nodiscard]] std::vector<planned_step> plan_layer_sample(graph const& graph, std::int64_t num_samples,
                                                          std::int64_t num_roots, layer_params const& params,
                                                          gpu_exec const& exec);

}  // namespace tendril
