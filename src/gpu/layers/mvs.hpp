// What the kernels of minimal variance sampling are given. The draws are those of gpu/layers/layers.hpp.

#pragma once

#include <cstdint>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril::gpu {

/// Copies importances to `out`, with 0 in the place of those that can't be, and puts the least vertex of these into
/// *bad, which is 2^64 - 1 before. Enqueues. @throws device_error.
void clean_importances(float const* importances, std::int64_t size, float* out, unsigned long long* bad,
                       cuda_stream stream);

/// Weights of slots; edge_offsets, [size + 1]. Enqueues. @throws device_error, memory_error.
void weigh_slots(graph_view const& graph, vertex_id const* vertices, float const* probabilities, std::int64_t size,
                 std::int64_t batch_size, float* weights, std::int64_t* edge_offsets, gpu_exec const& exec);

/// The neighbours of all slots. `edges` may be null. Enqueues. @throws device_error, memory_error.
void copy_neighbors(graph_view const& graph, vertex_id const* vertices, std::int64_t size,
                    std::int64_t const* edge_offsets, std::int64_t num_edges, vertex_id* neighbors, edge_id* edges,
                    gpu_exec const& exec);

}  // namespace tendril::gpu
