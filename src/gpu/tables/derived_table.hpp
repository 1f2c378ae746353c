// Tables in GPU memory that are derived from a graph and kept with it.

#pragma once

#include <memory>
#include <string>
#include <utility>

#include <cuda_runtime_api.h>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

#include "gpu/device/check.hpp"
#include "gpu/tables/tables.hpp"
#include "graph/derived_cache.hpp"

namespace tendril::gpu {

/// The graph's table `key`, built by `build()` (which enqueues on exec.stream and returns a T) if it is not there. Only a
/// finished table is kept: who finds it may be working on another stream. Synchronises if it builds.
template <class T, class F>
[[nodiscard]] std::shared_ptr<T const> derived_table(graph const& graph, std::string const& key, gpu_exec const& exec,
                                                     F&& build)
{
  return graph.derived().get<T>(key, [&] {
    T made = build();
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
    return made;
  });
}

/// The graph's largest degree, found once. Synchronises then.
[[nodiscard]] inline std::int64_t known_largest_degree(graph const& graph, gpu_exec const& exec)
{
  return *graph.derived().get<std::int64_t>("largest-degree", [&] { return largest_degree(graph.view(), exec); });
}

/// The statistics of the graph's weights, gathered once. Synchronises then.
[[nodiscard]] inline std::shared_ptr<plan::weight_statistics const> known_statistics(graph const& graph,
                                                                                     gpu_exec const& exec)
{
  return derived_table<plan::weight_statistics>(graph, "statistics", exec,
                                                [&] { return make_weight_statistics(graph.view(), exec); });
}

}  // namespace tendril::gpu
