// The bookkeeping of a cache of rows on a GPU. One histogram of the missed rows' bins and one of the slots' tell how many rows
// come in and which; prefix sums number the missed rows, and those and the slots that are chosen. Nothing waits for the host:
// sizes are those of the batch and of the cache, and the host reads the counts when it gathers. The rule:
// src/core/cache_rule.hpp. CPU twin: src/features/row_cache.cpp.

#include <algorithm>
#include <cstdint>

#include <cuda_runtime.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda/functional>

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
    if (slot < cache.num_slots) { atomicOr(cache.slot_states + slot, bit); }
  }
}

/// Marks the batch's rows as used, and finds the slots of those that are there. A missed row gets, in the place of its slot,
/// the first place in the batch where it is: so that it comes in once.
__global__ __launch_bounds__(block_threads) void classify_kernel(cache_view cache, vertex_id const* ids,
                                                                 std::int64_t size, std::uint32_t now, bool changes,
                                                                 std::uint32_t* sources, made_counts* counts)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    vertex_id const row = ids[i];
    if (row >= cache.num_rows) {
      atomicMin(&counts->first_bad, static_cast<unsigned long long>(i));
      sources[i] = 0;  // a batch that is refused
      continue;
    }
    std::uint32_t const slot = cache.slot_of[row];
    bool const hit = slot < cache.num_slots;
    sources[i] = hit ? slot : no_vertex;
    if (!changes) { continue; }
    if (!hit) { atomicMin(cache.slot_of + row, cache.mark_of(i)); }
    if (cache.rule.policy == cache_policy::lookahead) {
      atomicAnd(cache.states + row, ~cache_rule::bit_of(now));
      if (hit) { atomicAnd(cache.slot_states + slot, ~cache_rule::bit_of(now)); }
    } else {
      cache.states[row] = now;
      if (hit) { cache.slot_states[slot] = now; }
    }
  }
}

/// 1 for a missed row.
struct is_missed {
  std::uint32_t const* sources;
  __device__ std::uint32_t operator()(std::int64_t i) const { return sources[i] == no_vertex ? 1U : 0U; }
};

/// A histogram of bins that a block adds up.
class block_bins {
 public:
  using counts = unsigned int[cache_rule::num_bins];

  /// All threads of a block, as in `add_to`. @param own  Shared.
  __device__ explicit block_bins(counts& own) : own_(own)
  {
    for (int b = static_cast<int>(threadIdx.x); b < cache_rule::num_bins; b += block_threads) { own_[b] = 0; }
    __syncthreads();
  }

  /// Any thread.
  __device__ void count(int bin) { atomicAdd(own_ + bin, 1U); }

  __device__ void add_to(unsigned int* histogram) const
  {
    __syncthreads();
    for (int b = static_cast<int>(threadIdx.x); b < cache_rule::num_bins; b += block_threads) {
      if (own_[b] != 0) { atomicAdd(histogram + b, own_[b]); }
    }
  }

 private:
  counts& own_;
};

/// Lists the missed rows, and finds their bins where the cache changes. All threads of a block.
/// @param before  How many rows are missed before each.
/// @param bins    [size] or null.
__global__ __launch_bounds__(block_threads) void missed_kernel(cache_view cache, vertex_id const* ids,
                                                               std::int64_t size, std::uint32_t now,
                                                               std::uint32_t const* before, std::uint32_t* sources,
                                                               vertex_id* missed, std::uint16_t* bins,
                                                               unsigned int* histogram, made_counts* counts)
{
  __shared__ block_bins::counts own;
  block_bins found(own);
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    bool const is_one = sources[i] == no_vertex;
    std::uint32_t const position = before[i];
    if (i + 1 == size) { counts->missed = position + (is_one ? 1 : 0); }
    int bin = no_bin;
    if (is_one) {
      vertex_id const row = ids[i];
      missed[position] = row;
      sources[i] = static_cast<std::uint32_t>(cache.num_slots) + position;
      if (bins != nullptr && cache.slot_of[row] == cache.mark_of(i)) {
        bin = cache.bin_of(row, cache.states[row], now);
        found.count(bin);
      }
    }
    if (bins != nullptr) { bins[i] = static_cast<std::uint16_t>(bin); }
  }
  if (bins != nullptr) { found.add_to(histogram); }
}

/// All threads of a block.
__global__ __launch_bounds__(block_threads) void slots_kernel(cache_view cache, std::uint32_t now, std::uint16_t* bins,
                                                              unsigned int* histogram)
{
  __shared__ block_bins::counts own;
  block_bins found(own);
  for (std::int64_t slot = global_thread(); slot < cache.num_slots; slot += grid_stride()) {
    int const bin = cache.slot_bin(slot, now);
    bins[slot] = static_cast<std::uint16_t>(bin);
    found.count(bin);
  }
  found.add_to(histogram);
}

/// One block, a thread a bin.
__global__ __launch_bounds__(cache_rule::num_bins) void change_kernel(unsigned int const* missed,
                                                                      unsigned int const* slots, cache_change* change,
                                                                      made_counts* counts)
{
  using scan = cub::BlockScan<std::int64_t, cache_rule::num_bins>;
  using most = cub::BlockReduce<std::int64_t, cache_rule::num_bins>;
  __shared__ union {
    typename scan::TempStorage scan;
    typename most::TempStorage most;
  } space;
  __shared__ std::int64_t size;
  auto const bin = static_cast<int>(threadIdx.x);
  std::int64_t const in = missed[bin], out = slots[bin];
  std::int64_t up_to = 0, out_up_to = 0, all_out = 0;
  scan(space.scan).InclusiveSum(in, up_to);
  __syncthreads();
  scan(space.scan).InclusiveSum(out, out_up_to, all_out);
  __syncthreads();
  std::int64_t const above = all_out - out_up_to;
  std::int64_t const found = most(space.most).Reduce(up_to < above ? up_to : above, cuda::maximum<>{});
  if (bin == 0) {
    size = found;
    *change = {found, 0, cache_rule::empty_bin, 0, 0};
    counts->kept = found;
  }
  __syncthreads();
  if (up_to >= size && up_to - in < size) {
    change->in_bin = bin;
    change->in_rest = size - (up_to - in);
  }
  if (above + out >= size && above < size) {
    change->out_bin = bin;
    change->out_rest = size - above;
  }
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

/// Takes back the marks of missed rows.
__global__ __launch_bounds__(block_threads) void unmark_kernel(cache_view cache, vertex_id const* ids,
                                                               std::uint16_t const* bins, std::int64_t size)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    if (bins[i] != no_bin) { cache.slot_of[ids[i]] = no_vertex; }
  }
}

/// @param kept  Places in the batch: becomes positions in the list of missed rows.
__global__ __launch_bounds__(block_threads) void apply_kernel(cache_view cache, cache_change const* change,
                                                              vertex_id const* ids, std::uint32_t const* sources,
                                                              std::uint32_t* kept, std::uint32_t const* kept_slots)
{
  for (std::int64_t i = global_thread(); i < change->size; i += grid_stride()) {
    std::uint32_t const place = kept[i];
    vertex_id const row = ids[place];
    std::uint32_t const slot = kept_slots[i];
    if (cache.content[slot] != no_vertex) { cache.slot_of[cache.content[slot]] = no_vertex; }
    cache.content[slot] = row;
    cache.slot_of[row] = slot;
    cache.slot_states[slot] = cache.states[row];
    kept[i] = sources[place] - static_cast<std::uint32_t>(cache.num_slots);
  }
}

template <class T>
void set_all(T* to, std::int64_t size, int byte, gpu_exec const& exec)
{
  if (size == 0) { return; }
  TENDRIL_CUDA_TRY(cudaMemsetAsync(to, byte, static_cast<std::size_t>(size) * sizeof(T), exec.stream));
}

/// The sum of the values before each. [size]
template <class Sum, class Values>
buffer<Sum> sums_before(Values const& values, std::int64_t size, gpu_exec const& exec)
{
  buffer<Sum> before(size, memory_of(exec));
  auto const input = thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), values);
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, input, before.data(), size, exec.stream);
  });
  return before;
}

template <class Marks>
void choose(Marks const& marks, std::int64_t size, buffer<std::uint32_t>& chosen, gpu_exec const& exec)
{
  auto const before = sums_before<std::uint64_t>(marks, size, exec);
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
  buffer<std::uint16_t> bins(changes ? size : 0, memory);
  buffer<unsigned int> histograms(changes ? 2 * cache_rule::num_bins : 0, memory);
  unsigned int* const slot_bins = changes ? histograms.data() + cache_rule::num_bins : nullptr;
  set_all(histograms.data(), histograms.size(), 0, exec);

  unsigned const blocks = grid_blocks(size, block_threads, most_blocks);
  std::uint32_t* const sources = step.sources.data();
  classify_kernel<<<blocks, block_threads, 0, exec.stream>>>(cache, ids.data(), size, now, changes, sources, counts);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  auto const before = sums_before<std::uint32_t>(is_missed{sources}, size, exec);
  missed_kernel<<<blocks, block_threads, 0, exec.stream>>>(cache, ids.data(), size, now, before.data(), sources,
                                                           step.missed.data(), bins.data(), histograms.data(), counts);
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
  change_kernel<<<1, cache_rule::num_bins, 0, exec.stream>>>(histograms.data(), slot_bins, change.data(), counts);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  choose(marks_of_missed{bins.data(), change.data()}, size, step.kept, exec);
  choose(marks_of_slots{bins_of_slots.data(), change.data()}, cache.num_slots, step.kept_slots, exec);
  unmark_kernel<<<blocks, block_threads, 0, exec.stream>>>(cache, ids.data(), bins.data(), size);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  apply_kernel<<<grid_blocks(most, block_threads), block_threads, 0, exec.stream>>>(
      cache, change.data(), ids.data(), sources, step.kept.data(), step.kept_slots.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
