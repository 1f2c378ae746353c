// A rank's part of a graph in the memory of its GPU.

#pragma once

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/partition.hpp>

namespace tendril::gpu {

/// Copies the rows of a part, and tells planners of them what partition_info knows of the whole graph. Synchronises.
/// @param rows  In host memory, as a graph whose neighbours may be no vertices of it.
/// @throws memory_error; device_error.
[[nodiscard]] graph part_to_gpu(graph const& rows, partition_info const& whole, gpu_exec const& exec);

}  // namespace tendril::gpu
