// The edges of each vertex in order of time: a stable sort of all rows at once, by CUB. At least 12 bytes an edge are read
// and 12 written; made once a graph. CPU twin: src/graph/temporal_order.cpp.

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_segmented_sort.cuh>

#include "gpu/device/copy_value.hpp"
#include "gpu/graph/edge_tiles.cuh"
#include "gpu/graph/temporal_order.hpp"

namespace tendril::gpu {
namespace {

/// Finds the first edge whose target is not below num_vertices.
struct first_beyond {
  std::int64_t num_vertices;
  unsigned long long* first;

  __device__ void operator()(edge_id e, vertex_id target) const
  {
    if (target >= num_vertices) { atomicMin(first, static_cast<unsigned long long>(e)); }
  }
};

/// Keeps the target of one edge.
struct target_of {
  edge_id edge;
  vertex_id* target;

  __device__ void operator()(edge_id e, vertex_id v) const
  {
    if (e == edge) { *target = v; }
  }
};

/// The time of each edge, and which of its vertex' edges it is.
template <class View>
__global__ __launch_bounds__(tile_threads) void fill_kernel(View const graph, tile_view tiles,
                                                            std::int64_t const* times, bool of_vertices,
                                                            std::int64_t* time_of, std::uint32_t* ordinal)
{
  for_each_tile_edge(tiles, [&](edge_id e, std::int64_t row) {
    time_of[e] = times[of_vertices ? static_cast<edge_id>(graph.edge_target(e, row)) : e];
    ordinal[e] = static_cast<std::uint32_t>(e - graph.first_edge(row));
  });
}

}  // namespace

found_edge first_edge_beyond(graph_view const& graph, std::int64_t num_vertices, gpu_exec const& exec)
{
  if (graph.num_edges == 0) { return {}; }
  buffer<unsigned long long> first(1, memory_of(exec));
  TENDRIL_CUDA_TRY(cudaMemsetAsync(first.data(), 0xff, sizeof first[0], exec.stream));
  graph.visit([&](auto const& view) { for_each_target(view, first_beyond{num_vertices, first.data()}, exec); });
  found_edge found{static_cast<edge_id>(value_at(first.data(), exec))};  // 2^64 - 1 reads -1
  if (found.edge < 0) { return found; }
  buffer<vertex_id> target(1, memory_of(exec));
  graph.visit([&](auto const& view) { for_each_target(view, target_of{found.edge, target.data()}, exec); });
  found.target = value_at(target.data(), exec);
  return found;
}

struct first_edge_of {
  edge_offsets offsets;
  TENDRIL_HD edge_id operator()(std::int64_t v) const { return offsets[v]; }
};

void sort_by_time(graph_view const& graph, std::int64_t const* times, bool of_vertices, std::int64_t* sorted,
                  std::uint32_t* ordinal, gpu_exec const& exec)
{
  if (graph.num_edges == 0) { return; }
  buffer<std::int64_t> time_of(graph.num_edges, memory_of(exec));
  buffer<std::uint32_t> places(graph.num_edges, memory_of(exec));
  edge_arrays const edges = graph.edges();
  edge_tiles const tiles(edges, all_rows(edges), exec);
  graph.visit([&](auto const& view) {
    fill_kernel<<<tiles.num_blocks(), tile_threads, 0, exec.stream>>>(view, tiles.view(), times, of_vertices,
                                                                      time_of.data(), places.data());
  });
  TENDRIL_CUDA_TRY(cudaGetLastError());
  auto const begins =
      thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), first_edge_of{edges.first_edges});
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSegmentedSort::StableSortPairs(scratch, bytes, time_of.data(), sorted, places.data(), ordinal,
                                                     edges.num_edges, edges.num_vertices, begins, begins + 1,
                                                     exec.stream);
  });
}

}  // namespace tendril::gpu
