// Statistics of weights, degrees and labels. Weights are read twice (largest, then fixed-point sum of each row, both by
// tiles of edges with one atomic operation a warp and row), then the rows once: 8 bytes an edge and 28 a row. For the
// 31.4 M edges and 646 K rows of R-MAT scale 20 that is 0.27 GB, 0.06 ms at 4.6 TB/s. Sums are integers, so that the
// order doesn't matter. CPU twin: src/plan/tables.cpp.

#include <optional>

#include <cub/block/block_reduce.cuh>

#include "core/weight_summary.hpp"
#include "gpu/tables/row_sums.cuh"
#include "gpu/tables/tables.hpp"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;

__global__ __launch_bounds__(tile_threads) void largest_weights_kernel(edge_arrays graph, tile_view tiles,
                                                                       float* largest)
{
  reduce_tile_rows(
      tiles, 0.0F, [&](edge_id e, std::int64_t) { return graph.weight(e); },
      [](float a, float b) { return a < b ? b : a; },
      // Floats that are not negative compare as their bits do.
      [&](std::int64_t row, float part) { atomicMax(reinterpret_cast<int*>(largest + row), __float_as_int(part)); });
}

__global__ __launch_bounds__(tile_threads) void fixed_totals_kernel(edge_arrays graph, tile_view tiles,
                                                                    float const* largest, std::uint64_t* totals)
{
  reduce_tile_rows(
      tiles, std::uint64_t{0}, [&](edge_id e, std::int64_t row) { return fixed_weight(graph, largest, e, row); },
      [](std::uint64_t a, std::uint64_t b) { return a + b; },
      [&](std::int64_t row, std::uint64_t part) {
        atomicAdd(reinterpret_cast<unsigned long long*>(totals + row), static_cast<unsigned long long>(part));
      });
}

/// Adds up of_row over all rows. One atomic operation a block and sum.
__global__ __launch_bounds__(block_threads) void summary_kernel(edge_arrays graph, float const* largest,
                                                                std::uint64_t const* totals,
                                                                core::weight_summary* summary)
{
  core::weight_summary sum;
  for (std::int64_t row = global_thread(); row < graph.num_vertices; row += grid_stride()) {
    sum += core::weight_summary::of_row(graph.degree(row), largest[row], totals[row]);
  }
  using block_reduce = cub::BlockReduce<core::weight_summary, block_threads>;
  __shared__ typename block_reduce::TempStorage storage;
  auto const add = [](core::weight_summary a, core::weight_summary const& b) { return a += b; };
  core::weight_summary const all = block_reduce(storage).Reduce(sum, add);
  if (threadIdx.x != 0) { return; }
  atomicAdd(reinterpret_cast<unsigned long long*>(&summary->trials), static_cast<unsigned long long>(all.trials));
  atomicAdd(reinterpret_cast<unsigned long long*>(&summary->degrees), static_cast<unsigned long long>(all.degrees));
  atomicAdd(reinterpret_cast<unsigned long long*>(&summary->edges), static_cast<unsigned long long>(all.edges));
}

__global__ __launch_bounds__(block_threads) void largest_degree_kernel(edge_arrays graph, unsigned long long* largest)
{
  unsigned long long most = 0;
  for (std::int64_t row = global_thread(); row < graph.num_vertices; row += grid_stride()) {
    most = max(most, static_cast<unsigned long long>(graph.degree(row)));
  }
  using block_reduce = cub::BlockReduce<unsigned long long, block_threads>;
  __shared__ typename block_reduce::TempStorage storage;
  auto const larger = [](unsigned long long a, unsigned long long b) { return a < b ? b : a; };
  unsigned long long const all = block_reduce(storage).Reduce(most, larger);
  if (threadIdx.x == 0) { atomicMax(largest, all); }
}

/// Adds the squares of all degrees. One atomic operation a block.
__global__ __launch_bounds__(block_threads) void degree_squares_kernel(edge_arrays graph, unsigned long long* squares)
{
  unsigned long long sum = 0;
  for (std::int64_t row = global_thread(); row < graph.num_vertices; row += grid_stride()) {
    auto const degree = static_cast<unsigned long long>(graph.degree(row));
    sum += degree * degree;
  }
  using block_reduce = cub::BlockReduce<unsigned long long, block_threads>;
  __shared__ typename block_reduce::TempStorage storage;
  unsigned long long const all = block_reduce(storage).Sum(sum);
  if (threadIdx.x == 0) { atomicAdd(squares, all); }
}

/// Sets `found` if some row has no way on.
__global__ __launch_bounds__(block_threads) void dead_end_kernel(edge_arrays graph, float const* largest,
                                                                 unsigned* found)
{
  bool dead = false;
  for (std::int64_t row = global_thread(); row < graph.num_vertices; row += grid_stride()) {
    dead |= graph.degree(row) == 0 || (largest != nullptr && !(largest[row] > 0));
  }
  if (__syncthreads_or(static_cast<int>(dead)) != 0 && threadIdx.x == 0) { *found = 1; }
}

constexpr int label_words = 65536 / 32;

/// Sets bit l of `used` for each label l that occurs. Blocks collect the bits in shared memory first.
__global__ __launch_bounds__(block_threads) void labels_in_use_kernel(label_view labels, std::int64_t size,
                                                                      unsigned* used)
{
  __shared__ unsigned seen[label_words];
  for (int word = static_cast<int>(threadIdx.x); word < label_words; word += block_threads) { seen[word] = 0; }
  __syncthreads();
  std::uint64_t low = 0;  // the first 64 labels, mostly all there are: bits in a register
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    label_id const label = labels[i];
    if (label < 64) {
      low |= std::uint64_t{1} << label;
    } else {
      atomicOr(seen + label / 32, 1U << (label % 32U));
    }
  }
  if (static_cast<unsigned>(low) != 0) { atomicOr(seen, static_cast<unsigned>(low)); }
  if (low >> 32U != 0) { atomicOr(seen + 1, static_cast<unsigned>(low >> 32U)); }
  __syncthreads();
  for (int word = static_cast<int>(threadIdx.x); word < label_words; word += block_threads) {
    if (seen[word] != 0) { atomicOr(used + word, seen[word]); }
  }
}

/// Copies `size` elements of device memory to the host and waits for them.
template <class T>
void read_back(T* to, buffer<T> const& from, gpu_exec const& exec)
{
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(to, from.data(), static_cast<std::size_t>(from.size()) * sizeof(T),
                                   cudaMemcpyDefault, exec.stream));
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
}

/// Memory of `size` elements, all bits 0.
template <class T>
buffer<T> make_zeros(std::int64_t size, gpu_exec const& exec)
{
  buffer<T> out(size, memory_of(exec));
  if (size > 0) {
    TENDRIL_CUDA_TRY(cudaMemsetAsync(out.data(), 0, static_cast<std::size_t>(size) * sizeof(T), exec.stream));
  }
  return out;
}

}  // namespace

buffer<float> make_largest_weights(edge_arrays const& graph, edge_tiles const* tiles, gpu_exec const& exec)
{
  auto out = make_zeros<float>(graph.num_vertices, exec);
  if (tiles == nullptr) { return out; }
  largest_weights_kernel<<<tiles->num_blocks(), tile_threads, 0, exec.stream>>>(graph, tiles->view(), out.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  return out;
}

buffer<std::uint64_t> make_fixed_totals(edge_arrays const& graph, float const* largest, edge_tiles const* tiles,
                                        gpu_exec const& exec)
{
  auto out = make_zeros<std::uint64_t>(graph.num_vertices, exec);
  if (tiles == nullptr) { return out; }
  fixed_totals_kernel<<<tiles->num_blocks(), tile_threads, 0, exec.stream>>>(graph, tiles->view(), largest, out.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  return out;
}

plan::weight_statistics make_weight_statistics(graph_view const& any, gpu_exec const& exec)
{
  device_guard const guard(exec.device);
  edge_arrays const graph = any.edges();
  std::optional<edge_tiles> tiles;
  if (graph.num_edges > 0) { tiles.emplace(graph, all_rows(graph), exec); }
  edge_tiles const* const cut = tiles ? &*tiles : nullptr;
  plan::weight_statistics out{make_largest_weights(graph, cut, exec)};
  out.num_bytes = 4 * graph.num_vertices;
  if (cut == nullptr) { return out; }
  auto const totals = make_fixed_totals(graph, out.largest.data(), cut, exec);
  auto summary = make_zeros<core::weight_summary>(1, exec);
  std::int64_t const resident = resident_blocks(summary_kernel, block_threads, 0, exec.device);
  summary_kernel<<<grid_blocks(graph.num_vertices, block_threads, resident), block_threads, 0, exec.stream>>>(
      graph, out.largest.data(), totals.data(), summary.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  core::weight_summary all;
  read_back(&all, summary, exec);
  out.expected_trials = all.expected_trials();
  out.mean_degree = all.mean_degree();
  return out;
}

std::int64_t largest_degree(graph_view const& any, gpu_exec const& exec)
{
  edge_arrays const graph = any.edges();
  if (graph.num_edges == 0) { return 0; }
  device_guard const guard(exec.device);
  auto found = make_zeros<unsigned long long>(1, exec);
  std::int64_t const resident = resident_blocks(largest_degree_kernel, block_threads, 0, exec.device);
  largest_degree_kernel<<<grid_blocks(graph.num_vertices, block_threads, resident), block_threads, 0, exec.stream>>>(
      graph, found.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  unsigned long long largest = 0;
  read_back(&largest, found, exec);
  return static_cast<std::int64_t>(largest);
}

double mean_met_degree(graph_view const& any, gpu_exec const& exec)
{
  edge_arrays const graph = any.edges();
  if (graph.num_edges == 0) { return 0; }
  device_guard const guard(exec.device);
  auto squares = make_zeros<unsigned long long>(1, exec);
  std::int64_t const resident = resident_blocks(degree_squares_kernel, block_threads, 0, exec.device);
  degree_squares_kernel<<<grid_blocks(graph.num_vertices, block_threads, resident), block_threads, 0, exec.stream>>>(
      graph, squares.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  unsigned long long sum = 0;
  read_back(&sum, squares, exec);
  return static_cast<double>(sum) / static_cast<double>(graph.num_edges);
}

bool has_dead_end(graph_view const& any, float const* largest, gpu_exec const& exec)
{
  edge_arrays const graph = any.edges();
  if (graph.num_vertices == 0) { return false; }
  device_guard const guard(exec.device);
  auto found = make_zeros<unsigned>(1, exec);
  std::int64_t const resident = resident_blocks(dead_end_kernel, block_threads, 0, exec.device);
  dead_end_kernel<<<grid_blocks(graph.num_vertices, block_threads, resident), block_threads, 0, exec.stream>>>(
      graph, largest, found.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  unsigned dead = 0;
  read_back(&dead, found, exec);
  return dead != 0;
}

std::vector<char> labels_in_use(graph_view const& graph, plan::grouping by, gpu_exec const& exec)
{
  bool const by_edge = by == plan::grouping::by_edge_label;
  label_view const labels = by_edge ? graph.edges().labels : graph.node_types;
  std::int64_t const size = by_edge ? graph.num_edges : graph.num_vertices;
  if (labels.empty() || size == 0) { return {}; }
  device_guard const guard(exec.device);
  auto used = make_zeros<unsigned>(label_words, exec);
  std::int64_t const resident = resident_blocks(labels_in_use_kernel, block_threads, 0, exec.device);
  labels_in_use_kernel<<<grid_blocks(size, block_threads, resident), block_threads, 0, exec.stream>>>(labels, size,
                                                                                                      used.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  std::vector<unsigned> words(label_words);
  read_back(words.data(), used, exec);
  std::vector<char> out(65536);
  for (std::size_t l = 0; l < out.size(); ++l) { out[l] = static_cast<char>((words[l / 32] >> (l % 32)) & 1U); }
  while (!out.empty() && out.back() == 0) { out.pop_back(); }
  return out;
}

}  // namespace tendril::gpu
