// The bookkeeping of a cache of rows on a GPU. The ids of a batch are sorted by what each has: missed rows come first,
// ascending, then hits by their slots. One histogram of the missed rows' bins and one of the slots' tell how many rows come
// in and which (core::change_of); two prefix sums number them. Nothing waits for the host: sizes are those of the batch
// and of the cache, and the host reads the counts when it gathers. A batch of n ids and a cache of C slots take a sort of n
// pairs, and 12 bytes a slot are read and 8 written. The rule: src/core/cache_rule.hpp. CPU twin: src/features/row_cache.cpp.

#include <algorithm>
#include <bit>
#include <cstdint>

#include <cuda_runtime.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <tendril/gpu.hpp>
#include <tendril/gpu_feature_cache.hpp>

#include "gpu/device/launch.cuh"
#include "gpu/features/row_cache.hpp"
#include "gpu/graph/edge_tiles.cuh"  // run_with_scratch

namespace tendril::gpu {
namespace {

using core::cache_change;
using core::cache_rule;

constexpr int block_threads = 256;
constexpr std::int64_t most_blocks = 4096;  // each adds up a histogram of its own
constexpr std::uint16_t no_bin = 0xffff;    // of what never comes in: a row's second occurrence in a batch

using bin_counts = unsigned int[cache_rule::num_bins];

__global__ __launch_bounds__(block_threads) void fill_kernel(cache_view cache, vertex_id const* rows, std::int64_t size)
{
  for (std::int64_t slot = global_thread(); slot < cache.num_slots; slot += grid_stride()) {
    vertex_id const row = slot < size ? rows[slot] : no_vertex;
    cache.content[slot] = row;
    if (row != no_vertex) { cache.slot_of[row] = static_cast<std::uint32_t>(slot); }
  }
}

/// Lookahead: sets the bit of the batch in the states of its rows.
__global__ __launch_bounds__(block_threads) void known_kernel(cache_view cache, vertex_id const* ids, std::int64_t size,
                                                              std::uint32_t bit)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    vertex_id const row = ids[i];
    if (row >= cache.num_rows) { continue; }
    atomicOr(cache.states + row, bit);
    std::uint32_t const slot = cache.slot_of[row];
    if (slot != no_vertex) { atomicOr(cache.slot_states + slot, bit); }
  }
}

/// Marks the batch's rows as used; gives each id a key: a missed row, num_rows + the slot of a hit, or more than these.
__global__ __launch_bounds__(block_threads) void classify_kernel(cache_view cache, vertex_id const* ids,
                                                                 std::int64_t size, std::uint32_t now,
                                                                 std::uint32_t* keys, std::uint32_t* places,
                                                                 made_counts* counts)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    vertex_id const row = ids[i];
    auto key = static_cast<std::uint32_t>(cache.num_rows + cache.num_slots);
    if (row < cache.num_rows) {
      std::uint32_t const slot = cache.slot_of[row];
      bool const hit = slot != no_vertex;
      key = hit ? static_cast<std::uint32_t>(cache.num_rows) + slot : row;
      if (cache.rule.policy == cache_policy::lookahead) {
        atomicAnd(cache.states + row, ~cache_rule::bit_of(now));
        if (hit) { atomicAnd(cache.slot_states + slot, ~cache_rule::bit_of(now)); }
      } else if (cache.rule.policy == cache_policy::lru) {
        cache.states[row] = now;
        if (hit) { cache.slot_states[slot] = now; }
      }
    } else {
      atomicMin(&counts->first_bad, static_cast<unsigned long long>(i));
    }
    keys[i] = key;
    places[i] = static_cast<std::uint32_t>(i);
  }
}

/// Sorted keys to rows and slots. Finds the number of missed rows, and their bins where the cache changes.
/// All threads of a block.
__global__ __launch_bounds__(block_threads) void missed_kernel(cache_view cache, std::uint32_t const* keys,
                                                               std::int64_t size, std::uint32_t now, vertex_id* rows,
                                                               std::uint16_t* bins, unsigned int* histogram,
                                                               made_counts* counts)
{
  __shared__ bin_counts own;
  for (int b = static_cast<int>(threadIdx.x); b < cache_rule::num_bins; b += block_threads) { own[b] = 0; }
  __syncthreads();
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    std::uint32_t const key = keys[i];
    bool const missed = key < cache.num_rows;
    rows[i] = missed ? key : key - static_cast<std::uint32_t>(cache.num_rows);
    if (missed && (i + 1 == size || keys[i + 1] >= cache.num_rows)) { counts->missed = i + 1; }
    if (bins == nullptr) { continue; }
    bool const first = missed && (i == 0 || keys[i - 1] != key);
    int const bin = first ? cache.bin_of(key, cache.states[key], now) : no_bin;
    bins[i] = static_cast<std::uint16_t>(bin);
    if (first) { atomicAdd(own + bin, 1U); }
  }
  __syncthreads();
  if (bins == nullptr) { return; }
  for (int b = static_cast<int>(threadIdx.x); b < cache_rule::num_bins; b += block_threads) {
    if (own[b] != 0) { atomicAdd(histogram + b, own[b]); }
  }
}

/// All threads of a block.
__global__ __launch_bounds__(block_threads) void slots_kernel(cache_view cache, std::uint32_t now, std::uint16_t* bins,
                                                              unsigned int* histogram)
{
  __shared__ bin_counts own;
  for (int b = static_cast<int>(threadIdx.x); b < cache_rule::num_bins; b += block_threads) { own[b] = 0; }
  __syncthreads();
  for (std::int64_t slot = global_thread(); slot < cache.num_slots; slot += grid_stride()) {
    int const bin = cache.slot_bin(slot, now);
    bins[slot] = static_cast<std::uint16_t>(bin);
    atomicAdd(own + bin, 1U);
  }
  __syncthreads();
  for (int b = static_cast<int>(threadIdx.x); b < cache_rule::num_bins; b += block_threads) {
    if (own[b] != 0) { atomicAdd(histogram + b, own[b]); }
  }
}

/// One thread: the histograms are short.
__global__ void change_kernel(unsigned int const* missed, unsigned int const* slots, cache_change* change,
                              made_counts* counts)
{
  *change = core::change_of(missed, slots);
  counts->kept = change->size;
}

/// How many of the elements before each are surely chosen, in the upper half, and how many are of the bin of which the first
/// ones are, in the lower one.
struct marks_of_missed {
  std::uint16_t const* bins;
  cache_change const* change;
  __device__ std::uint64_t operator()(std::int64_t i) const
  {
    int const bin = bins[i];
    return (std::uint64_t{bin < change->in_bin} << 32U) | std::uint64_t{bin == change->in_bin};
  }
  [[nodiscard]] __device__ std::int64_t num_first() const { return change->in_rest; }
};

struct marks_of_slots {
  std::uint16_t const* bins;
  cache_change const* change;
  __device__ std::uint64_t operator()(std::int64_t i) const
  {
    int const bin = bins[i];
    return (std::uint64_t{bin > change->out_bin} << 32U) | std::uint64_t{bin == change->out_bin};
  }
  [[nodiscard]] __device__ std::int64_t num_first() const { return change->out_rest; }
};

/// Writes the chosen ones in their order.
template <class Marks>
__global__ __launch_bounds__(block_threads) void choose_kernel(Marks marks, std::uint64_t const* before,
                                                               std::int64_t size, std::uint32_t* chosen)
{
  std::int64_t const most = marks.num_first();
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    std::uint64_t const mark = marks(i);
    if (mark == 0) { continue; }
    auto const sure = static_cast<std::int64_t>(before[i] >> 32U);
    auto const alike = static_cast<std::int64_t>(before[i] & 0xffffffffU);
    if (mark == 1 && alike >= most) { continue; }
    chosen[sure + (alike < most ? alike : most)] = static_cast<std::uint32_t>(i);
  }
}

__global__ __launch_bounds__(block_threads) void apply_kernel(cache_view cache, cache_change const* change,
                                                              vertex_id const* rows, std::uint32_t const* kept,
                                                              std::uint32_t const* kept_slots)
{
  for (std::int64_t i = global_thread(); i < change->size; i += grid_stride()) {
    vertex_id const row = rows[kept[i]];
    std::uint32_t const slot = kept_slots[i];
    if (cache.content[slot] != no_vertex) { cache.slot_of[cache.content[slot]] = no_vertex; }
    cache.content[slot] = row;
    cache.slot_of[row] = slot;
    cache.slot_states[slot] = cache.states[row];
  }
}

template <class T>
void set_all(T* to, std::int64_t size, int byte, gpu_exec const& exec)
{
  if (size == 0) { return; }
  TENDRIL_CUDA_TRY(cudaMemsetAsync(to, byte, static_cast<std::size_t>(size) * sizeof(T), exec.stream));
}

template <class Marks>
void choose(Marks const& marks, std::int64_t size, buffer<std::uint32_t>& chosen, gpu_exec const& exec)
{
  if (size == 0) { return; }
  buffer<std::uint64_t> before(size, memory_of(exec));
  auto const input = thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), marks);
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, input, before.data(), size, exec.stream);
  });
  choose_kernel<<<grid_blocks(size, block_threads), block_threads, 0, exec.stream>>>(marks, before.data(), size,
                                                                                     chosen.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace

void fill_slots(cache_view const& cache, std::span<vertex_id const> rows, gpu_exec const& exec)
{
  set_all(cache.slot_of, cache.num_rows, 0xff, exec);
  if (cache.states != nullptr) {
    set_all(cache.states, cache.num_rows, 0, exec);
    set_all(cache.slot_states, cache.num_slots, 0, exec);
  }
  if (cache.num_slots == 0) { return; }
  fill_kernel<<<grid_blocks(cache.num_slots, block_threads), block_threads, 0, exec.stream>>>(cache, rows.data(),
                                                                                              std::ssize(rows));
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void mark_known(cache_view const& cache, row_ids const& ids, std::uint32_t batch, gpu_exec const& exec)
{
  if (ids.size() == 0) { return; }
  known_kernel<<<grid_blocks(ids.size(), block_threads), block_threads, 0, exec.stream>>>(cache, ids.data(), ids.size(),
                                                                                          cache_rule::bit_of(batch));
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void serve_batch(cache_view const& cache, row_ids const& ids, std::uint32_t now, gpu_cache_step::state& step,
                 made_counts* counts, gpu_exec const& exec)
{
  std::int64_t const size = ids.size();
  if (size == 0) { return; }
  bool const changes = cache.rule.policy != cache_policy::fixed && cache.num_slots > 0;
  memory_resource& memory = memory_of(exec);
  buffer<std::uint32_t> keys(size, memory), places(size, memory), sorted(size, memory);
  buffer<std::uint16_t> bins(changes ? size : 0, memory);
  buffer<unsigned int> histograms(changes ? 2 * cache_rule::num_bins : 0, memory);
  unsigned int* const missed_bins = histograms.data();
  unsigned int* const slot_bins = changes ? missed_bins + cache_rule::num_bins : nullptr;
  set_all(histograms.data(), histograms.size(), 0, exec);

  unsigned const blocks = grid_blocks(size, block_threads, most_blocks);
  classify_kernel<<<blocks, block_threads, 0, exec.stream>>>(cache, ids.data(), size, now, keys.data(), places.data(),
                                                             counts);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  int const bits =
      std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(cache.num_rows + cache.num_slots))));
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys.data(), sorted.data(), places.data(),
                                           step.places.data(), static_cast<int>(size), 0, bits, exec.stream);
  });
  missed_kernel<<<blocks, block_threads, 0, exec.stream>>>(cache, sorted.data(), size, now, step.rows.data(),
                                                           bins.data(), missed_bins, counts);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  if (!changes) { return; }

  std::int64_t const most = std::min(size, cache.num_slots);
  step.kept = buffer<std::uint32_t>(most, memory);
  step.kept_slots = buffer<std::uint32_t>(most, memory);
  buffer<std::uint16_t> bins_of_slots(cache.num_slots, memory);
  buffer<cache_change> change(1, memory);
  slots_kernel<<<grid_blocks(cache.num_slots, block_threads, most_blocks), block_threads, 0, exec.stream>>>(
      cache, now, bins_of_slots.data(), slot_bins);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  change_kernel<<<1, 1, 0, exec.stream>>>(missed_bins, slot_bins, change.data(), counts);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  choose(marks_of_missed{bins.data(), change.data()}, size, step.kept, exec);
  choose(marks_of_slots{bins_of_slots.data(), change.data()}, cache.num_slots, step.kept_slots, exec);
  apply_kernel<<<grid_blocks(most, block_threads), block_threads, 0, exec.stream>>>(
      cache, change.data(), step.rows.data(), step.kept.data(), step.kept_slots.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
