// The edges of each vertex in order of time: a stable sort of all rows at once, by CUB. At least 12 bytes an edge are read
// and 12 written; made once a graph. CPU twin: src/graph/temporal_order.cpp.

#include <cub/device/device_segmented_sort.cuh>

#include "gpu/device/copy_value.hpp"
#include "gpu/graph/edge_tiles.cuh"
#include "gpu/graph/temporal_order.hpp"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;

__global__ __launch_bounds__(block_threads) void find_kernel(csr_arrays const graph, std::int64_t num_vertices,
                                                             unsigned long long* first)
{
  for (edge_id e = global_thread(); e < graph.num_edges; e += grid_stride()) {
    if (graph.indices[e] >= num_vertices) { atomicMin(first, static_cast<unsigned long long>(e)); }
  }
}

/// The time of each edge, and which of its vertex' edges it is.
__global__ __launch_bounds__(tile_threads) void fill_kernel(csr_arrays const graph, tile_view tiles,
                                                            std::int64_t const* times, bool of_vertices,
                                                            std::int64_t* time_of, std::uint32_t* ordinal)
{
  for_each_tile_edge(tiles, [&](edge_id e, std::int64_t row) {
    time_of[e] = times[of_vertices ? static_cast<edge_id>(graph.indices[e]) : e];
    ordinal[e] = static_cast<std::uint32_t>(e - graph.indptr[row]);
  });
}

}  // namespace

edge_id first_edge_beyond(csr_arrays const& graph, std::int64_t num_vertices, gpu_exec const& exec)
{
  if (graph.num_edges == 0) { return -1; }
  buffer<unsigned long long> first(1, memory_of(exec));
  TENDRIL_CUDA_TRY(cudaMemsetAsync(first.data(), 0xff, sizeof first[0], exec.stream));
  find_kernel<<<grid_blocks(graph.num_edges, block_threads), block_threads, 0, exec.stream>>>(graph, num_vertices,
                                                                                              first.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  return static_cast<edge_id>(value_at(first.data(), exec));  // 2^64 - 1 reads -1
}

void sort_by_time(csr_arrays const& graph, std::int64_t const* times, bool of_vertices, std::int64_t* sorted,
                  std::uint32_t* ordinal, gpu_exec const& exec)
{
  if (graph.num_edges == 0) { return; }
  buffer<std::int64_t> time_of(graph.num_edges, memory_of(exec));
  buffer<std::uint32_t> places(graph.num_edges, memory_of(exec));
  edge_tiles const tiles(graph, all_rows(graph), exec);
  fill_kernel<<<tiles.num_blocks(), tile_threads, 0, exec.stream>>>(graph, tiles.view(), times, of_vertices,
                                                                    time_of.data(), places.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSegmentedSort::StableSortPairs(scratch, bytes, time_of.data(), sorted, places.data(), ordinal,
                                                     graph.num_edges, graph.num_vertices, graph.indptr,
                                                     graph.indptr + 1, exec.stream);
  });
}

}  // namespace tendril::gpu
