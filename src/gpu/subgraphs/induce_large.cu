// Induced subgraphs of samples of any size. The vertices of all samples are sorted by (sample, vertex) in one radix sort,
// and each sample gets a filter of 32 bits a vertex. Every vertex is a row of items: the entries of its list, where that
// is to be read, or else the sorted vertices of its sample, each to be searched for in the list. All items of all rows
// are numbered, and each warp of the grid gets as many of them, in one piece: a hub is spread over many warps, and a
// warp takes many short rows. As both kinds of items come in the order of the list, edges in the order of items are
// edges in the order of the result: each warp counts its edges, a scan tells where they go, and a second pass writes them.
//
// Cost a vertex: 24 bytes for each of two or three passes of the sort, about 50 for the rest; an item: 4 bytes twice, and a
// look at the filter. The question: src/core/sample_members.hpp. CPU twin: src/cpu/subgraphs/subgraph.cpp. Small samples:
// src/gpu/subgraphs/induce_small.cu.

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "core/sample_members.hpp"
#include "gpu/device/copy_value.hpp"
#include "gpu/device/limits.hpp"
#include "gpu/graph/csr.hpp"  // key_layout
#include "gpu/graph/edge_tiles.cuh"
#include "gpu/subgraphs/inner_edges.cuh"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;
constexpr int block_warps = block_threads / warp_size;

/// A vertex of a sample.
struct alignas(16) list_row {
  edge_id first;
  std::uint32_t degree;
  std::uint32_t sample;
};

struct large_job {
  sample_sets sets;
  vertex_id const* sorted;      ///< [num_nodes], ascending in each sample.
  std::uint32_t const* order;   ///< [num_nodes] position in its sample; null where it is the place among the sorted.
  std::uint32_t const* filter;  ///< [num_nodes]
  list_row const* rows;         ///< [num_nodes]
  std::int64_t const* item_offsets;  ///< [num_nodes + 1]
};

/// A key for each vertex that sorts by sample, then by vertex. One thread a vertex.
__global__ __launch_bounds__(block_threads) void rows_kernel(edge_arrays graph, sample_sets sets, key_layout layout,
                                                             std::uint64_t* keys, std::uint32_t* order, list_row* rows,
                                                             std::int64_t* item_counts)
{
  for (std::int64_t i = global_thread(); i < sets.num_nodes; i += grid_stride()) {
    std::int64_t const sample = row_of(sets.offsets, 0, sets.num_samples - 1, i);
    std::int64_t const begin = sets.offsets[sample];
    auto const size = static_cast<std::uint32_t>(sets.offsets[sample + 1] - begin);
    vertex_id const v = sets.nodes[i];
    std::uint32_t const degree = graph.degree(v);
    rows[i] = {graph.first_edge(v), degree, static_cast<std::uint32_t>(sample)};
    item_counts[i] = core::reads_list(degree, size) ? degree : size;
    if (keys != nullptr) {
      keys[i] = layout.key(static_cast<std::uint64_t>(sample), v);
      order[i] = static_cast<std::uint32_t>(i - begin);
    }
  }
}

/// Sets the filters, and finds equal vertices. One thread a vertex.
/// @param keys  Sorted; null if the samples came sorted.
__global__ __launch_bounds__(block_threads) void members_kernel(sample_sets sets, list_row const* rows,
                                                                key_layout layout, std::uint64_t const* keys,
                                                                vertex_id* sorted, std::uint32_t* filter,
                                                                sample_status* status)
{
  for (std::int64_t i = global_thread(); i < sets.num_nodes; i += grid_stride()) {
    // A sample has the same places in both orders.
    std::uint32_t const sample = rows[i].sample;
    std::int64_t const begin = sets.offsets[sample];
    vertex_id const v = keys == nullptr ? sets.nodes[i] : layout.target(keys[i]);
    if (keys != nullptr) {
      sorted[i] = v;
      if (i > 0 && keys[i - 1] == keys[i]) { atomicMin(&status->bad_sample, static_cast<unsigned long long>(sample)); }
    }
    auto const bit =
        core::member_bit::of(v, static_cast<std::uint32_t>(sets.offsets[sample + std::int64_t{1}] - begin));
    atomicOr(filter + begin + bit.word, bit.mask);
  }
}

/// The row of a lane's item, for lanes with consecutive items; `cursor` is a row at or before the first one's, and
/// becomes that of the last. Inactive lanes are the last ones, not all. All lanes.
__device__ std::int64_t find_row(large_job const& job, std::int64_t& cursor, std::int64_t item, bool active)
{
  std::int64_t row = -1;
  while (true) {
    std::int64_t const mine = cursor + lane_id();
    std::int64_t const end = mine < job.sets.num_nodes ? job.item_offsets[mine + 1] : INT64_MAX;
    int at = 0;  // rows of these 32 that end at the item or before; at most 31
    for (int step = warp_size / 2; step > 0; step /= 2) {
      std::int64_t const other = __shfl_sync(full_warp, end, at + step - 1);
      at += other <= item ? step : 0;
    }
    bool const is_there = __shfl_sync(full_warp, end, at) > item;
    if (row < 0 && is_there) { row = cursor + at; }
    if (__all_sync(full_warp, row >= 0 || !active) != 0) { break; }
    cursor += warp_size;
  }
  unsigned const lanes = __ballot_sync(full_warp, active);
  cursor = __shfl_sync(full_warp, row, 31 - __clz(static_cast<int>(lanes)));
  return row;
}

/// The edges that an item stands for: `count` from `edge` on, from its row to the vertex at `place` of the sorted sample.
struct item_edges {
  edge_id edge;
  std::uint32_t place;
  std::uint32_t count;
};

/// @param v  The row's vertex. Any thread.
template <class View>
__device__ item_edges edges_of(View const& graph, large_job const& job, vertex_id v, list_row const& row,
                               std::int64_t begin, std::uint32_t item)
{
  auto const list = graph.row(v, row.first, row.degree);
  auto const size = static_cast<std::uint32_t>(job.sets.offsets[row.sample + std::int64_t{1}] - begin);
  core::sample_members const members{job.sorted + begin, size, job.filter + begin};
  if (core::reads_list(row.degree, size)) {
    std::uint32_t const place = members.find(list.neighbor(item));
    return {row.first + item, place, place == core::no_member ? 0U : 1U};
  }
  core::edge_run const run = core::find_run(list, members.vertices[item]);
  return {row.first + run.first, item, run.count};
}

/// Adds up the edges of samples: a warp's items mostly belong to one sample for long, which is then told once.
class sample_counter {
 public:
  __device__ explicit sample_counter(unsigned long long* counts) : counts_(counts) {}

  /// `count` edges in `sample`; lanes without one pass 0. All lanes.
  __device__ void add(std::uint32_t sample, std::int64_t count, std::int64_t sum)
  {
    unsigned const counting = __ballot_sync(full_warp, count > 0);
    std::uint32_t const first = __shfl_sync(full_warp, sample, __ffs(static_cast<int>(counting)) - 1);
    bool const all_one = __all_sync(full_warp, count == 0 || sample == first) != 0;
    if (!all_one || first != sample_) { flush(); }
    if (all_one) {
      sample_ = first;
      sum_ += sum;
    } else if (count > 0) {
      atomicAdd(counts_ + sample, static_cast<unsigned long long>(count));
    }
  }
  /// All lanes.
  __device__ void flush()
  {
    if (lane_id() == 0 && sum_ > 0) { atomicAdd(counts_ + sample_, static_cast<unsigned long long>(sum_)); }
    sum_ = 0;
  }

 private:
  unsigned long long* counts_;
  std::uint32_t sample_ = 0;
  std::int64_t sum_ = 0;
};

/// Calls visit(sample, row, edges of the lane's item) for 32 items of the calling warp after the other; lanes without an
/// item have no edges. All lanes of all warps of the grid.
template <class View, class Visit>
__device__ void for_each_item(View const& graph, large_job const& job, Visit visit)
{
  std::int64_t const num_items = job.item_offsets[job.sets.num_nodes];
  std::int64_t const num_warps = grid_stride() / warp_size;
  std::int64_t const share = ((num_items + num_warps - 1) / num_warps + warp_size - 1) / warp_size * warp_size;
  std::int64_t const first = global_thread() / warp_size * share;
  std::int64_t const last = min(first + share, num_items);
  if (first >= last) { return; }
  std::int64_t cursor = row_of(job.item_offsets, 0, job.sets.num_nodes - 1, first);
  for (std::int64_t base = first; base < last; base += warp_size) {
    std::int64_t const item = base + lane_id();
    bool const active = item < last;
    std::int64_t const at = find_row(job, cursor, item, active);
    item_edges found{0, 0, 0};
    std::uint32_t sample = 0;
    std::int64_t row = 0;
    if (active) {
      list_row const list = job.rows[at];
      std::int64_t const begin = job.sets.offsets[list.sample];
      found = edges_of(graph, job, job.sets.nodes[at], list, begin,
                       static_cast<std::uint32_t>(item - job.item_offsets[at]));
      sample = list.sample;
      row = at - begin;
    }
    if (__any_sync(full_warp, found.count > 0) != 0) { visit(sample, row, found); }
  }
}

template <class View>
__global__ __launch_bounds__(block_threads) void count_kernel(View graph, large_job job, std::int64_t* warp_counts,
                                                              unsigned long long* sample_counts)
{
  sample_counter samples(sample_counts);
  std::int64_t sum = 0;
  for_each_item(graph, job, [&](std::uint32_t sample, std::int64_t, item_edges const& found) {
    std::int64_t const count = found.count;
    std::int64_t const here = __shfl_sync(full_warp, sum_before(count) + count, warp_size - 1);
    samples.add(sample, count, here);
    sum += here;
  });
  samples.flush();
  if (lane_id() == 0) { warp_counts[global_thread() / warp_size] = sum; }
}

template <class View>
__global__ __launch_bounds__(block_threads) void write_kernel(View graph, large_job job,
                                                              std::int64_t const* warp_offsets, inner_edges out)
{
  std::int64_t to = warp_offsets[global_thread() / warp_size];
  for_each_item(graph, job, [&](std::uint32_t sample, std::int64_t row, item_edges const& found) {
    std::int64_t const count = found.count;
    std::int64_t const before = sum_before(count);
    std::int64_t col = found.place;
    if (count > 0 && job.order != nullptr) { col = job.order[job.sets.offsets[sample] + found.place]; }
    write_runs(out, to + before, row, col, found.edge, found.count);
    to += __shfl_sync(full_warp, before + count, warp_size - 1);
  });
}

template <class T>
buffer<T> make_zeros(std::int64_t size, gpu_exec const& exec)
{
  buffer<T> out(size, memory_of(exec));
  TENDRIL_CUDA_TRY(cudaMemsetAsync(out.data(), 0, static_cast<std::size_t>(size) * sizeof(T), exec.stream));
  return out;
}

/// Exclusive sums in place, of `size` elements of which the last doesn't count.
template <class T>
void scan_in_place(T* values, std::int64_t size, gpu_exec const& exec)
{
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, values, values, size, exec.stream);
  });
}

/// What large_job refers to.
struct sorted_samples {
  buffer<vertex_id> sorted;
  buffer<std::uint32_t> order, filter;
  buffer<list_row> rows;
  buffer<std::int64_t> item_offsets;
};

sorted_samples sort_samples(edge_arrays const& graph, sample_sets const& sets, bool ascending, sample_status* status,
                            gpu_exec const& exec)
{
  auto& memory = memory_of(exec);
  std::int64_t const size = sets.num_nodes;
  unsigned const blocks = grid_blocks(size, block_threads);
  key_layout const layout = key_layout::of(graph.num_vertices);
  sorted_samples out;
  out.filter = make_zeros<std::uint32_t>(size, exec);
  out.rows = buffer<list_row>(size, memory);
  out.item_offsets = buffer<std::int64_t>(size + 1, memory);
  buffer<std::uint64_t> keys(ascending ? 0 : size, memory);
  out.order = buffer<std::uint32_t>(keys.size(), memory);
  rows_kernel<<<blocks, block_threads, 0, exec.stream>>>(graph, sets, layout, keys.data(), out.order.data(),
                                                         out.rows.data(), out.item_offsets.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  scan_in_place(out.item_offsets.data(), size + 1, exec);
  if (!ascending) {
    buffer<std::uint64_t> other_keys(size, memory);
    buffer<std::uint32_t> other_order(size, memory);
    int const bits = static_cast<int>(layout.id_bits + key_layout::of(sets.num_samples).id_bits);
    run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys.data(), other_keys.data(), out.order.data(),
                                             other_order.data(), size, 0, std::max(bits, 1), exec.stream);
    });
    std::swap(keys, other_keys);
    std::swap(out.order, other_order);
    out.sorted = buffer<vertex_id>(size, memory);
  }
  members_kernel<<<blocks, block_threads, 0, exec.stream>>>(sets, out.rows.data(), layout, keys.data(),
                                                            out.sorted.data(), out.filter.data(), status);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  return out;
}

}  // namespace

sample_status induce_large(graph_view const& graph, sample_sets const& sets, bool ascending, sample_status* status,
                           subgraphs& out, gpu_exec const& exec)
{
  expect_below_power("samples: number", sets.num_samples, 32);
  auto& memory = memory_of(exec);
  sorted_samples const sorted = sort_samples(graph.edges(), sets, ascending, status, exec);
  large_job const job{sets,
                      ascending ? sets.nodes : sorted.sorted.data(),
                      ascending ? nullptr : sorted.order.data(),
                      sorted.filter.data(),
                      sorted.rows.data(),
                      sorted.item_offsets.data()};
  // Both passes have the same grid: a warp finds again what it counted.
  auto const blocks = static_cast<unsigned>(graph.visit([&]<class View>(View const&) {
    return std::min(resident_blocks(count_kernel<View>, block_threads, 0, exec.device),
                    resident_blocks(write_kernel<View>, block_threads, 0, exec.device));
  }));
  std::int64_t const num_warps = std::int64_t{blocks} * block_warps;
  buffer<std::int64_t> warp_offsets(num_warps + 1, memory);
  auto edge_offsets = make_zeros<std::int64_t>(sets.num_samples + 1, exec);
  graph.visit([&](auto const& view) {
    count_kernel<<<blocks, block_threads, 0, exec.stream>>>(view, job, warp_offsets.data(),
                                                            reinterpret_cast<unsigned long long*>(edge_offsets.data()));
  });
  TENDRIL_CUDA_TRY(cudaGetLastError());
  scan_in_place(warp_offsets.data(), num_warps + 1, exec);
  scan_in_place(edge_offsets.data(), sets.num_samples + 1, exec);
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(&status->num_edges, warp_offsets.data() + num_warps, sizeof(std::int64_t),
                                   cudaMemcpyDeviceToDevice, exec.stream));
  sample_status const seen = value_at(status, exec);
  if (seen.bad_sample != ~0ULL) { return seen; }

  out.row = buffer<std::int64_t>(seen.num_edges, memory);
  out.col = buffer<std::int64_t>(seen.num_edges, memory);
  out.edges = buffer<edge_id>(seen.num_edges, memory);
  out.edge_offsets = std::move(edge_offsets);
  if (seen.num_edges > 0) {
    inner_edges const to{out.row.data(), out.col.data(), out.edges.data()};
    graph.visit([&](auto const& view) {
      write_kernel<<<blocks, block_threads, 0, exec.stream>>>(view, job, warp_offsets.data(), to);
    });
    TENDRIL_CUDA_TRY(cudaGetLastError());
  }
  return seen;
}

}  // namespace tendril::gpu
