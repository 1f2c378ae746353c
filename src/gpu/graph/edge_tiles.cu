// Where tiles and batches of edges begin among the rows: a search in the offsets for each of them.

#include "gpu/graph/edge_tiles.cuh"

#include <algorithm>

namespace tendril::gpu {
namespace {

constexpr int block_threads = 128;

__global__ __launch_bounds__(block_threads) void find_tile_rows(edge_offsets first_edges, row_batch batch,
                                                                std::int64_t size, std::int64_t* rows)
{
  for (std::int64_t t = global_thread(); t < size; t += grid_stride()) {
    edge_id const e = min(batch.first_edge + t * tile_edges, batch.last_edge - 1);
    rows[t] = row_of(first_edges, batch.first_row, batch.last_row - 1, e);
  }
}

/// A place to cut: before `row`, which starts at edge `edge`.
struct row_cut {
  std::int64_t row;
  edge_id edge;
};

/// Cuts at the first row that starts at edge (t + 1) most_edges or later, and at each most_rows rows.
__global__ __launch_bounds__(block_threads) void find_cuts(edge_arrays graph, std::int64_t by_edges,
                                                           std::int64_t most_edges, std::int64_t by_rows,
                                                           std::int64_t most_rows, row_cut* cuts)
{
  for (std::int64_t t = global_thread(); t < by_edges + by_rows; t += grid_stride()) {
    // One past the last row that starts before the wanted edge.
    std::int64_t const row = t < by_edges
                                 ? row_of(graph.first_edges, 0, graph.num_vertices, (t + 1) * most_edges - 1) + 1
                                 : (t - by_edges + 1) * most_rows;
    cuts[t] = {row, graph.first_edge(row)};
  }
}

}  // namespace

edge_tiles::edge_tiles(edge_arrays const& graph, row_batch const& batch, gpu_exec const& exec)
    : first_edges_(graph.first_edges),
      batch_(batch),
      rows_((batch.num_edges() + tile_edges - 1) / tile_edges + 1, memory_of(exec))
{
  find_tile_rows<<<grid_blocks(rows_.size(), block_threads), block_threads, 0, exec.stream>>>(
      graph.first_edges, batch, rows_.size(), rows_.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

std::vector<row_batch> make_row_batches(edge_arrays const& graph, std::int64_t most_edges, std::int64_t most_rows,
                                        gpu_exec const& exec)
{
  std::int64_t const by_edges = graph.num_edges == 0 ? 0 : (graph.num_edges - 1) / most_edges;
  std::int64_t const by_rows = graph.num_vertices == 0 ? 0 : (graph.num_vertices - 1) / most_rows;
  std::vector<row_cut> cuts(static_cast<std::size_t>(by_edges + by_rows));
  if (!cuts.empty()) {
    buffer<row_cut> found(by_edges + by_rows, memory_of(exec));
    find_cuts<<<grid_blocks(found.size(), block_threads), block_threads, 0, exec.stream>>>(
        graph, by_edges, most_edges, by_rows, most_rows, found.data());
    TENDRIL_CUDA_TRY(cudaGetLastError());
    TENDRIL_CUDA_TRY(
        cudaMemcpyAsync(cuts.data(), found.data(), cuts.size() * sizeof(row_cut), cudaMemcpyDefault, exec.stream));
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
    std::sort(cuts.begin(), cuts.end(), [](row_cut const& a, row_cut const& b) { return a.row < b.row; });
  }
  cuts.push_back({graph.num_vertices, graph.num_edges});
  std::vector<row_batch> batches;
  row_cut last{0, 0};
  for (row_cut const& cut : cuts) {
    if (cut.row > last.row) { batches.push_back({last.row, cut.row, last.edge, cut.edge}); }
    last = cut;
  }
  return batches;
}

}  // namespace tendril::gpu
