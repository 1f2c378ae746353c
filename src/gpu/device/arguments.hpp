// Checks that every sampling call on a GPU makes of its arguments.

#pragma once

#include <string>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::gpu {

/// @throws argument_error for a graph whose arrays are not on the GPU of `exec`.
inline void check_on_gpu(graph const& graph, gpu_exec const& exec)
{
  TENDRIL_EXPECTS(graph.device() == exec.device, "graph: it is {}, expected one on GPU {} (to_gpu)",
                  graph.device() < 0 ? std::string("in host memory") : fmt::format("on GPU {}", graph.device()),
                  exec.device);
}

}  // namespace tendril::gpu
