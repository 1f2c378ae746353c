#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tendril/application.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/plan_application.hpp>

namespace tendril {

/// Layer sampling (Gao, Wang and Ji, "Large-scale learnable graph convolutional networks", KDD'18, as NextDoor has it:
/// Jangda et al., EuroSys'21): a step adds vertices out of all neighbours of those that the sample's last step added, each
/// edge as likely, until the sample has as many as it may.
struct layer_params {
  std::int64_t layer_size = 1000;  ///< Vertices drawn a step, at least 1.
  std::int64_t max_size = 2000;    ///< Vertices of a sample, beside its roots; at least 1.
  int max_steps = 0;               ///< Steps of the result; 0: max_size / layer_size, rounded up.
  bool unique = false;             ///< No vertex twice among those that a step adds; a step may then add less.
  std::uint64_t seed = 0;
  sampling_executor executor = sampling_executor::automatic;  ///< On a GPU. Never changes a sample.
  /// On a GPU, of a graph in host memory: bytes that it may take there; 0: what is free. Never changes a sample.
  std::int64_t gpu_memory = 0;
};

/// Sample i depends on the graph, the parameters, its roots and its logical id first_sample + i alone. A step holds
/// [n, layer_size] vertices, `no_vertex` in slots that stay empty, and sampled_step::sizes says how many a sample got: none
/// once it is full, or nothing can be reached. A full step is filled from slot 0 on, unless it is `unique`. Synchronous.
/// @param roots      [n, num_roots] vertices in host memory, row-major.
/// @param num_roots  Vertices that each sample starts from, at least 1.
/// @throws argument_error  a parameter out of range; roots that don't fill n rows; the first root out of range; a graph on
///                         a GPU; memory_error.
[[nodiscard]] samples layer_sample(graph const& graph, std::span<vertex_id const> roots, std::int64_t num_roots,
                                   layer_params const& params, cpu_exec const& exec = {},
                                   std::int64_t first_sample = 0);

/// The same samples, bit for bit, on a GPU: roots and result lie in its memory, the work is ordered on `exec.stream`. So
/// does the graph, or it is in host memory: then it is copied, or, where it takes more than params.gpu_memory, streams. Synchronises once, at the end; transit-parallel once more for each step.
/// @throws argument_error as above, and for a graph that is elsewhere; device_error; memory_error.
[[nodiscard]] samples layer_sample(graph const& graph, std::span<vertex_id const> roots, std::int64_t num_roots,
                                   layer_params const& params, gpu_exec const& exec, std::int64_t first_sample = 0);

/// Plans without running. @throws argument_error as layer_sample.
[[nodiscard]] std::vector<planned_step> plan_layer_sample(graph const& graph, std::int64_t num_samples,
                                                          std::int64_t num_roots, layer_params const& params,
                                                          cpu_exec const& exec = {});
[[nodiscard]] std::vector<planned_step> plan_layer_sample(graph const& graph, std::int64_t num_samples,
                                                          std::int64_t num_roots, layer_params const& params,
                                                          gpu_exec const& exec);

}  // namespace tendril
