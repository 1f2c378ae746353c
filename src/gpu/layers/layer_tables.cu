// Tables of layer-wise sampling. Squared norms of columns are added up edge by edge with atomic operations on integers: two
// of 64 bits an edge. CPU twin: src/samplers/layers/layer_tables.cpp. The rule: src/core/layers.hpp.

#include "gpu/layers/layer_tables.hpp"

#include <cub/device/device_reduce.cuh>

#include <tendril/gpu_array.hpp>  // every_vertex

#include "core/layers.hpp"
#include "gpu/device/copy_value.hpp"
#include "gpu/tables/row_sums.cuh"
#include "gpu/tables/tables.hpp"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;

/// Above all weights: 2 to this power. `largest` is null, or lies in device memory. Any thread.
__device__ int exponent_of(float const* largest)
{
  return largest != nullptr && *largest > 0 ? core::exponent_above(*largest) : 0;
}

template <class View>
__global__ __launch_bounds__(tile_threads) void add_columns_kernel(View graph, tile_view tiles, propagation matrix,
                                                                   weight_view weights, float const* largest,
                                                                   core::square_sum* sums)
{
  int const exponent = exponent_of(largest);
  for_each_tile_edge(tiles, [&](edge_id e, std::int64_t row) {
    float const square = largest == nullptr ? 0.0F : core::scaled_square(weights[e], exponent);
    std::uint64_t const term = core::column_term(matrix, graph.degree(row), square);
    core::square_sum* const sum = sums + graph.edge_target(e, row);
    atomicAdd(reinterpret_cast<unsigned long long*>(&sum->high), term >> 32U);
    atomicAdd(reinterpret_cast<unsigned long long*>(&sum->low), term & 0xffffffffU);
  });
}

__global__ __launch_bounds__(block_threads) void column_norms_kernel(edge_arrays graph, propagation matrix,
                                                                     core::square_sum const* sums, float* out)
{
  for (std::int64_t u = global_thread(); u < graph.num_vertices; u += grid_stride()) {
    out[u] = core::column_norm(matrix, sums[u], graph.degree(u));
  }
}

__global__ void one_row_kernel(edge_id* indptr, edge_id size)
{
  indptr[0] = 0;
  indptr[1] = size;
}

__global__ __launch_bounds__(block_threads) void probabilities_kernel(std::int64_t size, float const* weights,
                                                                      float const* largest, std::uint64_t const* total,
                                                                      float* out)
{
  bool const some = *largest > 0;
  auto const scale = some ? core::fixed_point::of(*largest, static_cast<std::uint32_t>(size)) : core::fixed_point{};
  for (std::int64_t v = global_thread(); v < size; v += grid_stride()) {
    out[v] = some ? core::vertex_probability(scale(weights[v]), *total) : 0.0F;
  }
}

__global__ __launch_bounds__(block_threads) void squares_kernel(weight_view weights, edge_id size, float const* largest,
                                                                float* out)
{
  int const exponent = exponent_of(largest);
  for (edge_id e = global_thread(); e < size; e += grid_stride()) {
    out[e] = core::scaled_square(weights[e], exponent);
  }
}

/// The square of an edge where it follows from its target.
template <class View>
struct neighbor_squares {
  View graph;
  float* out;

  __device__ void operator()(edge_id e, vertex_id target) const
  {
    out[e] = core::neighbor_square(graph.degree(target));
  }
};

__global__ __launch_bounds__(block_threads) void row_norms_kernel(edge_arrays graph, propagation matrix,
                                                                  float const* largest,
                                                                  std::uint64_t const* prefix_sums, float* out)
{
  for (std::int64_t v = global_thread(); v < graph.num_vertices; v += grid_stride()) {
    edge_id const first = graph.first_edge(v);
    std::uint32_t const degree = graph.degree(v);
    float const bound = largest[v];
    out[v] = bound > 0
                 ? core::row_norm(matrix, degree, prefix_sums[first + degree - 1], core::fixed_point::of(bound, degree))
                 : 0.0F;
  }
}

template <class View>
__global__ __launch_bounds__(tile_threads) void parallel_edges_kernel(View graph, tile_view tiles, int* found)
{
  for_each_tile_edge(tiles, [&](edge_id e, std::int64_t v) {
    auto const row = graph.row(v);
    auto const i = static_cast<std::uint32_t>(e - row.first_edge());
    if (i > 0 && row.neighbor(i) == row.neighbor(i - 1)) { *found = 1; }
  });
}

/// The largest of `size` > 0 values, in device memory.
buffer<float> largest_of(float const* values, std::int64_t size, gpu_exec const& exec)
{
  buffer<float> out(1, memory_of(exec));
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::Max(scratch, bytes, values, out.data(), size, exec.stream);
  });
  return out;
}

/// Of all edges of a graph that has some.
buffer<float> largest_weight(edge_arrays const& edges, edge_tiles const& tiles, gpu_exec const& exec)
{
  auto const of_rows = make_largest_weights(edges, &tiles, exec);
  return largest_of(of_rows.data(), edges.num_vertices, exec);
}

}  // namespace

buffer<float> make_column_norms(graph_view const& graph, propagation matrix, gpu_exec const& exec)
{
  device_guard const guard(exec.device);
  buffer<float> out(graph.num_vertices, memory_of(exec));
  if (out.empty()) { return out; }
  buffer<core::square_sum> sums(graph.num_vertices, memory_of(exec));
  TENDRIL_CUDA_TRY(
      cudaMemsetAsync(sums.data(), 0, static_cast<std::size_t>(sums.size()) * sizeof(core::square_sum), exec.stream));
  if (graph.num_edges > 0) {
    edge_arrays const edges = graph.edges();
    edge_tiles const tiles(edges, all_rows(edges), exec);
    buffer<float> largest;
    if (matrix == propagation::weights) { largest = largest_weight(edges, tiles, exec); }
    graph.visit([&](auto const& view) {
      add_columns_kernel<<<tiles.num_blocks(), tile_threads, 0, exec.stream>>>(
          view, tiles.view(), matrix, edges.weights, largest.data(), sums.data());
    });
    TENDRIL_CUDA_TRY(cudaGetLastError());
  }
  column_norms_kernel<<<grid_blocks(graph.num_vertices, block_threads), block_threads, 0, exec.stream>>>(
      graph.edges(), matrix, sums.data(), out.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  return out;
}

samplers::vertex_table make_vertex_table(std::int64_t num_vertices, float const* weights, gpu_exec const& exec)
{
  device_guard const guard(exec.device);
  samplers::vertex_table out;
  if (num_vertices == 0) { return out; }
  // One row that leads to every vertex.
  auto const targets = every_vertex(num_vertices, 1, exec);
  buffer<edge_id> indptr(2, memory_of(exec));
  one_row_kernel<<<1, 1, 0, exec.stream>>>(indptr.data(), num_vertices);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  csr_view const view({1, num_vertices, indptr.data(), targets.data(), weights, {}, {}});
  out.records = make_alias_records(view, exec);
  edge_arrays const row = view.edges();
  edge_tiles const tiles(row, all_rows(row), exec);
  auto const largest = make_largest_weights(row, &tiles, exec);
  auto const total = make_fixed_totals(row, largest.data(), &tiles, exec);
  out.probabilities = buffer<float>(num_vertices, memory_of(exec));
  probabilities_kernel<<<grid_blocks(num_vertices, block_threads), block_threads, 0, exec.stream>>>(
      num_vertices, weights, largest.data(), total.data(), out.probabilities.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  return out;
}

samplers::square_table make_square_table(graph_view const& graph, propagation matrix, gpu_exec const& exec)
{
  device_guard const guard(exec.device);
  samplers::square_table out;
  out.row_norms = buffer<float>(graph.num_vertices, memory_of(exec));
  if (out.row_norms.empty()) { return out; }
  if (graph.num_edges == 0) {
    TENDRIL_CUDA_TRY(cudaMemsetAsync(out.row_norms.data(), 0,
                                     static_cast<std::size_t>(graph.num_vertices) * sizeof(float), exec.stream));
    return out;
  }
  edge_arrays const edges = graph.edges();
  buffer<float> squares(graph.num_edges, memory_of(exec));
  if (matrix == propagation::weights) {
    auto const largest = largest_weight(edges, edge_tiles(edges, all_rows(edges), exec), exec);
    squares_kernel<<<grid_blocks(edges.num_edges, block_threads), block_threads, 0, exec.stream>>>(
        edges.weights, edges.num_edges, largest.data(), squares.data());
    TENDRIL_CUDA_TRY(cudaGetLastError());
  } else {
    graph.visit([&]<class View>(View const& view) {
      for_each_target(view, neighbor_squares<View>{view, squares.data()}, exec);
    });
  }
  // The rows of the graph with squares for weights; tables of weights read no neighbours.
  graph_view const of_squares = graph.with_weights(squares.data());
  out.prefix_sums = make_prefix_sums(of_squares, exec);
  edge_arrays const squared = of_squares.edges();
  edge_tiles const tiles(squared, all_rows(squared), exec);
  auto const largest = make_largest_weights(squared, &tiles, exec);
  row_norms_kernel<<<grid_blocks(graph.num_vertices, block_threads), block_threads, 0, exec.stream>>>(
      edges, matrix, largest.data(), out.prefix_sums.data(), out.row_norms.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  auto const most = largest_of(out.row_norms.data(), graph.num_vertices, exec);
  out.largest_norm = value_at(most.data(), exec);
  return out;
}

bool has_parallel_edges(graph_view const& graph, gpu_exec const& exec)
{
  device_guard const guard(exec.device);
  if (graph.num_edges == 0) { return false; }
  buffer<int> found(1, memory_of(exec));
  TENDRIL_CUDA_TRY(cudaMemsetAsync(found.data(), 0, sizeof(int), exec.stream));
  edge_tiles const tiles(graph.edges(), all_rows(graph.edges()), exec);
  graph.visit([&](auto const& view) {
    parallel_edges_kernel<<<tiles.num_blocks(), tile_threads, 0, exec.stream>>>(view, tiles.view(), found.data());
  });
  TENDRIL_CUDA_TRY(cudaGetLastError());
  return value_at(found.data(), exec) != 0;
}

}  // namespace tendril::gpu
