// The map from transits to pairs. Grouping: a radix sort, or counting. Then one pass over what may be the beginning of a
// run (every sorted pair, or every vertex) measures runs, cuts them into three classes by their calls, and appends them to
// lists, a block's together, by one atomic a list. The order in a list is left to chance, as nothing depends on it.
// Tested against a serial map: tests/gpu/transit_map_test.cu.

#include "gpu/applications/make_transit_map.hpp"

#include <algorithm>
#include <bit>

#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "gpu/device/launch.cuh"
#include "gpu/graph/edge_tiles.cuh"  // run_with_scratch

namespace tendril::gpu {
namespace {

using engine::transit_counts;
using engine::transit_run;

constexpr int block_threads = 256;
constexpr int runs_a_thread = 4;
constexpr std::uint64_t few_calls = 32;        // the lanes of a warp (NextDoor, table 2)
constexpr std::int64_t count_from_pairs = 16;  // pairs a vertex

__global__ __launch_bounds__(block_threads) void number_kernel(std::uint32_t* out, std::int64_t size)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) { out[i] = static_cast<std::uint32_t>(i); }
}

/// ranks[p] = how many pairs came to the same transit before pair p; sizes[v] = how many there are. Lanes that have the
/// transit of the first lane come as one: all of them where samples start at one vertex.
__global__ __launch_bounds__(block_threads) void count_kernel(vertex_id const* transits, std::int64_t num_pairs,
                                                              std::uint32_t* sizes, std::uint32_t* ranks)
{
  unsigned const lane = lane_id();
  for (std::int64_t base = global_thread() - lane; base < num_pairs; base += grid_stride()) {
    std::int64_t const p = base + lane;
    vertex_id const v = p < num_pairs ? transits[p] : no_vertex;
    vertex_id const first = __shfl_sync(full_warp, v, 0);
    unsigned const alike = __ballot_sync(full_warp, v == first);
    std::uint32_t before = 0;
    if (lane == 0 && v != no_vertex) { before = atomicAdd(&sizes[v], static_cast<std::uint32_t>(__popc(alike))); }
    before = __shfl_sync(full_warp, before, 0);
    if (v == no_vertex) { continue; }
    ranks[p] = v == first ? before + __popc(alike & ((1U << lane) - 1)) : atomicAdd(&sizes[v], 1U);
  }
}

__global__ __launch_bounds__(block_threads) void scatter_kernel(vertex_id const* transits, std::int64_t num_pairs,
                                                                std::uint32_t const* begins, std::uint32_t const* ranks,
                                                                std::uint32_t* pairs)
{
  for (std::int64_t p = global_thread(); p < num_pairs; p += grid_stride()) {
    vertex_id const v = transits[p];
    if (v != no_vertex) { pairs[begins[v] + ranks[p]] = static_cast<std::uint32_t>(p); }
  }
}

/// Runs of sorted transits: one begins wherever a transit differs from the one before.
struct sorted_runs {
  vertex_id const* keys;
  std::int64_t size;

  /// The run that begins at i; of size 0 if none does. Any thread.
  __device__ transit_run operator()(std::int64_t i) const
  {
    vertex_id const v = keys[i];
    if (v == no_vertex || (i > 0 && keys[i - 1] == v)) { return {}; }
    std::int64_t last = i;  // of the run, as far as it is known: strides double until one leads out of it
    std::int64_t stride = 1;
    while (last + stride < size && keys[last + stride] == v) {
      last += stride;
      stride *= 2;
    }
    for (; stride > 0; stride /= 2) {
      if (last + stride < size && keys[last + stride] == v) { last += stride; }
    }
    return {v, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(last - i + 1)};
  }
};

/// Runs of counted transits: that of vertex i.
struct counted_runs {
  std::uint32_t const* begins;
  std::uint32_t const* sizes;
  std::int64_t size;

  __device__ transit_run operator()(std::int64_t i) const { return {static_cast<vertex_id>(i), begins[i], sizes[i]}; }
};

/// Where runs are put.
struct run_lists {
  transit_run* few;
  transit_run* last_block;
  transit_run* grid;
  std::uint32_t* first_units;
  transit_counts* counts;
};

/// What some runs add to the lists. Few, block and grid are packed into `numbers`, 21 bits each: a block looks at
/// 1,024 runs.
struct run_numbers {
  std::uint64_t numbers;
  std::uint64_t units;

  __device__ friend run_numbers operator+(run_numbers a, run_numbers b)
  {
    return {a.numbers + b.numbers, a.units + b.units};
  }
};

template <class Runs>
__global__ __launch_bounds__(block_threads) void classify_kernel(Runs const runs, edge_arrays const graph,
                                                                 std::uint64_t calls_a_pair, std::uint32_t unit,
                                                                 run_lists const lists)
{
  using block_scan = cub::BlockScan<run_numbers, block_threads>;
  __shared__ typename block_scan::TempStorage scan_memory;
  __shared__ unsigned long long bases[3];
  constexpr std::uint64_t mask = (1U << 21U) - 1;
  constexpr std::int64_t tile = block_threads * runs_a_thread;
  for (std::int64_t base = std::int64_t{blockIdx.x} * tile; base < runs.size; base += std::int64_t{gridDim.x} * tile) {
    transit_run own[runs_a_thread];
    int kind[runs_a_thread];  // 0, 1, 2; -1: no run, or one without calls
    std::uint32_t units[runs_a_thread];
    run_numbers sum{0, 0};
#pragma unroll
    for (int k = 0; k < runs_a_thread; ++k) {
      std::int64_t const i = base + k * block_threads + threadIdx.x;
      own[k] = i < runs.size ? runs(i) : transit_run{};
      kind[k] = -1;
      units[k] = 0;
      if (own[k].size == 0) { continue; }
      vertex_id const v = own[k].transit;
      std::uint64_t const calls = own[k].size * (calls_a_pair != 0 ? calls_a_pair : graph.degree(v));
      if (calls == 0) { continue; }
      kind[k] = calls < few_calls ? 0 : calls <= unit ? 1 : 2;
      if (kind[k] == 2) { units[k] = static_cast<std::uint32_t>((calls + unit - 1) / unit); }
      sum = sum + run_numbers{std::uint64_t{1} << (21 * kind[k]), units[k]};
    }
    run_numbers before{0, 0};
    run_numbers total{0, 0};
    block_scan(scan_memory)
        .ExclusiveScan(
            sum, before, run_numbers{0, 0}, [](run_numbers a, run_numbers b) { return a + b; }, total);
    if (threadIdx.x == 0) {
      std::uint64_t const few = total.numbers & mask;
      std::uint64_t const block = total.numbers >> 21U & mask;
      std::uint64_t const grid = total.numbers >> 42U;
      bases[0] = few == 0 ? 0 : atomicAdd(&lists.counts->few, few);
      bases[1] = block == 0 ? 0 : atomicAdd(&lists.counts->block, block);
      // Places and units grow together, so that units ascend along the list.
      bases[2] = grid == 0 ? 0 : atomicAdd(&lists.counts->grid, grid | total.units << 32U);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < runs_a_thread; ++k) {
      std::uint64_t const place = kind[k] < 0 ? 0 : before.numbers >> (21 * kind[k]) & mask;
      if (kind[k] == 0) { lists.few[bases[0] + place] = own[k]; }
      if (kind[k] == 1) { *(lists.last_block - static_cast<std::int64_t>(bases[1] + place)) = own[k]; }
      if (kind[k] == 2) {
        std::uint64_t const at = (bases[2] & 0xffffffffU) + place;
        lists.grid[at] = own[k];
        lists.first_units[at] = static_cast<std::uint32_t>((bases[2] >> 32U) + before.units);
      }
      if (kind[k] >= 0) { before = before + run_numbers{std::uint64_t{1} << (21 * kind[k]), units[k]}; }
    }
    __syncthreads();  // before scan_memory and bases are written again
  }
}

}  // namespace

transit_mapper::transit_mapper(transit_map_spec const& spec, gpu_exec const& exec) : spec_(spec), exec_(exec)
{
  device_guard const guard(exec.device);
  std::int64_t const num_vertices = std::max<std::int64_t>(spec.graph.num_vertices, 1);
  most_runs_ = std::min(spec.most_pairs, num_vertices);
  std::int64_t most_shared = most_runs_;  // transits that blocks share
  if (spec.calls_a_pair != 0) {
    few_ = spec.calls_a_pair < static_cast<std::int64_t>(few_calls);
    block_ =
        spec.calls_a_pair <= spec.unit && spec.most_pairs >= static_cast<std::int64_t>(few_calls) / spec.calls_a_pair;
    std::int64_t const pairs_a_unit = spec.unit / spec.calls_a_pair;  // more than those make several units
    most_shared = std::min(most_shared, spec.most_pairs / (pairs_a_unit + 1));
    most_units_ = most_shared == 0 ? 0 : spec.most_pairs * spec.calls_a_pair / spec.unit + most_shared;
  } else {
    most_units_ = std::int64_t{1} << 31U;  // unknown
  }
  if (spec_.grouping == transit_grouping::automatic) {
    spec_.grouping =
        spec.most_pairs >= count_from_pairs * num_vertices ? transit_grouping::count : transit_grouping::sort;
  }
  memory_resource& memory = memory_of(exec);
  pairs_ = buffer<std::uint32_t>(spec.most_pairs, memory);
  ordered_ = buffer<std::uint32_t>(spec.most_pairs, memory);
  if (spec.only_sorts) { most_runs_ = most_shared = 1; }
  runs_ = buffer<transit_run>(most_runs_, memory);
  grid_ = buffer<transit_run>(std::max<std::int64_t>(most_shared, 1), memory);
  first_units_ = buffer<std::uint32_t>(std::max<std::int64_t>(most_shared, 1), memory);
  counts_ = buffer<transit_counts>(1, memory);
  if (spec_.grouping == transit_grouping::sort) {
    keys_ = buffer<vertex_id>(spec.most_pairs, memory);
    number_kernel<<<grid_blocks(spec.most_pairs, block_threads), block_threads, 0, exec.stream>>>(ordered_.data(),
                                                                                                  spec.most_pairs);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  } else {
    sizes_ = buffer<std::uint32_t>(num_vertices, memory);
    begins_ = buffer<std::uint32_t>(num_vertices, memory);
  }
}

void transit_mapper::sort(vertex_id const* transits, std::int64_t num_pairs)
{
  // no_vertex is ones only: in as many bits as num_vertices has, that is above every vertex, which is below num_vertices.
  int const bits = std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(spec_.graph.num_vertices, 1)));
  run_with_scratch(exec_, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, transits, keys_.data(), ordered_.data(), pairs_.data(),
                                           static_cast<std::uint32_t>(num_pairs), 0, bits, exec_.stream);
  });
}

void transit_mapper::count(vertex_id const* transits, std::int64_t num_pairs)
{
  TENDRIL_CUDA_TRY(
      cudaMemsetAsync(sizes_.data(), 0, static_cast<std::size_t>(sizes_.size()) * sizeof(std::uint32_t), exec_.stream));
  unsigned const blocks = grid_blocks(num_pairs, block_threads);
  count_kernel<<<blocks, block_threads, 0, exec_.stream>>>(transits, num_pairs, sizes_.data(), ordered_.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  run_with_scratch(exec_, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, sizes_.data(), begins_.data(), sizes_.size(), exec_.stream);
  });
  scatter_kernel<<<blocks, block_threads, 0, exec_.stream>>>(transits, num_pairs, begins_.data(), ordered_.data(),
                                                             pairs_.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

template <class Runs>
engine::transit_map transit_mapper::classify(Runs const& runs, std::uint32_t const* pairs)
{
  TENDRIL_CUDA_TRY(cudaMemsetAsync(counts_.data(), 0, sizeof(transit_counts), exec_.stream));
  run_lists const lists{runs_.data(), runs_.data() + (most_runs_ - 1), grid_.data(), first_units_.data(),
                        counts_.data()};
  classify_kernel<<<grid_blocks(runs.size, block_threads * runs_a_thread), block_threads, 0, exec_.stream>>>(
      runs, spec_.graph, static_cast<std::uint64_t>(spec_.calls_a_pair), spec_.unit, lists);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  return {pairs, lists.few, lists.last_block, lists.grid, lists.first_units, lists.counts};
}

engine::transit_map transit_mapper::make(vertex_id const* transits, std::int64_t num_pairs)
{
  device_guard const guard(exec_.device);
  if (spec_.grouping == transit_grouping::sort) {
    sort(transits, num_pairs);
    return classify(sorted_runs{keys_.data(), num_pairs}, pairs_.data());
  }
  count(transits, num_pairs);
  return classify(counted_runs{begins_.data(), sizes_.data(), spec_.graph.num_vertices}, pairs_.data());
}

sorted_pairs transit_mapper::sorted(vertex_id const* transits, std::int64_t num_pairs)
{
  device_guard const guard(exec_.device);
  sort(transits, num_pairs);
  return {keys_.data(), pairs_.data()};
}

engine::transit_map transit_mapper::map_of(std::int64_t begin, std::int64_t end)
{
  device_guard const guard(exec_.device);
  return classify(sorted_runs{keys_.data() + begin, end - begin}, pairs_.data() + begin);
}

}  // namespace tendril::gpu
