// Work cut by edges instead of by vertices: a block takes a tile of consecutive edges, and finds the row of each by a
// search among the rows that its tile touches. A hub is many tiles, a thousand isolated vertices are none. How many rows a
// tile touches doesn't matter but for the depth of the search, which stays in the first-level cache.

#pragma once

#include <cstdint>
#include <vector>

#include <cub/warp/warp_reduce.cuh>

#include <tendril/gpu.hpp>  // memory_of
#include <tendril/graph_view.hpp>

#include "gpu/device/launch.cuh"

namespace tendril::gpu {

inline constexpr int tile_threads = 256;
inline constexpr int edges_a_thread = 8;
inline constexpr int tile_edges = tile_threads * edges_a_thread;

/// Whole rows, and their edges.
struct row_batch {
  std::int64_t first_row, last_row;
  edge_id first_edge, last_edge;

  [[nodiscard]] std::int64_t num_rows() const { return last_row - first_row; }
  [[nodiscard]] std::int64_t num_edges() const { return last_edge - first_edge; }
};

/// All rows of a graph.
inline row_batch all_rows(edge_arrays const& graph) { return {0, graph.num_vertices, 0, graph.num_edges}; }

/// The rows of a graph in batches that have at most `most_rows` rows, and at most `most_edges` edges beside those of
/// their last row. Batches without edges but with rows are among them. Synchronises if there is more than one.
[[nodiscard]] std::vector<row_batch> make_row_batches(edge_arrays const& graph, std::int64_t most_edges,
                                                      std::int64_t most_rows, gpu_exec const& exec);

/// The last row in [low, high] that starts at edge `e` or before: the row of e, if it is in that range. Any thread.
template <class Offsets>
__device__ __forceinline__ std::int64_t row_of(Offsets const& first_edges, std::int64_t low, std::int64_t high,
                                               edge_id e)
{
  while (low < high) {
    std::int64_t const middle = low + (high - low + 1) / 2;
    bool const right = first_edges[middle] <= e;
    low = right ? middle : low;
    high = right ? high : middle - 1;
  }
  return low;
}

/// The same of a graph's offsets: with CSR's array, the search doesn't ask for the form at each step.
__device__ __forceinline__ std::int64_t row_of(edge_offsets const& first_edges, std::int64_t low, std::int64_t high,
                                               edge_id e)
{
  if (first_edges.array() != nullptr) { return row_of(first_edges.array(), low, high, e); }
  return row_of<edge_offsets>(first_edges, low, high, e);
}

/// What a kernel gets: block b has the edges [first_edge + b tile_edges, min(first_edge + (b + 1) tile_edges, last_edge))
/// in the rows [rows[b], rows[b + 1]].
struct tile_view {
  edge_offsets first_edges;
  edge_id first_edge, last_edge;
  std::int64_t const* rows;

  [[nodiscard]] __device__ std::int64_t row_of_edge(edge_id e) const
  {
    return row_of(first_edges, rows[blockIdx.x], rows[blockIdx.x + 1], e);
  }
};

/// The tiles of a batch that has at least one edge.
class edge_tiles {
 public:
  /// Enqueues the search for the tiles' rows; doesn't synchronise.
  edge_tiles(edge_arrays const& graph, row_batch const& batch, gpu_exec const& exec);

  [[nodiscard]] tile_view view() const { return {first_edges_, batch_.first_edge, batch_.last_edge, rows_.data()}; }
  [[nodiscard]] unsigned num_blocks() const { return static_cast<unsigned>(rows_.size() - 1); }

 private:
  edge_offsets first_edges_;
  row_batch batch_;
  buffer<std::int64_t> rows_;
};

/// Calls f(edge, row) for each edge of the block's tile, threads taking consecutive edges. All threads of the block.
template <class F>
__device__ void for_each_tile_edge(tile_view const& tiles, F f)
{
  edge_id const begin = tiles.first_edge + static_cast<edge_id>(blockIdx.x) * tile_edges;
  edge_id const end = min(begin + tile_edges, tiles.last_edge);
  for (edge_id e = begin + threadIdx.x; e < end; e += tile_threads) { f(e, tiles.row_of_edge(e)); }
}

/// Calls f(edge, target) for each edge of a graph. Any grid.
template <class View, class F>
__global__ __launch_bounds__(tile_threads) void targets_kernel(View const graph, F const f)
{
  for (edge_id e = global_thread(); e < graph.num_edges; e += grid_stride()) { f(e, graph.edge_target(e, 0)); }
}

/// The same for views that need an edge's row to find its target. A block a tile.
template <class View, class F>
__global__ __launch_bounds__(tile_threads) void tile_targets_kernel(View const graph, tile_view tiles, F const f)
{
  for_each_tile_edge(tiles, [&](edge_id e, std::int64_t row) { f(e, graph.edge_target(e, row)); });
}

/// Enqueues calls of f(edge, target), by any thread, for each edge of a graph.
template <class View, class F>
void for_each_target(View const& graph, F const& f, gpu_exec const& exec)
{
  if (graph.num_edges == 0) { return; }
  if constexpr (View::targets_by_number) {
    targets_kernel<<<grid_blocks(graph.num_edges, tile_threads), tile_threads, 0, exec.stream>>>(graph, f);
  } else {
    edge_tiles const tiles(graph.edges(), all_rows(graph.edges()), exec);
    tile_targets_kernel<<<tiles.num_blocks(), tile_threads, 0, exec.stream>>>(graph, tiles.view(), f);
  }
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

/// Combines value_of(edge, row) over the edges of each row in the block's tile. flush(row, value) gets the parts, at most
/// a few for each warp and row, from one thread each: it combines them in memory. `combine` is associative and
/// commutative, `identity` its neutral element. All threads of the block.
template <class T, class ValueOf, class Combine, class Flush>
__device__ void reduce_tile_rows(tile_view const& tiles, T identity, ValueOf value_of, Combine combine, Flush flush)
{
  using warp_reduce = cub::WarpReduce<T>;
  __shared__ typename warp_reduce::TempStorage storage[tile_threads / warp_size];
  unsigned const warp = threadIdx.x / warp_size;
  constexpr std::int64_t no_row = -1;

  // A warp's edges follow each other. Rounds of 32 that lie in one row are added up in registers.
  edge_id const begin = tiles.first_edge + static_cast<edge_id>(blockIdx.x) * tile_edges +
                        static_cast<edge_id>(warp) * warp_size * edges_a_thread;
  std::int64_t current = no_row;
  T sum = identity;
  auto const flush_current = [&] {
    if (current == no_row) { return; }
    T const all = warp_reduce(storage[warp]).Reduce(sum, combine);
    __syncwarp();
    if (lane_id() == 0) { flush(current, all); }
    current = no_row;
    sum = identity;
  };
  for (int round = 0; round < edges_a_thread; ++round) {
    edge_id const e = begin + round * warp_size + lane_id();
    bool const inside = e < tiles.last_edge;
    std::int64_t const row = inside ? tiles.row_of_edge(e) : no_row;
    T const value = inside ? value_of(e, row) : identity;
    std::int64_t const first = __shfl_sync(full_warp, row, 0);
    std::int64_t const last = __shfl_sync(full_warp, row, warp_size - 1);
    if (first == last) {
      if (first != current) { flush_current(); }
      current = first;
      sum = combine(sum, value);
    } else {
      flush_current();
      std::int64_t const left = __shfl_up_sync(full_warp, row, 1);
      bool const head = lane_id() == 0 || row != left;
      T const part = warp_reduce(storage[warp]).HeadSegmentedReduce(value, head, combine);
      __syncwarp();
      if (head && inside) { flush(row, part); }
    }
  }
  flush_current();
}

/// Runs a device-wide algorithm of CUB: `call(scratch, bytes)` is called to learn the size of its scratch memory, then to
/// enqueue it.
template <class Call>
void run_with_scratch(gpu_exec const& exec, Call call)
{
  std::size_t bytes = 0;
  TENDRIL_CUDA_TRY(call(nullptr, bytes));
  // A null pointer would ask for the size again.
  buffer<char> scratch(static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1)), memory_of(exec));
  TENDRIL_CUDA_TRY(call(static_cast<void*>(scratch.data()), bytes));
}

}  // namespace tendril::gpu
