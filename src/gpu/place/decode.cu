// Reads the lists of a compressed graph in a GPU's memory: a warp reads a list, its lanes neighbours that follow each other.

#include "gpu/place/decode.hpp"

#include <algorithm>

#include <tendril/gpu.hpp>

#include "gpu/device/launch.cuh"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;
/// Batches end at multiples of it, or with the graph.
constexpr std::int64_t batch_step = std::int64_t{list_block::vertices} << 12U;

/// The number of the first edge of each step-th vertex, and that behind the last.
__global__ __launch_bounds__(block_threads) void step_edges_kernel(compressed_view g, std::int64_t step,
                                                                   std::int64_t size, edge_id* out)
{
  for (std::int64_t k = global_thread(); k < size; k += grid_stride()) {
    out[k] = g.first_edge(min(k * step, g.num_vertices));
  }
}

/// Offsets of the vertices [begin, end] from edge `base` on.
__global__ __launch_bounds__(block_threads) void offsets_kernel(compressed_view g, std::int64_t begin, std::int64_t end,
                                                                edge_id base, edge_id* offsets)
{
  for (std::int64_t k = global_thread(); k <= end - begin; k += grid_stride()) {
    offsets[k] = g.first_edge(begin + k) - base;
  }
}

/// A warp a vertex in [begin, end).
__global__ __launch_bounds__(block_threads) void decode_kernel(compressed_view g, std::int64_t begin, std::int64_t end,
                                                               edge_id const* offsets, vertex_id* ids)
{
  for (std::int64_t k = global_thread() / warp_size; k < end - begin; k += grid_stride() / warp_size) {
    auto const row = g.row(begin + k);
    vertex_id* const out = ids + offsets[k];
    for (std::uint32_t i = static_cast<std::uint32_t>(lane_id()); i < row.degree(); i += warp_size) {
      out[i] = row.neighbor(i);
    }
  }
}

/// The number of the first edge of each step-th vertex, and of edges. Synchronises.
std::vector<edge_id> first_edges(compressed_view const& g, std::int64_t step, gpu_exec const& exec)
{
  std::int64_t const size = (g.num_vertices + step - 1) / step + 1;
  buffer<edge_id> there(size, memory_of(exec));
  step_edges_kernel<<<grid_blocks(size, block_threads), block_threads, 0, exec.stream>>>(g, step, size, there.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  std::vector<edge_id> out(static_cast<std::size_t>(size));
  TENDRIL_CUDA_TRY(
      cudaMemcpyAsync(out.data(), there.data(), out.size() * sizeof(edge_id), cudaMemcpyDefault, exec.stream));
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  return out;
}

}  // namespace

void decode(compressed_view const& g, std::int64_t begin, std::int64_t end, edge_id base, edge_id* offsets,
            vertex_id* ids, gpu_exec const& exec)
{
  offsets_kernel<<<grid_blocks(end - begin + 1, block_threads), block_threads, 0, exec.stream>>>(g, begin, end, base,
                                                                                                 offsets);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  if (end == begin) { return; }
  decode_kernel<<<grid_blocks((end - begin) * warp_size, block_threads), block_threads, 0, exec.stream>>>(g, begin, end,
                                                                                                          offsets, ids);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

decoded_source::decoded_source(compressed_view const& g, edge_id most_edges, gpu_exec const& exec) : g_(g), exec_(exec)
{
  std::vector<edge_id> const firsts = first_edges(g, batch_step, exec);
  std::int64_t vertices = 0, begin = 0;
  edge_id edges = 0;
  for (std::size_t k = 0; k + 1 < firsts.size(); ++k) {
    std::int64_t const end = std::min((static_cast<std::int64_t>(k) + 1) * batch_step, g.num_vertices);
    edges += firsts[k + 1] - firsts[k];
    bool const last = k + 2 == firsts.size();
    if (!last && edges + firsts[k + 2] - firsts[k + 1] <= most_edges && end + batch_step - begin <= most_vertices) {
      continue;
    }
    ends_.push_back(end);
    sizes_.push_back(edges);
    vertices = std::max(vertices, end - begin);
    begin = end;
    edges = 0;
  }
  if (ends_.empty()) {  // no vertices
    ends_.push_back(0);
    sizes_.push_back(0);
  }
  offsets_ = buffer<edge_id>(vertices + 1, memory_of(exec));
  ids_ = buffer<vertex_id>(*std::max_element(sizes_.begin(), sizes_.end()), memory_of(exec));
}

place::listed_rows decoded_source::load(std::int64_t begin, std::int64_t end, edge_id first_edge)
{
  loaded_ = sizes_[static_cast<std::size_t>(std::lower_bound(ends_.begin(), ends_.end(), end) - ends_.begin())];
  decode(g_, begin, end, first_edge, offsets_.data(), ids_.data(), exec_);
  return {ids_.data(), offsets_.data(), begin, first_edge};
}

}  // namespace tendril::gpu
