// Tables in GPU memory that are derived from a graph and kept with it.

#pragma once

#include <memory>
#include <string>
#include <utility>

#include <cuda_runtime_api.h>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

#include "gpu/device/check.hpp"
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

}  // namespace tendril::gpu
