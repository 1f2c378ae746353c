// Builds a CSR from edges in any order that lie in GPU memory. Arcs become sortable keys (arc_keys.cuh), csr.cu sorts
// them, and weights and labels are gathered by the position that each arc had in the input. Of parallel edges with
// labels the first of each label stays: a sort by (key, label) finds the others, which become gaps. State: 16 bytes an
// arc without weights, labels and edge ids; 32 with; 44 while duplicates with labels are looked for. CPU twin:
// src/build/csr.hpp.

#include <tendril/graph.hpp>

#include <algorithm>
#include <utility>

#include <cub/device/device_radix_sort.cuh>

#include <tendril/error.hpp>
#include <tendril/gpu.hpp>

#include "build/expects.hpp"          // expect_edge
#include "gpu/device/copy_value.hpp"  // value_at
#include "gpu/device/launch.cuh"
#include "gpu/graph/arc_keys.cuh"
#include "gpu/graph/csr.hpp"
#include "gpu/graph/edge_tiles.cuh"  // run_with_scratch

namespace tendril {
namespace gpu {
namespace {

constexpr int block_threads = 256;

/// The user's edges, in device memory.
struct given_edges {
  vertex_id const* sources;
  vertex_id const* targets;

  __device__ core::drawn_edge operator()(std::int64_t k) const { return {sources[k], targets[k]}; }
};

/// What is learned of the edges before anything is built.
struct edge_summary {
  unsigned long long
      first_bad;  ///< The first edge with an id or a weight that can't be; all bits set if there is none.
  unsigned largest_id;
};

/// One thread an edge; every lane of a warp stays to the end.
/// @param weights  [size] or null.
__global__ __launch_bounds__(block_threads) void summary_kernel(given_edges edges, float const* weights,
                                                                std::int64_t size, std::int64_t limit,
                                                                edge_summary* out)
{
  vertex_id largest = 0;
  for (std::int64_t k = global_thread(); k < size; k += grid_stride()) {
    core::drawn_edge const edge = edges(k);
    vertex_id const top = max(edge.source, edge.target);
    largest = max(largest, top);
    // Not one comparison of a NaN is true; infinity minus itself is a NaN.
    bool const bad_weight = weights != nullptr && !(weights[k] - weights[k] == 0.0F && weights[k] >= 0.0F);
    if (top >= limit || bad_weight) { atomicMin(&out->first_bad, static_cast<unsigned long long>(k)); }
  }
  largest = __reduce_max_sync(full_warp, largest);
  if (lane_id() == 0) { atomicMax(&out->largest_id, largest); }
}

__global__ __launch_bounds__(block_threads) void arc_labels_kernel(label_view labels, int arcs_an_edge,
                                                                   std::int64_t size, label_id* out)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) { out[i] = labels[i / arcs_an_edge]; }
}

__global__ __launch_bounds__(block_threads) void gather_keys_kernel(std::uint64_t const* keys,
                                                                    std::int64_t const* positions, std::int64_t size,
                                                                    std::uint64_t* out)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) { out[i] = keys[positions[i]]; }
}

/// One thread an arc, in the order of (key, label, position): one that is equal to the arc before becomes a gap in
/// `keys`, which are in the order of positions.
__global__ __launch_bounds__(block_threads) void drop_equal_kernel(std::uint64_t const* sorted_keys,
                                                                   std::int64_t const* positions, label_view labels,
                                                                   int arcs_an_edge, std::int64_t size,
                                                                   std::uint64_t* keys)
{
  for (std::int64_t i = global_thread() + 1; i < size; i += grid_stride()) {
    bool const equal = sorted_keys[i] == sorted_keys[i - 1] &&
                       labels[positions[i] / arcs_an_edge] == labels[positions[i - 1] / arcs_an_edge];
    if (equal) { keys[positions[i]] = no_arc; }
  }
}

/// Of arcs with equal ends and label the first stays, the others become gaps. Does not synchronise.
void drop_labelled_duplicates(arc_list& arcs, label_view labels, int arcs_an_edge, gpu_exec const& exec)
{
  if (arcs.size == 0) { return; }
  auto& memory = memory_of(exec);
  unsigned const blocks = grid_blocks(arcs.size, block_threads);
  arc_list by_label;
  by_label.size = arcs.size;
  number_arcs(by_label, exec);
  buffer<std::int64_t> other_positions(arcs.size, memory);
  cub::DoubleBuffer<std::int64_t> positions(by_label.positions.data(), other_positions.data());
  {
    buffer<label_id> own(arcs.size, memory);
    buffer<label_id> other(arcs.size, memory);
    arc_labels_kernel<<<blocks, block_threads, 0, exec.stream>>>(labels, arcs_an_edge, arcs.size, own.data());
    TENDRIL_CUDA_TRY(cudaGetLastError());
    cub::DoubleBuffer<label_id> sorted(own.data(), other.data());
    run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(scratch, bytes, sorted, positions, arcs.size, 0,
                                             8 * labels.bytes_per_label, exec.stream);
    });
  }
  buffer<std::uint64_t> own(arcs.size, memory);
  buffer<std::uint64_t> other(arcs.size, memory);
  gather_keys_kernel<<<blocks, block_threads, 0, exec.stream>>>(arcs.keys.data(), positions.Current(), arcs.size,
                                                                own.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  cub::DoubleBuffer<std::uint64_t> sorted(own.data(), other.data());
  int const num_bits = std::clamp(static_cast<int>(2 * arcs.layout.id_bits) + 1, 1, 64);
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, sorted, positions, arcs.size, 0, num_bits, exec.stream);
  });
  drop_equal_kernel<<<blocks, block_threads, 0, exec.stream>>>(sorted.Current(), positions.Current(), labels,
                                                               arcs_an_edge, arcs.size, arcs.keys.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  arcs.has_gaps = true;
}

/// One thread an edge of the graph: what the edge of the input had that it comes from.
template <class T>
__global__ __launch_bounds__(block_threads) void gather_column_kernel(T const* column, std::int64_t const* positions,
                                                                      int arcs_an_edge, std::int64_t size, T* out)
{
  for (std::int64_t e = global_thread(); e < size; e += grid_stride()) { out[e] = column[positions[e] / arcs_an_edge]; }
}

template <class T>
buffer<T> gather_column(T const* column, arc_list const& arcs, int arcs_an_edge, gpu_exec const& exec)
{
  buffer<T> out(arcs.size, memory_of(exec));
  if (out.empty()) { return out; }
  gather_column_kernel<<<grid_blocks(arcs.size, block_threads), block_threads, 0, exec.stream>>>(
      column, arcs.positions.data(), arcs_an_edge, arcs.size, out.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  return out;
}

/// How many ids there are. Synchronises.
/// @throws argument_error, format_error: what expect_edge says of the first bad edge.
std::int64_t check_edges(coo_view const& edges, build_options const& options, gpu_exec const& exec)
{
  auto const size = static_cast<std::int64_t>(edges.sources.size());
  if (size == 0) { return std::max<std::int64_t>(options.num_vertices, 0); }
  buffer<edge_summary> summary(1, memory_of(exec));
  edge_summary const nothing{~0ULL, 0};
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(summary.data(), &nothing, sizeof nothing, cudaMemcpyHostToDevice, exec.stream));
  float const* const weights = edges.weights.empty() ? nullptr : edges.weights.data();
  summary_kernel<<<grid_blocks(size, block_threads, 1 << 14), block_threads, 0, exec.stream>>>(
      given_edges{edges.sources.data(), edges.targets.data()}, weights, size, build::id_limit(options), summary.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  edge_summary const found = value_at(summary.data(), exec);
  if (found.first_bad != nothing.first_bad) {
    auto const k = static_cast<std::int64_t>(found.first_bad);
    float const weight = weights == nullptr ? 0 : value_at(weights + k, exec);
    build::expect_edge(k, value_at(edges.sources.data() + k, exec), value_at(edges.targets.data() + k, exec), &weight,
                       options);
    throw format_error("build_graph: the edges changed while they were read");
  }
  return options.num_vertices >= 0 ? options.num_vertices : std::int64_t{found.largest_id} + 1;
}

}  // namespace
}  // namespace gpu

graph build_graph(coo_view const& edges, build_options const& options, gpu_exec const& exec)
{
  build::expect_num_vertices(options);
  build::expect_lengths(edges);
  gpu::device_guard const guard(exec.device);
  auto const size = static_cast<std::int64_t>(edges.sources.size());
  std::int64_t const num_ids = gpu::check_edges(edges, options, exec);
  bool const labels = !edges.labels.empty();
  bool const columns = !edges.weights.empty() || labels || options.keep_edge_ids;
  int const arcs_an_edge = options.symmetrize ? 2 : 1;
  double const num_arcs = static_cast<double>(size) * arcs_an_edge;
  double const column_bytes =
      (edges.weights.empty() ? 0.0 : 4.0) + edges.labels.bytes_per_label + (options.keep_edge_ids ? 8.0 : 0.0);
  gpu::expect_gpu_memory(
      "build_graph",
      std::max(gpu::build_csr_bytes(num_arcs, static_cast<double>(num_ids), column_bytes, columns, options),
               options.drop_duplicates && labels ? 44.2 * num_arcs : 0.0),
      exec);

  gpu::given_edges const given{edges.sources.data(), edges.targets.data()};
  gpu::arc_list arcs = gpu::make_arcs(given, size, num_ids, options, exec);
  if (options.drop_duplicates && labels) { gpu::drop_labelled_duplicates(arcs, edges.labels, arcs_an_edge, exec); }
  if (columns) { gpu::number_arcs(arcs, exec); }
  build_options rest = options;
  rest.drop_duplicates = options.drop_duplicates && !labels;
  gpu::built_csr built = gpu::build_csr(std::move(arcs), num_ids, rest, exec);
  if (!edges.weights.empty()) {
    built.arrays.weights = gpu::gather_column(edges.weights.data(), built.arcs, arcs_an_edge, exec);
  }
  if (edges.labels.bytes_per_label == 1) {
    auto const* const data = static_cast<std::uint8_t const*>(edges.labels.data);
    built.arrays.edge_labels = shared_array(gpu::gather_column(data, built.arcs, arcs_an_edge, exec));
  }
  if (edges.labels.bytes_per_label == 2) {
    auto const* const data = static_cast<std::uint16_t const*>(edges.labels.data);
    built.arrays.edge_labels = shared_array(gpu::gather_column(data, built.arcs, arcs_an_edge, exec));
  }
  synchronize(exec);
  return graph(std::move(built.arrays), graph_content::valid);
}

}  // namespace tendril
