// Minimal variance sampling: what a batch brings beside its vertices. All neighbours of a slot are copied by tiles of
// edges of the result, so that a hub is the work of many blocks; 4 bytes read and 4 written an edge.
// The draws: src/gpu/layers/layers.cu. CPU twin: src/cpu/layers/mvs.cpp.

#include "gpu/layers/mvs.hpp"

#include <cub/device/device_scan.cuh>

#include "core/layers.hpp"
#include "gpu/graph/edge_tiles.cuh"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;

__global__ __launch_bounds__(block_threads) void clean_kernel(float const* importances, std::int64_t size, float* out,
                                                              unsigned long long* bad)
{
  for (std::int64_t v = global_thread(); v < size; v += grid_stride()) {
    float const value = importances[v];
    bool const good = value >= 0 && isfinite(value);
    out[v] = good ? value : 0.0F;
    if (!good) { atomicMin(bad, static_cast<unsigned long long>(v)); }
  }
}

__global__ __launch_bounds__(block_threads) void weigh_kernel(edge_arrays graph, vertex_id const* vertices,
                                                              float const* probabilities, std::int64_t size,
                                                              std::int64_t batch_size, float* weights,
                                                              std::int64_t* edge_offsets)
{
  for (std::int64_t k = global_thread(); k < size; k += grid_stride()) {
    vertex_id const v = vertices[k];
    weights[k] = core::draw_weight(batch_size, probabilities[k]);
    edge_offsets[k + 1] = v == no_vertex ? 0 : graph.degree(v);
    if (k == 0) { edge_offsets[0] = 0; }
  }
}

template <class View>
__global__ __launch_bounds__(tile_threads) void copy_kernel(View graph, tile_view tiles, vertex_id const* vertices,
                                                            std::int64_t const* edge_offsets, vertex_id* neighbors,
                                                            edge_id* edges)
{
  for_each_tile_edge(tiles, [&](edge_id k, std::int64_t slot) {
    auto const row = graph.row(vertices[slot]);
    auto const i = static_cast<std::uint32_t>(k - edge_offsets[slot]);
    neighbors[k] = row.neighbor(i);
    if (edges != nullptr) { edges[k] = row.edge(i); }
  });
}

}  // namespace

void clean_importances(float const* importances, std::int64_t size, float* out, unsigned long long* bad,
                       cuda_stream stream)
{
  clean_kernel<<<grid_blocks(size, block_threads), block_threads, 0, stream>>>(importances, size, out, bad);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void weigh_slots(graph_view const& graph, vertex_id const* vertices, float const* probabilities, std::int64_t size,
                 std::int64_t batch_size, float* weights, std::int64_t* edge_offsets, gpu_exec const& exec)
{
  weigh_kernel<<<grid_blocks(size, block_threads), block_threads, 0, exec.stream>>>(
      graph.edges(), vertices, probabilities, size, batch_size, weights, edge_offsets);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, edge_offsets + 1, edge_offsets + 1, size, exec.stream);
  });
}

void copy_neighbors(graph_view const& graph, vertex_id const* vertices, std::int64_t size,
                    std::int64_t const* edge_offsets, std::int64_t num_edges, vertex_id* neighbors, edge_id* edges,
                    gpu_exec const& exec)
{
  edge_arrays const slots{size, num_edges, edge_offsets, nullptr, {}};
  edge_tiles const tiles(slots, all_rows(slots), exec);
  graph.visit([&](auto const& view) {
    copy_kernel<<<tiles.num_blocks(), tile_threads, 0, exec.stream>>>(view, tiles.view(), vertices, edge_offsets,
                                                                      neighbors, edges);
  });
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
