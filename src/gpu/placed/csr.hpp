// A graph in CSR form whose edges lie on a GPU in part, for one call. `place_graph` is for graphs that stay: it compresses
// them first, and moves lists. Here each list stays where it was and each edge keeps its place, so that nothing but copies
// is made, and structs that read CSR alone can run.

#pragma once

#include <cstdint>

#include <tendril/place.hpp>

namespace tendril::gpu {

/// Offsets and types of vertices lie on the GPU; neighbours, weights and labels are managed arrays, by regions of 2 MiB.
/// Ids of edges and vertices are left out. Synchronises.
/// @param input   In CSR form, in host memory.
/// @param params  Which job reads it, and gpu_bytes.
/// @throws memory_error if gpu_bytes don't hold the offsets, or memory runs out; device_error as place_graph.
[[nodiscard]] graph place_csr(graph const& input, place_params const& params, gpu_exec const& exec);

}  // namespace tendril::gpu
