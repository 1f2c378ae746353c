// Samples of an application on a placed graph, of which the GPU makes some and the CPU the others.

#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include <tendril/application.hpp>
#include <tendril/engine/applications/support.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril::gpu {

/// Makes the samples of some roots, whose first sample has the logical id first_sample.
struct sample_makers {
  /// On the GPU, in memory of the call's exec.
  std::function<samples(std::span<vertex_id const> roots, std::int64_t first_sample)> on_gpu;
  /// On the CPU, from roots in host memory.
  std::function<samples(std::span<vertex_id const> roots, std::int64_t first_sample, cpu_exec const& exec)> on_cpu;
};

/// Whether GPU and CPU may share the samples: each has its place in the result before it is made.
[[nodiscard]] bool can_share_samples(graph const& graph, engine::application_job const& job);

/// All samples of a job for which can_share_samples() holds. Synchronises.
/// @param roots  In device memory.
/// @throws argument_error as on the GPU alone; memory_error; device_error.
[[nodiscard]] samples share_samples(graph const& graph, engine::application_job const& job,
                                    application_params const& params, std::span<vertex_id const> roots,
                                    std::int64_t first_sample, sample_makers const& make, gpu_exec const& exec);

}  // namespace tendril::gpu
