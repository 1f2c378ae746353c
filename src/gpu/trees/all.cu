// Hops of k-hop trees that take all neighbours: degrees, their sums, and a copy that is cut by edges, so that hubs
// unbalance nothing. CPU twin: src/cpu/trees/khop.cpp.

#include <cub/device/device_scan.cuh>

#include "gpu/device/copy_value.hpp"
#include "gpu/graph/edge_tiles.cuh"
#include "gpu/trees/khop.hpp"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;

/// degrees[s] for each slot, and a 0 behind them, which becomes the sum of all.
__global__ __launch_bounds__(block_threads) void degrees_kernel(edge_arrays graph, hop_slots parents,
                                                                walk_status* status, std::int64_t* degrees)
{
  for (std::int64_t s = global_thread(); s <= parents.size; s += grid_stride()) {
    std::int64_t degree = 0;
    if (s < parents.size) {
      vertex_id const v = parents.vertices[s];
      if (std::int64_t{v} < graph.num_vertices) {
        degree = graph.degree(v);
      } else if (status != nullptr) {
        status->bad_start = s;
      }
    }
    degrees[s] = degree;
  }
}

__global__ __launch_bounds__(block_threads) void roots_kernel(hop_slots parents, std::int64_t const* offsets,
                                                              std::int64_t* root_begin, all_size* size)
{
  auto const begin_of = [&](std::int64_t root) {
    return offsets[(parents.unit_begin == nullptr ? root : parents.unit_begin[root]) * parents.a_unit];
  };
  for (std::int64_t r = global_thread(); r <= parents.num_roots; r += grid_stride()) {
    std::int64_t const begin = begin_of(r);
    root_begin[r] = begin;
    if (r == parents.num_roots) {
      size->num_slots = begin;
    } else {
      atomicMax(reinterpret_cast<long long*>(&size->largest_tree), static_cast<long long>(begin_of(r + 1) - begin));
    }
  }
}

template <class View>
__global__ __launch_bounds__(tile_threads) void copy_kernel(View graph, vertex_id const* parents, tile_view tiles,
                                                            std::int64_t const* offsets, vertex_id* vertices,
                                                            edge_id* edges)
{
  for_each_tile_edge(tiles, [&](edge_id slot, std::int64_t parent) {
    auto const row = graph.row(parents[parent]);
    auto const i = static_cast<std::uint32_t>(slot - offsets[parent]);
    vertices[slot] = row.neighbor(i);
    if (edges != nullptr) { edges[slot] = row.edge(i); }
  });
}

}  // namespace

all_size all_offsets(khop_job const& job, std::int64_t* offsets, std::int64_t* root_begin, gpu_exec const& exec)
{
  hop_slots const& parents = job.parents;
  degrees_kernel<<<grid_blocks(parents.size + 1, block_threads), block_threads, 0, exec.stream>>>(
      job.graph.edges(), parents, job.status, offsets);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, offsets, offsets, parents.size + 1, exec.stream);
  });
  buffer<all_size> size(1, memory_of(exec));
  TENDRIL_CUDA_TRY(cudaMemsetAsync(size.data(), 0, sizeof(all_size), exec.stream));
  roots_kernel<<<grid_blocks(parents.num_roots + 1, block_threads), block_threads, 0, exec.stream>>>(
      parents, offsets, root_begin, size.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  return value_at(size.data(), exec);
}

void all_hop(khop_job const& job, std::int64_t const* offsets, std::int64_t num_slots, gpu_exec const& exec)
{
  if (num_slots == 0) { return; }
  // Whose rows are the parents, and whose edges their children.
  edge_arrays const rows{job.parents.size, num_slots, offsets, nullptr, {}};
  edge_tiles const tiles(rows, all_rows(rows), exec);
  job.graph.visit([&](auto const& graph) {
    copy_kernel<<<tiles.num_blocks(), tile_threads, 0, exec.stream>>>(graph, job.parents.vertices, tiles.view(),
                                                                      offsets, job.vertices, job.edges);
  });
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
