// ClusterGCN's clusters and batches: orders by radix sorts of 64 random bits an item, groups by a stable sort, lists of
// clusters expanded by tiles of vertices. The rules: src/core/cluster.hpp. CPU twin: src/cpu/subgraphs/cluster.cpp.

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <tendril/checked.hpp>

#include "gpu/device/copy_value.hpp"
#include "gpu/graph/csr.hpp"  // key_layout
#include "gpu/graph/edge_tiles.cuh"
#include "gpu/subgraphs/cluster.hpp"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;
constexpr std::int64_t orders_at_once = std::int64_t{1} << 26U;  // items of epochs that are sorted together
constexpr int nodes_a_lane = 8;

int bits_of(std::int64_t num_ids) { return std::max(1, static_cast<int>(key_layout::of(num_ids).id_bits)); }

__global__ __launch_bounds__(block_threads) void contiguous_kernel(std::uint64_t num_clusters, std::uint64_t size,
                                                                   vertex_id* out)
{
  for (std::int64_t v = global_thread(); v < static_cast<std::int64_t>(size); v += grid_stride()) {
    out[v] = core::cluster_at(static_cast<std::uint64_t>(v), num_clusters, size);
  }
}

__global__ __launch_bounds__(block_threads) void by_rank_kernel(std::uint32_t const* order, std::uint64_t num_clusters,
                                                                std::uint64_t size, vertex_id* out)
{
  for (std::int64_t rank = global_thread(); rank < static_cast<std::int64_t>(size); rank += grid_stride()) {
    out[order[rank]] = core::cluster_at(static_cast<std::uint64_t>(rank), num_clusters, size);
  }
}

/// Which random order an item is in: that of the clusters of an epoch, or one of vertices.
struct order_keys {
  std::uint64_t seed;
  std::uint64_t first_epoch;
  bool of_vertices;

  [[nodiscard]] __device__ rng_key key(std::uint64_t number) const
  {
    return of_vertices ? core::clustering_key(seed) : core::epoch_key(seed, first_epoch + number);
  }
};

/// Item i is item i mod order_size of order i / order_size.
__global__ __launch_bounds__(block_threads) void bits_kernel(order_keys keys, std::int64_t order_size,
                                                             std::int64_t size, std::uint64_t* bits,
                                                             std::uint32_t* items)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    auto const number = static_cast<std::uint64_t>(i / order_size);
    bits[i] = core::order_bits(keys.key(number), static_cast<std::uint64_t>(i % order_size));
    items[i] = static_cast<std::uint32_t>(i);
  }
}

__global__ __launch_bounds__(block_threads) void numbers_kernel(std::uint32_t const* items, std::int64_t order_size,
                                                                std::int64_t size, std::uint32_t* numbers)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    numbers[i] = static_cast<std::uint32_t>(items[i] / order_size);
  }
}

/// Copies the items that lie in [begin, end) of all orders, as numbers within their order.
__global__ __launch_bounds__(block_threads) void slice_kernel(std::uint32_t const* items, std::int64_t order_size,
                                                              std::int64_t first, std::int64_t size, std::int64_t begin,
                                                              std::int64_t end, vertex_id* out)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    std::int64_t const at = first + i;
    if (at >= begin && at < end) { out[at - begin] = static_cast<vertex_id>(items[i] % order_size); }
  }
}

/// `num_orders` orders of order_size items, one behind the other; an element is its item's number + order_size times its
/// order's. Less than 2^32 items in all.
buffer<std::uint32_t> make_orders(order_keys const& keys, std::int64_t order_size, std::int64_t num_orders,
                                  gpu_exec const& exec)
{
  auto& memory = memory_of(exec);
  std::int64_t const size = checked_product("items of orders", order_size, num_orders);
  unsigned const blocks = grid_blocks(size, block_threads);
  buffer<std::uint64_t> bits(size, memory);
  buffer<std::uint64_t> other_bits(size, memory);
  buffer<std::uint32_t> items(size, memory);
  buffer<std::uint32_t> other_items(size, memory);
  bits_kernel<<<blocks, block_threads, 0, exec.stream>>>(keys, order_size, size, bits.data(), items.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, bits.data(), other_bits.data(), items.data(),
                                           other_items.data(), size, 0, 64, exec.stream);
  });
  if (num_orders == 1) { return other_items; }
  // Sorted by bits over all orders; a stable sort by order leaves each of them sorted.
  auto* const numbers = reinterpret_cast<std::uint32_t*>(bits.data());
  auto* const other_numbers = reinterpret_cast<std::uint32_t*>(other_bits.data());
  numbers_kernel<<<blocks, block_threads, 0, exec.stream>>>(other_items.data(), order_size, size, numbers);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, numbers, other_numbers, other_items.data(), items.data(),
                                           size, 0, bits_of(num_orders), exec.stream);
  });
  return items;
}

__global__ __launch_bounds__(block_threads) void list_offsets_kernel(core::epoch_cuts cuts, std::int64_t first_sample,
                                                                     std::int64_t num_samples, std::int64_t* offsets)
{
  std::int64_t const first_epoch = cuts.epoch_of(first_sample);
  std::int64_t const begin = cuts.begin_of(first_sample, first_epoch);
  for (std::int64_t s = global_thread(); s <= num_samples; s += grid_stride()) {
    offsets[s] = cuts.begin_of(first_sample + s, first_epoch) - begin;
  }
}

__global__ __launch_bounds__(block_threads) void find_bad_kernel(vertex_id const* cluster_of, std::int64_t size,
                                                                 std::int64_t num_clusters,
                                                                 unsigned long long* first_bad)
{
  for (std::int64_t v = global_thread(); v < size; v += grid_stride()) {
    if (cluster_of[v] >= num_clusters) { atomicMin(first_bad, static_cast<unsigned long long>(v)); }
  }
}

__global__ __launch_bounds__(block_threads) void iota_kernel(std::int64_t size, vertex_id* out)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) { out[i] = static_cast<vertex_id>(i); }
}

/// offsets[c] = how many of the sorted clusters are below c.
__global__ __launch_bounds__(block_threads) void cluster_offsets_kernel(vertex_id const* sorted, std::int64_t size,
                                                                        std::int64_t num_clusters,
                                                                        std::int64_t* offsets)
{
  for (std::int64_t c = global_thread(); c <= num_clusters; c += grid_stride()) {
    std::int64_t low = 0;
    std::int64_t high = size;
    while (low < high) {
      std::int64_t const middle = low + (high - low) / 2;
      bool const right = sorted[middle] < c;
      low = right ? middle + 1 : low;
      high = right ? high : middle;
    }
    offsets[c] = low;
  }
}

__global__ __launch_bounds__(block_threads) void list_sizes_kernel(std::int64_t const* cluster_offsets,
                                                                   std::int64_t num_clusters, vertex_id const* lists,
                                                                   std::int64_t size, std::int64_t* sizes)
{
  for (std::int64_t k = global_thread(); k < size; k += grid_stride()) {
    std::int64_t const c = lists[k];
    sizes[k] = c < num_clusters ? cluster_offsets[c + 1] - cluster_offsets[c] : 0;
  }
}

/// What the host wants to know of expanded lists.
struct list_totals {
  std::int64_t num_nodes;
  long long max_size;
  bool lists_are_bad;
};

__global__ __launch_bounds__(block_threads) void node_offsets_kernel(std::int64_t const* begins, sample_sets lists,
                                                                     sample_status const* status,
                                                                     std::int64_t* node_offsets, list_totals* totals)
{
  if (status->bad_offset != ~0ULL || status->bad_node != ~0ULL) {
    totals->lists_are_bad = true;
    return;
  }
  long long largest = 0;
  for (std::int64_t s = global_thread(); s <= lists.num_samples; s += grid_stride()) {
    std::int64_t const offset = begins[lists.offsets[s]];
    node_offsets[s] = offset;
    if (s < lists.num_samples) {
      largest = max(largest, static_cast<long long>(begins[lists.offsets[s + 1]] - offset));
    } else {
      totals->num_nodes = offset;
    }
  }
  if (largest > 0) { atomicMax(&totals->max_size, largest); }
}

/// Vertices by tiles of 256 a warp, which finds the lists' elements that its tile touches first.
__global__ __launch_bounds__(block_threads) void fill_kernel(std::int64_t const* cluster_offsets,
                                                             vertex_id const* vertices, vertex_id const* lists,
                                                             std::int64_t const* begins, std::int64_t num_elements,
                                                             std::int64_t num_nodes, vertex_id* nodes)
{
  constexpr std::int64_t tile = warp_size * nodes_a_lane;
  std::int64_t const first = global_thread() / warp_size * tile;
  if (first >= num_nodes) { return; }
  std::int64_t const last = min(first + tile, num_nodes) - 1;
  std::int64_t const low = row_of(begins, 0, num_elements - 1, first);
  std::int64_t const high = row_of(begins, low, num_elements - 1, last);
  for (std::int64_t i = first + lane_id(); i <= last; i += warp_size) {
    std::int64_t const k = row_of(begins, low, high, i);
    nodes[i] = vertices[cluster_offsets[lists[k]] + (i - begins[k])];
  }
}

}  // namespace

void assign_contiguous(std::int64_t num_clusters, buffer<vertex_id>& out, gpu_exec const& exec)
{
  contiguous_kernel<<<grid_blocks(out.size(), block_threads), block_threads, 0, exec.stream>>>(
      static_cast<std::uint64_t>(num_clusters), static_cast<std::uint64_t>(out.size()), out.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void assign_random(std::uint64_t seed, std::int64_t num_clusters, buffer<vertex_id>& out, gpu_exec const& exec)
{
  auto const order = make_orders({seed, 0, true}, out.size(), 1, exec);
  by_rank_kernel<<<grid_blocks(out.size(), block_threads), block_threads, 0, exec.stream>>>(
      order.data(), static_cast<std::uint64_t>(num_clusters), static_cast<std::uint64_t>(out.size()), out.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void find_bad_cluster(std::span<vertex_id const> cluster_of, std::int64_t num_clusters, unsigned long long* first_bad,
                      cuda_stream stream)
{
  auto const size = static_cast<std::int64_t>(cluster_of.size());
  if (size == 0) { return; }  // an empty grid is a launch error
  find_bad_kernel<<<grid_blocks(size, block_threads), block_threads, 0, stream>>>(cluster_of.data(), size, num_clusters,
                                                                                  first_bad);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

vertex_clusters group(std::span<vertex_id const> cluster_of, std::int64_t num_clusters, gpu_exec const& exec)
{
  auto& memory = memory_of(exec);
  auto const size = static_cast<std::int64_t>(cluster_of.size());
  vertex_clusters out{num_clusters, buffer<vertex_id>(size, memory), buffer<std::int64_t>(num_clusters + 1, memory)};
  buffer<vertex_id> sorted(size, memory);
  if (size > 0) {
    buffer<vertex_id> numbers(size, memory);
    iota_kernel<<<grid_blocks(size, block_threads), block_threads, 0, exec.stream>>>(size, numbers.data());
    TENDRIL_CUDA_TRY(cudaGetLastError());
    run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(scratch, bytes, cluster_of.data(), sorted.data(), numbers.data(),
                                             out.vertices.data(), size, 0, bits_of(num_clusters), exec.stream);
    });
  }
  cluster_offsets_kernel<<<grid_blocks(num_clusters + 1, block_threads), block_threads, 0, exec.stream>>>(
      sorted.data(), size, num_clusters, out.offsets.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  return out;
}

cluster_lists epoch_lists(core::epoch_cuts const& cuts, std::uint64_t seed, std::int64_t first_sample,
                          std::int64_t num_samples, gpu_exec const& exec)
{
  auto& memory = memory_of(exec);
  std::int64_t const first_epoch = cuts.epoch_of(first_sample);
  std::int64_t const begin = cuts.begin_of(first_sample, first_epoch);
  std::int64_t const end = cuts.begin_of(first_sample + num_samples, first_epoch);
  cluster_lists out{buffer<vertex_id>(end - begin, memory), buffer<std::int64_t>(num_samples + 1, memory)};
  list_offsets_kernel<<<grid_blocks(num_samples + 1, block_threads), block_threads, 0, exec.stream>>>(
      cuts, first_sample, num_samples, out.offsets.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  std::int64_t const size = cuts.num_clusters;
  std::int64_t const num_epochs = (end + size - 1) / size;
  std::int64_t const most_epochs = std::max<std::int64_t>(1, orders_at_once / size);
  for (std::int64_t epoch = 0; epoch < num_epochs; epoch += most_epochs) {
    std::int64_t const count = std::min(most_epochs, num_epochs - epoch);
    order_keys const keys{seed, static_cast<std::uint64_t>(first_epoch + epoch), false};
    auto const orders = make_orders(keys, size, count, exec);
    slice_kernel<<<grid_blocks(orders.size(), block_threads), block_threads, 0, exec.stream>>>(
        orders.data(), size, epoch * size, orders.size(), begin, end, out.clusters.data());
    TENDRIL_CUDA_TRY(cudaGetLastError());
  }
  return out;
}

expanded_lists expand_lists(vertex_clusters const& clusters, sample_sets const& lists, gpu_exec const& exec)
{
  auto& memory = memory_of(exec);
  std::int64_t const num_elements = lists.num_nodes;
  buffer<sample_status> status(1, memory);
  TENDRIL_CUDA_TRY(cudaMemsetAsync(status.data(), 0xff, sizeof(sample_status), exec.stream));
  check_samples(lists, clusters.num_clusters, status.data(), exec.stream);
  buffer<std::int64_t> begins(num_elements + 1, memory);
  if (num_elements > 0) {
    list_sizes_kernel<<<grid_blocks(num_elements, block_threads), block_threads, 0, exec.stream>>>(
        clusters.offsets.data(), clusters.num_clusters, lists.nodes, num_elements, begins.data());
    TENDRIL_CUDA_TRY(cudaGetLastError());
  }
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, begins.data(), begins.data(), num_elements + 1, exec.stream);
  });
  expanded_lists out;
  out.offsets = buffer<std::int64_t>(lists.num_samples + 1, memory);
  buffer<list_totals> totals(1, memory);
  TENDRIL_CUDA_TRY(cudaMemsetAsync(totals.data(), 0, sizeof(list_totals), exec.stream));
  node_offsets_kernel<<<grid_blocks(lists.num_samples + 1, block_threads), block_threads, 0, exec.stream>>>(
      begins.data(), lists, status.data(), out.offsets.data(), totals.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  list_totals const seen = value_at(totals.data(), exec);
  out.lists_are_bad = seen.lists_are_bad;
  if (out.lists_are_bad) { return out; }
  out.max_size = seen.max_size;
  out.nodes = buffer<vertex_id>(seen.num_nodes, memory);
  if (seen.num_nodes == 0) { return out; }
  std::int64_t const num_warps = (seen.num_nodes + warp_size * nodes_a_lane - 1) / (warp_size * nodes_a_lane);
  auto const blocks = static_cast<unsigned>((num_warps * warp_size + block_threads - 1) / block_threads);
  fill_kernel<<<blocks, block_threads, 0, exec.stream>>>(clusters.offsets.data(), clusters.vertices.data(), lists.nodes,
                                                         begins.data(), num_elements, seen.num_nodes, out.nodes.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  return out;
}

}  // namespace tendril::gpu
