// GraphSAINT's samplers: a thread a draw writes keys of (sample, vertex), one radix sort and a pass over it leave the
// distinct vertices of every sample, in ascending order. Counts of the coefficients are atomic additions of integers.
// The rules: src/core/saint.hpp. CPU twin: src/cpu/subgraphs/saint.cpp.

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

#include <tendril/checked.hpp>

#include "gpu/device/copy_value.hpp"
#include "gpu/graph/csr.hpp"  // key_layout
#include "gpu/graph/edge_tiles.cuh"
#include "gpu/subgraphs/saint.hpp"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;

/// @param no_key  Above all keys: what a draw of no vertex leaves.
template <class View>
__global__ __launch_bounds__(block_threads) void draw_kernel(core::saint_draws<plan::alias_record, View> draws,
                                                             key_layout layout, std::int64_t budget,
                                                             batch_numbers numbers, std::int64_t num_draws,
                                                             std::uint64_t no_key, std::uint64_t* keys)
{
  std::int64_t const a_draw = draws.vertices_a_draw();
  for (std::int64_t i = global_thread(); i < num_draws; i += grid_stride()) {
    std::int64_t const sample = i / budget;
    auto const number = static_cast<std::uint32_t>(i - sample * budget);
    draws.draw(numbers.of(sample), number, [&](std::uint32_t k, vertex_id v) {
      keys[i * a_draw + k] = v == no_vertex ? no_key : layout.key(static_cast<std::uint64_t>(sample), v);
    });
  }
}

/// What the host wants to know.
struct sample_totals {
  std::int64_t num_nodes;
  long long max_size;
};

/// The first of the sorted keys [size] that is not below `key`. Any thread.
__device__ std::int64_t first_not_below(std::uint64_t const* keys, std::int64_t size, std::uint64_t key)
{
  std::int64_t low = 0;
  std::int64_t high = size;
  while (low < high) {
    std::int64_t const middle = low + (high - low) / 2;
    bool const right = keys[middle] < key;
    low = right ? middle + 1 : low;
    high = right ? high : middle;
  }
  return low;
}

__global__ __launch_bounds__(block_threads) void offsets_kernel(std::uint64_t const* keys, std::int64_t const* num_keys,
                                                                key_layout layout, std::int64_t num_samples,
                                                                std::int64_t* offsets, sample_totals* totals)
{
  for (std::int64_t s = global_thread(); s <= num_samples; s += grid_stride()) {
    std::int64_t const begin = first_not_below(keys, *num_keys, layout.key(static_cast<std::uint64_t>(s), 0));
    offsets[s] = begin;
    if (s == num_samples) {
      totals->num_nodes = begin;
    } else {
      std::int64_t const end = first_not_below(keys, *num_keys, layout.key(static_cast<std::uint64_t>(s) + 1, 0));
      atomicMax(&totals->max_size, static_cast<long long>(end - begin));
    }
  }
}

__global__ __launch_bounds__(block_threads) void nodes_kernel(std::uint64_t const* keys, std::int64_t size,
                                                              key_layout layout, vertex_id* nodes)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) { nodes[i] = layout.target(keys[i]); }
}

template <class Id>
__global__ __launch_bounds__(block_threads) void count_kernel(Id const* what, std::int64_t size, std::int32_t* counts)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) { atomicAdd(counts + what[i], 1); }
}

template <class Id>
void add_counts(buffer<Id> const& what, buffer<std::int32_t>& counts, cuda_stream stream)
{
  if (what.empty()) { return; }  // an empty grid is a launch error
  count_kernel<Id>
      <<<grid_blocks(what.size(), block_threads), block_threads, 0, stream>>>(what.data(), what.size(), counts.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

__global__ __launch_bounds__(block_threads) void loss_kernel(std::int32_t const* counts, std::int64_t size,
                                                             std::int64_t num_samples, float* loss)
{
  for (std::int64_t v = global_thread(); v < size; v += grid_stride()) {
    loss[v] = core::saint_ratio(counts[v], num_samples);
  }
}

__global__ __launch_bounds__(tile_threads) void aggregator_kernel(tile_view tiles, std::int32_t const* node_counts,
                                                                  std::int32_t const* edge_counts, float* aggregator)
{
  for_each_tile_edge(
      tiles, [&](edge_id e, std::int64_t row) { aggregator[e] = core::saint_ratio(edge_counts[e], node_counts[row]); });
}

__global__ __launch_bounds__(block_threads) void flags_kernel(edge_arrays graph, std::uint8_t* has_edges)
{
  for (std::int64_t v = global_thread(); v < graph.num_vertices; v += grid_stride()) {
    has_edges[v] = graph.degree(v) > 0 ? 1 : 0;
  }
}

__global__ __launch_bounds__(block_threads) void iota_kernel(std::int64_t size, vertex_id* out)
{
  for (std::int64_t v = global_thread(); v < size; v += grid_stride()) { out[v] = static_cast<vertex_id>(v); }
}

}  // namespace

buffer<vertex_id> make_sources(graph_view const& graph, gpu_exec const& exec)
{
  auto& memory = memory_of(exec);
  std::int64_t const size = graph.num_vertices;
  unsigned const blocks = grid_blocks(size, block_threads);
  buffer<std::uint8_t> has_edges(size, memory);
  buffer<vertex_id> all(size, memory);
  buffer<vertex_id> found(size, memory);
  buffer<std::int64_t> num_found(1, memory);
  flags_kernel<<<blocks, block_threads, 0, exec.stream>>>(graph.edges(), has_edges.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  iota_kernel<<<blocks, block_threads, 0, exec.stream>>>(size, all.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::Flagged(scratch, bytes, all.data(), has_edges.data(), found.data(), num_found.data(),
                                      size, exec.stream);
  });
  buffer<vertex_id> out(value_at(num_found.data(), exec), memory);
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(out.data(), found.data(), static_cast<std::size_t>(out.size()) * sizeof(vertex_id),
                                   cudaMemcpyDeviceToDevice, exec.stream));
  return out;
}

drawn_samples draw_samples(saint_draws const& draws, std::uint32_t budget, batch_numbers numbers,
                           std::int64_t num_samples, gpu_exec const& exec)
{
  auto& memory = memory_of(exec);
  std::int64_t const num_draws = checked_product("draws of samples", num_samples, budget);
  std::int64_t const size = checked_product("vertices of draws", num_draws, draws.vertices_a_draw());
  key_layout const layout = key_layout::of(draws.graph.num_vertices);
  std::uint64_t const no_key = layout.key(static_cast<std::uint64_t>(num_samples), 0);
  buffer<std::uint64_t> keys(size, memory);
  buffer<std::uint64_t> sorted(size, memory);
  draws.graph.visit([&]<class View>(View const& graph) {
    core::saint_draws<plan::alias_record, View> const own{graph,         draws.kind,    draws.key,        draws.length,
                                                          draws.records, draws.sources, draws.num_sources};
    draw_kernel<<<grid_blocks(num_draws, block_threads), block_threads, 0, exec.stream>>>(
        own, layout, budget, numbers, num_draws, no_key, keys.data());
  });
  TENDRIL_CUDA_TRY(cudaGetLastError());
  int const bits = static_cast<int>(layout.id_bits + key_layout::of(num_samples + 1).id_bits);
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(scratch, bytes, keys.data(), sorted.data(), size, 0, std::max(bits, 1),
                                          exec.stream);
  });
  buffer<std::int64_t> num_keys(1, memory);
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::Unique(scratch, bytes, sorted.data(), keys.data(), num_keys.data(), size, exec.stream);
  });
  drawn_samples out;
  out.offsets = buffer<std::int64_t>(num_samples + 1, memory);
  buffer<sample_totals> totals(1, memory);
  TENDRIL_CUDA_TRY(cudaMemsetAsync(totals.data(), 0, sizeof(sample_totals), exec.stream));
  offsets_kernel<<<grid_blocks(num_samples + 1, block_threads), block_threads, 0, exec.stream>>>(
      keys.data(), num_keys.data(), layout, num_samples, out.offsets.data(), totals.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  sample_totals const seen = value_at(totals.data(), exec);
  out.max_size = seen.max_size;
  out.nodes = buffer<vertex_id>(seen.num_nodes, memory);
  if (seen.num_nodes == 0) { return out; }
  nodes_kernel<<<grid_blocks(seen.num_nodes, block_threads), block_threads, 0, exec.stream>>>(
      keys.data(), seen.num_nodes, layout, out.nodes.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  return out;
}

void count_subgraphs(subgraphs const& samples, saint_coefficients& counts, cuda_stream stream)
{
  add_counts(samples.nodes, counts.node_counts, stream);
  add_counts(samples.edges, counts.edge_counts, stream);
}

void finish_coefficients(graph_view const& graph, saint_coefficients& out, gpu_exec const& exec)
{
  if (graph.num_vertices == 0) { return; }
  loss_kernel<<<grid_blocks(graph.num_vertices, block_threads), block_threads, 0, exec.stream>>>(
      out.node_counts.data(), graph.num_vertices, out.num_samples, out.loss.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  if (graph.num_edges == 0) { return; }
  edge_tiles const tiles(graph.edges(), all_rows(graph.edges()), exec);
  aggregator_kernel<<<tiles.num_blocks(), tile_threads, 0, exec.stream>>>(
      tiles.view(), out.node_counts.data(), out.edge_counts.data(), out.aggregator.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
