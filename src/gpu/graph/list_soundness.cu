// Whether the compressed lists of a graph in a GPU's memory can be read, and hold neighbours that are vertices and ascend:
// blocks of the directory, a thread each; then the shape of each list, a thread a vertex; then the neighbours, a warp a
// vertex. A step runs only where nothing was found before, so nothing is read through a place that was not checked. Reads
// the lists three times at most. The rules: src/graph/list_checker.hpp. CPU twin: src/graph/soundness.cpp.

#include "gpu/graph/soundness.hpp"

#include <tendril/compressed_view.hpp>
#include <tendril/gpu.hpp>

#include "gpu/device/copy_value.hpp"
#include "gpu/device/launch.cuh"
#include "graph/list_checker.hpp"

namespace tendril::gpu {
namespace {

using validation::in_short;
using validation::stored_lists;

constexpr int block_threads = 256;
constexpr unsigned long long none = ~0ULL;

/// The least vertex of which something was found, one for each step; else `none`.
struct first_bad {
  unsigned long long block = none, list = none, neighbor = none;
};

__device__ void keep(unsigned long long& least, std::int64_t vertex)
{
  atomicMin(&least, static_cast<unsigned long long>(vertex));
}

__global__ __launch_bounds__(block_threads) void check_blocks_kernel(stored_lists const lists, first_bad* found)
{
  for (std::int64_t b = global_thread(); b < lists.num_blocks; b += grid_stride()) {
    std::int64_t const first = b * list_block::vertices;
    if (validation::half_problem_of<in_short>(lists, b, 0)) {
      keep(found->block, first);
    } else if (validation::half_problem_of<in_short>(lists, b, 1)) {
      keep(found->block, first + list_block::first_half);
    } else if (validation::block_edges_problem_of<in_short>(lists, b)) {
      keep(found->block, first);
    }
  }
}

__global__ __launch_bounds__(block_threads) void check_places_kernel(stored_lists const lists,
                                                                     std::int64_t num_vertices, first_bad* found)
{
  if (found->block != none) { return; }  // written by the launch before
  for (std::int64_t v = global_thread(); v < num_vertices; v += grid_stride()) {
    if (validation::list_problem_of<in_short>(lists, v)) { keep(found->list, v); }
  }
}

/// A warp a vertex, its lanes neighbours that follow each other.
__global__ __launch_bounds__(block_threads) void check_neighbors_kernel(compressed_view const g, first_bad* found)
{
  if (found->block != none || found->list != none) { return; }
  int const lane = lane_id();
  for (std::int64_t v = global_thread() / warp_size; v < g.num_vertices; v += grid_stride() / warp_size) {
    auto const row = g.row(v);
    std::uint32_t const degree = row.degree();
    vertex_id last = 0;  // of the stretch before
    bool bad = false;
    for (std::uint64_t at = 0; at < degree; at += warp_size) {
      std::uint64_t const i = at + static_cast<std::uint32_t>(lane);
      bool const exists = i < degree;
      vertex_id const x = exists ? row.neighbor(static_cast<std::uint32_t>(i)) : no_vertex;
      vertex_id before = __shfl_up_sync(full_warp, x, 1);
      if (lane == 0) { before = last; }
      bad |= exists && (x < before || x >= g.num_vertices);
      last = __shfl_sync(full_warp, x, warp_size - 1);
    }
    if (__any_sync(full_warp, bad) && lane == 0) { keep(found->neighbor, v); }
  }
}

}  // namespace

std::optional<std::int64_t> find_bad_list(compressed_lists const& lists, gpu_exec const& exec)
{
  buffer<first_bad> found(1, memory_of(exec));
  TENDRIL_CUDA_TRY(cudaMemsetAsync(found.data(), 0xff, sizeof(first_bad), exec.stream));  // none
  stored_lists const stored = stored_lists::of(lists);
  auto const blocks = [](std::int64_t threads) { return grid_blocks(threads, block_threads); };
  check_blocks_kernel<<<blocks(stored.num_blocks), block_threads, 0, exec.stream>>>(stored, found.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  if (lists.num_vertices > 0) {
    check_places_kernel<<<blocks(lists.num_vertices), block_threads, 0, exec.stream>>>(stored, lists.num_vertices,
                                                                                       found.data());
    TENDRIL_CUDA_TRY(cudaGetLastError());
    compressed_view const g({lists.num_vertices, lists.num_edges, stored.directory(), nullptr, {}, {}});
    check_neighbors_kernel<<<blocks(lists.num_vertices * warp_size), block_threads, 0, exec.stream>>>(g, found.data());
    TENDRIL_CUDA_TRY(cudaGetLastError());
  }
  first_bad const all = value_at(found.data(), exec);
  for (unsigned long long const vertex : {all.block, all.list, all.neighbor}) {
    if (vertex != none) { return static_cast<std::int64_t>(vertex); }
  }
  return std::nullopt;
}

}  // namespace tendril::gpu
