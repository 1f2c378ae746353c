// LABOR-0. A warp reads the neighbours of a vertex and draws the number of each; vertices of more than `hub_degree` edges
// go to a list that blocks work through afterwards. Counts first, then, from the offsets that they add up to, edges.
// New vertices are numbered by first appearance: every candidate claims its vertex in a hash set with its position, the
// least position wins, and a scan over the winners gives the numbers.
// The rule: src/core/labor.hpp. CPU twin: src/cpu/layers/labor.cpp.

#include "gpu/layers/labor.hpp"

#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>

#include "core/labor.hpp"
#include "gpu/graph/edge_tiles.cuh"  // run_with_scratch

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;
constexpr std::uint32_t hub_degree = 4096;
constexpr std::int64_t hub_blocks = 264;  // two a multiprocessor of the largest GPUs

__global__ __launch_bounds__(block_threads) void clean_seeds_kernel(vertex_id const* seeds, std::int64_t size,
                                                                    std::int64_t num_vertices, vertex_id* out,
                                                                    unsigned long long* bad)
{
  for (std::int64_t k = global_thread(); k < size; k += grid_stride()) {
    bool const good = seeds[k] < num_vertices;
    out[k] = good ? seeds[k] : 0;
    if (!good) { atomicMin(bad, static_cast<unsigned long long>(k)); }
  }
}

/// One vertex that asks.
template <class View>
struct asking_vertex {
  typename View::row_type row;
  std::uint32_t degree;
  core::labor_choice choice;

  /// Any thread.
  [[nodiscard]] static __device__ asking_vertex of(View const& graph, labor_job const& job, std::int64_t i)
  {
    auto const row = graph.row(job.node[i]);
    return {row, row.degree(), core::labor_choice::of(job.fanout, row.degree())};
  }

  /// Whether edge number `i` is taken. Any thread.
  [[nodiscard]] __device__ bool takes(labor_job const& job, std::uint32_t i) const
  {
    if (i >= degree) { return false; }
    return choice.all || choice.takes(core::labor_number(job.key, row.neighbor(i), job.hop));
  }
};

/// Puts edge number `i` of the vertex in place `row` to position `to`. Any thread.
template <class View>
__device__ void put_edge(labor_edges const& out, asking_vertex<View> const& v, std::int64_t row, std::uint32_t i,
                         std::int64_t to, float weight)
{
  out.row[to] = row;
  out.edge[to] = v.row.edge(i);
  out.weights[to] = weight;
  out.neighbors[to] = v.row.neighbor(i);
}

template <class View>
__global__ __launch_bounds__(block_threads) void count_kernel(View const graph, labor_job const job)
{
  std::int64_t const num_nodes = *job.num_nodes;
  for (std::int64_t i = global_thread() / warp_size; i < num_nodes; i += grid_stride() / warp_size) {
    auto const v = asking_vertex<View>::of(graph, job, i);
    if (v.degree > hub_degree) {
      if (lane_id() == 0) { job.hubs[1 + atomicAdd(reinterpret_cast<unsigned long long*>(job.hubs), 1ULL)] = i; }
      continue;
    }
    std::int64_t count = v.choice.all ? v.degree : 0;
    for (std::uint32_t begin = 0; begin < v.degree && !v.choice.all; begin += warp_size) {
      count += __popc(__ballot_sync(full_warp, v.takes(job, begin + static_cast<std::uint32_t>(lane_id()))));
    }
    if (lane_id() == 0) { job.offsets[i + 1] = count; }
  }
}

template <class View>
__global__ __launch_bounds__(block_threads) void count_hubs_kernel(View const graph, labor_job const job)
{
  for (std::int64_t h = blockIdx.x; h < job.hubs[0]; h += gridDim.x) {
    std::int64_t const i = job.hubs[1 + h];
    auto const v = asking_vertex<View>::of(graph, job, i);
    std::int64_t count = v.choice.all ? v.degree : 0;
    for (std::uint32_t begin = 0; begin < v.degree && !v.choice.all; begin += block_threads) {
      count += __syncthreads_count(v.takes(job, begin + threadIdx.x));
    }
    if (threadIdx.x == 0) { job.offsets[i + 1] = count; }
  }
}

template <class View>
__global__ __launch_bounds__(block_threads) void write_kernel(View const graph, labor_job const job,
                                                              labor_edges const out)
{
  std::int64_t const num_nodes = *job.num_nodes;
  auto const lane = static_cast<std::uint32_t>(lane_id());
  for (std::int64_t i = global_thread() / warp_size; i < num_nodes; i += grid_stride() / warp_size) {
    auto const v = asking_vertex<View>::of(graph, job, i);
    if (v.degree > hub_degree) { continue; }
    std::int64_t at = job.offsets[i];
    float const weight = v.choice.weight(job.fanout, v.degree, job.offsets[i + 1] - at, job.normalize);
    for (std::uint32_t begin = 0; begin < v.degree; begin += warp_size) {
      bool const taken = v.takes(job, begin + lane);
      unsigned const all = __ballot_sync(full_warp, taken);
      if (taken) { put_edge(out, v, i, begin + lane, at + __popc(all & ((1U << lane) - 1U)), weight); }
      at += __popc(all);
    }
  }
}

template <class View>
__global__ __launch_bounds__(block_threads) void write_hubs_kernel(View const graph, labor_job const job,
                                                                   labor_edges const out)
{
  using scan = cub::BlockScan<int, block_threads>;
  __shared__ typename scan::TempStorage storage;
  for (std::int64_t h = blockIdx.x; h < job.hubs[0]; h += gridDim.x) {
    std::int64_t const i = job.hubs[1 + h];
    auto const v = asking_vertex<View>::of(graph, job, i);
    std::int64_t at = job.offsets[i];
    float const weight = v.choice.weight(job.fanout, v.degree, job.offsets[i + 1] - at, job.normalize);
    for (std::uint32_t begin = 0; begin < v.degree; begin += block_threads) {
      bool const taken = v.takes(job, begin + threadIdx.x);
      int before = 0;
      int all = 0;
      scan(storage).ExclusiveSum(taken ? 1 : 0, before, all);
      if (taken) { put_edge(out, v, i, begin + threadIdx.x, at + before, weight); }
      at += all;
      __syncthreads();
    }
  }
}

/// The slot of v in the set, which is there already. Any thread.
__device__ std::uint64_t first_slot(labor_numbers const& numbers, vertex_id v)
{
  return (v * 0x9E3779B97F4A7C15ULL >> 20U) & (numbers.num_slots - 1);
}

__global__ __launch_bounds__(block_threads) void claim_kernel(vertex_id const* vertices, std::int64_t size,
                                                              std::int64_t first_position, labor_numbers numbers)
{
  for (std::int64_t k = global_thread(); k < size; k += grid_stride()) {
    vertex_id const v = vertices[k];
    std::uint64_t at = first_slot(numbers, v);
    while (true) {
      // A slot only ever changes from empty to a vertex: one that is seen, however late, is there.
      vertex_id held = *const_cast<vertex_id volatile*>(numbers.keys + at);
      if (held == no_vertex) { held = atomicCAS(numbers.keys + at, no_vertex, v); }
      if (held == no_vertex || held == v) { break; }
      at = (at + 1) & (numbers.num_slots - 1);
    }
    atomicMin(numbers.least + at, static_cast<unsigned long long>(first_position + k));
  }
}

/// The least position of a vertex that was put in. Any thread, in a later launch.
__device__ std::int64_t least_position(labor_numbers const& numbers, vertex_id v)
{
  std::uint64_t at = first_slot(numbers, v);
  while (numbers.keys[at] != v) { at = (at + 1) & (numbers.num_slots - 1); }
  return static_cast<std::int64_t>(numbers.least[at]);
}

/// is_first[k]: whether candidate k is the first of its vertex, and the vertex is not among the known ones.
__global__ __launch_bounds__(block_threads) void mark_kernel(vertex_id const* candidates, std::int64_t size,
                                                             std::int64_t num_known, labor_numbers numbers,
                                                             std::int64_t* is_first)
{
  for (std::int64_t k = global_thread(); k < size; k += grid_stride()) {
    is_first[k] = least_position(numbers, candidates[k]) == num_known + k ? 1 : 0;
  }
}

/// @param ranks  Inclusive sums of is_first.
__global__ __launch_bounds__(block_threads) void number_kernel(vertex_id const* candidates, std::int64_t size,
                                                               std::int64_t num_known, labor_numbers numbers,
                                                               std::int64_t const* ranks, vertex_id* node,
                                                               std::int64_t* col, std::int64_t* num_nodes)
{
  for (std::int64_t k = global_thread(); k < size; k += grid_stride()) {
    std::int64_t const least = least_position(numbers, candidates[k]);
    std::int64_t const number = least < num_known ? least : num_known + ranks[least - num_known] - 1;
    if (col != nullptr) { col[k] = number; }
    if (least == num_known + k) { node[number] = candidates[k]; }
    if (k == size - 1) { *num_nodes = num_known + ranks[k]; }
  }
}

}  // namespace

void clean_seeds(vertex_id const* seeds, std::int64_t size, std::int64_t num_vertices, vertex_id* out,
                 unsigned long long* bad, cuda_stream stream)
{
  clean_seeds_kernel<<<grid_blocks(size, block_threads), block_threads, 0, stream>>>(seeds, size, num_vertices, out,
                                                                                     bad);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void count_labor(labor_job const& job, gpu_exec const& exec)
{
  TENDRIL_CUDA_TRY(cudaMemsetAsync(job.offsets, 0, static_cast<std::size_t>(job.most_nodes + 1) * sizeof(std::int64_t),
                                   exec.stream));
  unsigned const blocks = grid_blocks(job.most_nodes * warp_size, block_threads);
  job.graph.visit([&](auto const& graph) {
    count_kernel<<<blocks, block_threads, 0, exec.stream>>>(graph, job);
    TENDRIL_CUDA_TRY(cudaGetLastError());
    count_hubs_kernel<<<static_cast<unsigned>(hub_blocks), block_threads, 0, exec.stream>>>(graph, job);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  });
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, job.offsets + 1, job.offsets + 1, job.most_nodes, exec.stream);
  });
}

void write_labor(labor_job const& job, labor_edges const& out, gpu_exec const& exec)
{
  unsigned const blocks = grid_blocks(job.most_nodes * warp_size, block_threads);
  job.graph.visit([&](auto const& graph) {
    write_kernel<<<blocks, block_threads, 0, exec.stream>>>(graph, job, out);
    TENDRIL_CUDA_TRY(cudaGetLastError());
    write_hubs_kernel<<<static_cast<unsigned>(hub_blocks), block_threads, 0, exec.stream>>>(graph, job, out);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  });
}

void number_labor(vertex_id const* candidates, std::int64_t size, vertex_id* node, std::int64_t num_known,
                  labor_numbers const& numbers, std::int64_t* col, std::int64_t* num_nodes, gpu_exec const& exec)
{
  static_assert(no_vertex == 0xffffffffU, "an empty slot is made of bytes 0xff");
  TENDRIL_CUDA_TRY(cudaMemsetAsync(numbers.keys, 0xff, numbers.num_slots * sizeof(vertex_id), exec.stream));
  TENDRIL_CUDA_TRY(cudaMemsetAsync(numbers.least, 0xff, numbers.num_slots * sizeof(unsigned long long), exec.stream));
  if (num_known > 0) {
    claim_kernel<<<grid_blocks(num_known, block_threads), block_threads, 0, exec.stream>>>(node, num_known, 0, numbers);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  }
  unsigned const blocks = grid_blocks(size, block_threads);
  claim_kernel<<<blocks, block_threads, 0, exec.stream>>>(candidates, size, num_known, numbers);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  buffer<std::int64_t> ranks(size, memory_of(exec));
  mark_kernel<<<blocks, block_threads, 0, exec.stream>>>(candidates, size, num_known, numbers, ranks.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, ranks.data(), ranks.data(), size, exec.stream);
  });
  number_kernel<<<blocks, block_threads, 0, exec.stream>>>(candidates, size, num_known, numbers, ranks.data(), node,
                                                           col, num_nodes);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
