// The copies of a graph, or of a planned walk, on several GPUs that share a job.

#pragma once

#include <span>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/walk.hpp>

namespace tendril::gpu {

/// Where the calls on a copy of a graph run: on the default stream of its GPU.
/// @param index  Of the copy, for messages. @throws argument_error for a graph in host memory.
gpu_exec exec_of_copy(graph const& copy, int index);

/// @throws argument_error for no copy at all, or for copies that differ in what is easily seen.
void expect_same_graph(std::span<graph const> copies);
void expect_same_walk(std::span<walker const> copies);

}  // namespace tendril::gpu
