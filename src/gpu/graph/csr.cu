// Sorts arcs and makes a CSR of them. Keys are radix sorted (CUB, one pass of all keys for 8 bits of them, only the bits
// in use), duplicates are selected out into the sort's second buffer, and each vertex finds its offset by a binary
// search: whatever the degrees, no thread has more to do than another. State: two buffers of 8 bytes an arc, as many for
// positions. CPU twin: src/build/csr.hpp.

#include "gpu/graph/csr.hpp"

#include <algorithm>
#include <utility>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include <tendril/gpu.hpp>

#include "build/expects.hpp"          // throw_too_many_edges
#include "gpu/device/copy_value.hpp"  // value_at
#include "gpu/device/launch.cuh"
#include "gpu/graph/edge_tiles.cuh"  // run_with_scratch

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;
constexpr std::int64_t ids_a_word = 32;

__global__ __launch_bounds__(block_threads) void number_kernel(std::int64_t size, std::int64_t* positions)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) { positions[i] = i; }
}

/// Position of the first key in [0, size) that is not below `key`. Any thread.
__device__ std::int64_t lower_bound(std::uint64_t const* keys, std::int64_t size, std::uint64_t key)
{
  std::int64_t first = 0;
  while (size > 0) {
    std::int64_t const half = size / 2;
    bool const right = keys[first + half] < key;
    first = right ? first + half + 1 : first;
    size = right ? size - half - 1 : half;
  }
  return first;
}

/// One thread: how many of the sorted keys are arcs.
__global__ void count_arcs_kernel(std::uint64_t const* keys, std::int64_t size, std::int64_t* count)
{
  *count = lower_bound(keys, size, no_arc);
}

/// One thread a vertex, and one for the end.
__global__ __launch_bounds__(block_threads) void offsets_kernel(std::uint64_t const* keys, std::int64_t size,
                                                                key_layout layout, std::int64_t num_vertices,
                                                                edge_id* indptr)
{
  for (std::int64_t v = global_thread(); v <= num_vertices; v += grid_stride()) {
    indptr[v] = lower_bound(keys, size, layout.key(static_cast<std::uint64_t>(v), 0));
  }
}

__global__ __launch_bounds__(block_threads) void targets_kernel(std::uint64_t const* keys, std::int64_t size,
                                                                key_layout layout, vertex_id* indices)
{
  for (std::int64_t e = global_thread(); e < size; e += grid_stride()) { indices[e] = layout.target(keys[e]); }
}

__global__ __launch_bounds__(block_threads) void edge_ids_kernel(std::int64_t const* positions, std::int64_t size,
                                                                 int arcs_an_edge, edge_id* ids)
{
  for (std::int64_t e = global_thread(); e < size; e += grid_stride()) { ids[e] = positions[e] / arcs_an_edge; }
}

/// The first vertex with more edges than a degree can say, into *first.
__global__ __launch_bounds__(block_threads) void find_too_many_kernel(edge_id const* indptr, std::int64_t num_vertices,
                                                                      unsigned long long* first)
{
  for (std::int64_t v = global_thread(); v < num_vertices; v += grid_stride()) {
    if (indptr[v + 1] - indptr[v] > std::int64_t{0xffffffffLL}) {
      atomicMin(first, static_cast<unsigned long long>(v));
    }
  }
}

/// Sets the bit of each id that an arc has.
__global__ __launch_bounds__(block_threads) void mark_ids_kernel(std::uint64_t const* keys, std::int64_t size,
                                                                 key_layout layout, std::uint32_t* bits)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    std::uint64_t const key = keys[i];
    if (key == no_arc) { continue; }
    for (vertex_id const id : {layout.source(key), layout.target(key)}) {
      std::uint32_t const bit = 1U << (id % ids_a_word);
      // Hubs are marked millions of times: looking first keeps the atomics apart.
      if ((bits[id / ids_a_word] & bit) == 0) { atomicOr(bits + id / ids_a_word, bit); }
    }
  }
}

/// Bits set in each word, and a 0 after the last.
__global__ __launch_bounds__(block_threads) void count_ids_kernel(std::uint32_t const* bits, std::int64_t num_words,
                                                                  std::uint32_t* counts)
{
  for (std::int64_t w = global_thread(); w <= num_words; w += grid_stride()) {
    counts[w] = w < num_words ? static_cast<std::uint32_t>(__popc(bits[w])) : 0;
  }
}

/// One thread a word: the ids in use, ascending.
__global__ __launch_bounds__(block_threads) void list_ids_kernel(std::uint32_t const* bits, std::uint32_t const* ranks,
                                                                 std::int64_t num_words, vertex_id* ids)
{
  for (std::int64_t w = global_thread(); w < num_words; w += grid_stride()) {
    std::uint32_t at = ranks[w];
    for (std::uint32_t word = bits[w]; word != 0; word &= word - 1) {
      ids[at++] = static_cast<vertex_id>(w * ids_a_word + __ffs(static_cast<int>(word)) - 1);
    }
  }
}

/// How many ids in use are smaller than `id`, which is in use. Any thread.
__device__ vertex_id rank_of(std::uint32_t const* bits, std::uint32_t const* ranks, vertex_id id)
{
  std::uint32_t const below = bits[id / ids_a_word] & ((1U << (id % ids_a_word)) - 1);
  return ranks[id / ids_a_word] + static_cast<vertex_id>(__popc(below));
}

__global__ __launch_bounds__(block_threads) void renumber_kernel(std::uint32_t const* bits, std::uint32_t const* ranks,
                                                                 key_layout from, key_layout to, std::int64_t size,
                                                                 std::uint64_t* keys)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    std::uint64_t const key = keys[i];
    if (key == no_arc) { continue; }
    keys[i] = to.key(rank_of(bits, ranks, from.source(key)), rank_of(bits, ranks, from.target(key)));
  }
}

/// Numbers the ids that arcs have 0, 1, … in their order, before the sort, which so has fewer bits to go through.
/// Returns the ids they had.
buffer<vertex_id> compact_ids(arc_list& arcs, std::int64_t num_ids, gpu_exec const& exec)
{
  auto& memory = memory_of(exec);
  std::int64_t const num_words = (num_ids + ids_a_word - 1) / ids_a_word;
  if (arcs.size == 0) { return buffer<vertex_id>(0, memory); }
  buffer<std::uint32_t> bits(num_words, memory);
  TENDRIL_CUDA_TRY(cudaMemsetAsync(bits.data(), 0, static_cast<std::size_t>(num_words) * 4, exec.stream));
  unsigned const arc_blocks = grid_blocks(arcs.size, block_threads);
  unsigned const word_blocks = grid_blocks(num_words + 1, block_threads);
  mark_ids_kernel<<<arc_blocks, block_threads, 0, exec.stream>>>(arcs.keys.data(), arcs.size, arcs.layout, bits.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());

  buffer<std::uint32_t> ranks(num_words + 1, memory);
  count_ids_kernel<<<word_blocks, block_threads, 0, exec.stream>>>(bits.data(), num_words, ranks.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, ranks.data(), ranks.data(), num_words + 1, exec.stream);
  });

  buffer<vertex_id> ids(std::int64_t{value_at(ranks.data() + num_words, exec)}, memory);
  list_ids_kernel<<<word_blocks, block_threads, 0, exec.stream>>>(bits.data(), ranks.data(), num_words, ids.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  key_layout const compact = key_layout::of(ids.size());
  renumber_kernel<<<arc_blocks, block_threads, 0, exec.stream>>>(bits.data(), ranks.data(), arcs.layout, compact,
                                                                 arcs.size, arcs.keys.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  arcs.layout = compact;
  return ids;
}

/// Sorts arcs by key, equal ones in their order, and leaves out gaps, and duplicates if asked to. Synchronises.
void sort_arcs(arc_list& arcs, bool drop_duplicates, gpu_exec const& exec)
{
  auto& memory = memory_of(exec);
  bool const pairs = !arcs.positions.empty();
  buffer<std::uint64_t> other_keys(arcs.size, memory);
  buffer<std::int64_t> other_positions(pairs ? arcs.size : 0, memory);
  // Gaps have all bits set: one bit more than arcs have, and they come last.
  int const num_bits = std::clamp(static_cast<int>(2 * arcs.layout.id_bits) + (arcs.has_gaps ? 1 : 0), 1, 64);
  cub::DoubleBuffer<std::uint64_t> keys(arcs.keys.data(), other_keys.data());
  cub::DoubleBuffer<std::int64_t> positions(arcs.positions.data(), other_positions.data());
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return pairs ? cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, positions, arcs.size, 0, num_bits, exec.stream)
                 : cub::DeviceRadixSort::SortKeys(scratch, bytes, keys, arcs.size, 0, num_bits, exec.stream);
  });
  if (keys.Current() != arcs.keys.data()) {
    std::swap(arcs.keys, other_keys);
    std::swap(arcs.positions, other_positions);
  }
  buffer<std::int64_t> count(1, memory);
  if (arcs.has_gaps) {
    count_arcs_kernel<<<1, 1, 0, exec.stream>>>(arcs.keys.data(), arcs.size, count.data());
    TENDRIL_CUDA_TRY(cudaGetLastError());
    arcs.size = value_at(count.data(), exec);
    arcs.has_gaps = false;
  }
  if (!drop_duplicates || arcs.size == 0) { return; }
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return pairs ? cub::DeviceSelect::UniqueByKey(scratch, bytes, arcs.keys.data(), arcs.positions.data(),
                                                  other_keys.data(), other_positions.data(), count.data(), arcs.size,
                                                  exec.stream)
                 : cub::DeviceSelect::Unique(scratch, bytes, arcs.keys.data(), other_keys.data(), count.data(),
                                             arcs.size, exec.stream);
  });
  arcs.size = value_at(count.data(), exec);
  std::swap(arcs.keys, other_keys);
  std::swap(arcs.positions, other_positions);
}

/// @throws argument_error for a vertex of 2^32 edges or more. Synchronises if there can be one.
void expect_degrees(buffer<edge_id> const& indptr, std::int64_t num_edges, gpu_exec const& exec)
{
  std::int64_t const num_vertices = indptr.size() - 1;
  if (num_edges <= std::int64_t{0xffffffffLL}) { return; }
  buffer<unsigned long long> first(1, memory_of(exec));
  TENDRIL_CUDA_TRY(cudaMemsetAsync(first.data(), 0xff, sizeof(unsigned long long), exec.stream));
  find_too_many_kernel<<<grid_blocks(num_vertices, block_threads), block_threads, 0, exec.stream>>>(
      indptr.data(), num_vertices, first.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  auto const v = static_cast<std::int64_t>(value_at(first.data(), exec));
  if (v < 0) { return; }
  edge_id const degree = value_at(indptr.data() + v + 1, exec) - value_at(indptr.data() + v, exec);
  build::throw_too_many_edges(v, degree);
}

}  // namespace

void number_arcs(arc_list& arcs, gpu_exec const& exec)
{
  arcs.positions = buffer<std::int64_t>(arcs.size, memory_of(exec));
  if (arcs.size == 0) { return; }
  number_kernel<<<grid_blocks(arcs.size, block_threads), block_threads, 0, exec.stream>>>(arcs.size,
                                                                                          arcs.positions.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

built_csr build_csr(arc_list arcs, std::int64_t num_ids, build_options const& options, gpu_exec const& exec)
{
  auto& memory = memory_of(exec);
  built_csr out;
  std::int64_t num_vertices = num_ids;
  if (options.compact) {
    buffer<vertex_id> ids = compact_ids(arcs, num_ids, exec);
    num_vertices = ids.size();
    out.arrays.original_ids = std::move(ids);
  }
  if (arcs.size > 0) { sort_arcs(arcs, options.drop_duplicates, exec); }

  buffer<edge_id> indptr(num_vertices + 1, memory);
  offsets_kernel<<<grid_blocks(num_vertices + 1, block_threads), block_threads, 0, exec.stream>>>(
      arcs.keys.data(), arcs.size, arcs.layout, num_vertices, indptr.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  expect_degrees(indptr, arcs.size, exec);
  buffer<vertex_id> indices(arcs.size, memory);
  buffer<edge_id> edge_ids(options.keep_edge_ids ? arcs.size : 0, memory);
  if (arcs.size > 0) {
    unsigned const blocks = grid_blocks(arcs.size, block_threads);
    targets_kernel<<<blocks, block_threads, 0, exec.stream>>>(arcs.keys.data(), arcs.size, arcs.layout, indices.data());
    TENDRIL_CUDA_TRY(cudaGetLastError());
    if (options.keep_edge_ids) {
      edge_ids_kernel<<<blocks, block_threads, 0, exec.stream>>>(arcs.positions.data(), arcs.size,
                                                                 options.symmetrize ? 2 : 1, edge_ids.data());
      TENDRIL_CUDA_TRY(cudaGetLastError());
    }
  }
  out.arrays.indptr = std::move(indptr);
  out.arrays.indices = std::move(indices);
  out.arrays.edge_ids = std::move(edge_ids);
  out.arrays.symmetric = options.symmetrize;
  out.arrays.device = exec.device;
  out.arcs = std::move(arcs);
  return out;
}

}  // namespace tendril::gpu
