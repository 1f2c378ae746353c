// The edge arrays of a compressed graph in a GPU's memory in fewer bits, and back.

#pragma once

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril::gpu {

/// Puts edge arrays into fewer bits, where that takes fewer bytes: with equal bits as on the CPU. The arrays must be sound.
/// Takes at most 8 MiB besides. Synchronises. @throws memory_error; device_error.
void narrow(graph_arrays& arrays, gpu_exec const& exec);

/// Puts them back. Synchronises.
void widen(graph_arrays& arrays, gpu_exec const& exec);

}  // namespace tendril::gpu
