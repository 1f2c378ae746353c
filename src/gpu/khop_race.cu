// Weighted picks of k-hop trees without replacement: the k best of a race over the whole neighbourhood, exact to the
// bit. The rule, and why filters leave the result alone: src/core/race.hpp. CPU twin: src/cpu/race.hpp.
//
// Up to 32 picks of up to 4,096 edges are a warp's work: it reads 128 weights at a time, draws a block a lane, and only
// for candidates that may beat the k-th best so far the exact key. The winners so far are a sorted list, one a lane;
// few new ones are inserted one by one, many are sorted by a network and merged. Larger neighbourhoods and more picks
// are a block's: candidates that beat the k-th best go to a buffer, and a full buffer is sorted and cut to k. An edge
// costs 4 bytes of reading and a quarter of a block of random bits.

#include <bit>

#include "core/race.hpp"
#include "gpu/khop_part.cuh"

namespace tendril::gpu {
namespace {

constexpr int race_threads = 256;
constexpr std::uint32_t race_warps = race_threads / warp_size;
constexpr std::uint32_t most_warp_degree = 4096;
constexpr std::uint32_t most_warp_picks = warp_size;
constexpr std::uint32_t merged_at_once = 6;  // new winners, from which on sorting them all is cheaper than inserting
constexpr std::uint32_t least_buffer = 512;  // entries
constexpr std::size_t most_shared_bytes = 64 << 10;
constexpr std::int64_t most_scratch_bytes = std::int64_t{2} << 30;

/// Four candidates of a lane: i, i + 32, i + 64 and i + 96 of a stretch of 128.
struct four_candidates {
  float weights[4];
  core::random_block high;
  unsigned passing = 0;  ///< A bit a candidate.

  /// Reads a stretch and filters it. Lane l of a warp has candidate `at` + l and its like. Any lane.
  __device__ __forceinline__ four_candidates(khop_part const& part, khop_place const& place, vertex_row const& row,
                                             std::uint32_t at, core::race_filter filter)
  {
    float const* const from = part.graph.weights + row.first + at;
    std::uint32_t const left = row.degree - at;
    auto const lane = static_cast<std::uint32_t>(lane_id());
#pragma unroll
    for (std::uint32_t word = 0; word < 4; ++word) {
      std::uint32_t const i = word * core::race_lanes + lane;
      weights[word] = i < left ? from[i] : 0.0F;
    }
    high = core::race_high_block(part.key, place.root, place.slot, 0, at / 4 + lane);
#pragma unroll
    for (std::uint32_t word = 0; word < 4; ++word) {
      passing |= filter.may_win(high.word[word], weights[word]) ? 1U << word : 0U;
    }
  }

  /// Of a candidate, without an index that would put it into memory. Any lane.
  [[nodiscard]] __device__ __forceinline__ float weight(std::uint32_t word) const
  {
    float const even = (word & 2U) == 0 ? weights[0] : weights[2];
    float const odd = (word & 2U) == 0 ? weights[1] : weights[3];
    return (word & 1U) == 0 ? even : odd;
  }

  /// The candidate's entry if it may win, else race_nobody. Any lane.
  [[nodiscard]] __device__ std::uint64_t entry(khop_part const& part, khop_place const& place, std::uint32_t at,
                                               std::uint32_t word, core::race_filter filter) const
  {
    std::uint32_t const own_high = core::select_word(high, word);
    float const own_weight = weight(word);
    if ((passing >> word & 1U) == 0 || !filter.may_win(own_high, own_weight)) { return core::race_nobody; }
    std::uint32_t const i = at + word * core::race_lanes + static_cast<std::uint32_t>(lane_id());
    return core::race_entry_of(part.short_key, place.root, place.slot, 0, i, own_high, own_weight);
  }
};

/// 32 entries, one a lane, ascending. All members: the whole warp, converged.
class warp_list {
 public:
  [[nodiscard]] __device__ std::uint64_t entry() const { return own_; }
  [[nodiscard]] __device__ std::uint64_t at(std::uint32_t rank) const
  {
    return __shfl_sync(full_warp, own_, static_cast<int>(rank));
  }

  /// Puts one entry, the same in all lanes, into its place.
  __device__ void insert(std::uint64_t entry)
  {
    auto const rank = static_cast<std::uint32_t>(__popc(__ballot_sync(full_warp, own_ < entry)));
    std::uint64_t const before = __shfl_up_sync(full_warp, own_, 1);
    auto const lane = static_cast<std::uint32_t>(lane_id());
    own_ = lane < rank ? own_ : lane == rank ? entry : before;
  }

  /// The 32 smallest of the list and of one entry a lane: a bitonic sort, and half of a merge (Batcher, 1968).
  __device__ void merge(std::uint64_t entry)
  {
    auto const lane = static_cast<unsigned>(lane_id());
    for (unsigned size = 2; size < warp_size; size *= 2) {
      for (unsigned stride = size / 2; stride > 0; stride /= 2) { exchange(entry, stride, (lane & size) == 0); }
    }
    // Sorted downwards at last: then the smaller ones of both lists, lane by lane, are the 32 smallest, and bitonic.
    for (unsigned stride = warp_size / 2; stride > 0; stride /= 2) { exchange(entry, stride, false); }
    own_ = min(own_, entry);
    for (unsigned stride = warp_size / 2; stride > 0; stride /= 2) { exchange(own_, stride, true); }
  }

 private:
  static __device__ __forceinline__ void exchange(std::uint64_t& value, unsigned stride, bool ascending)
  {
    std::uint64_t const other = __shfl_xor_sync(full_warp, value, static_cast<int>(stride));
    bool const is_lower = (static_cast<unsigned>(lane_id()) & stride) == 0;
    value = is_lower == ascending ? min(value, other) : max(value, other);
  }

  std::uint64_t own_ = core::race_nobody;
};

/// The best k <= 32 of a race, rank l in lane l; what comes after rank k - 1 doesn't count. Whole warp, converged.
__device__ std::uint64_t warp_winners(khop_part const& part, khop_place const& place, vertex_row const& row,
                                      std::uint32_t k)
{
  warp_list list;
  std::uint64_t last = core::race_nobody;
  core::race_filter filter = core::race_filter::against(last);
  for (std::uint32_t at = 0; at < row.degree; at += core::race_stretch) {
    four_candidates const own(part, place, row, at, filter);
    if (!__any_sync(full_warp, own.passing != 0)) { continue; }
#pragma unroll 1
    for (std::uint32_t word = 0; word < 4; ++word) {
      if (!__any_sync(full_warp, (own.passing >> word & 1U) != 0)) { continue; }
      std::uint64_t const entry = own.entry(part, place, at, word, filter);
      unsigned better = __ballot_sync(full_warp, entry < last);
      if (better == 0) { continue; }
      if (static_cast<std::uint32_t>(__popc(better)) >= merged_at_once) {
        list.merge(entry);
      } else {
        for (; better != 0; better &= better - 1) {
          list.insert(__shfl_sync(full_warp, entry, __ffs(static_cast<int>(better)) - 1));
        }
      }
      last = list.at(k - 1);
      filter = core::race_filter::against(last);
    }
  }
  return list.entry();
}

/// Where the buffers of blocks lie.
struct race_space {
  std::uint32_t capacity;  ///< Entries of a buffer: a power of two, at least k + race_threads.
  std::uint64_t* scratch;  ///< [blocks, capacity]; null: shared memory.
};

/// A race by a whole block. All members: all threads of the block, converged.
class block_race {
 public:
  __device__ block_race(std::uint64_t* entries, std::uint32_t capacity, std::uint32_t* count)
      : entries_(entries), capacity_(capacity), count_(count)
  {
  }

  /// Leaves the best at the beginning of the buffer, ascending; returns their number, at most k.
  __device__ std::uint32_t run(khop_part const& part, khop_place const& place, vertex_row const& row, std::uint32_t k)
  {
    if (threadIdx.x == 0) { *count_ = 0; }
    __syncthreads();
    std::uint32_t size = 0;  // *count_, as all threads know it between two barriers
    std::uint64_t last = core::race_nobody;
    core::race_filter filter = core::race_filter::against(last);
    std::uint32_t const num_stretches = (row.degree - 1) / core::race_stretch + 1;
    for (std::uint32_t first = 0; first < num_stretches; first += race_warps) {
      std::uint32_t const stretch = first + threadIdx.x / warp_size;
      vertex_row const none{row.first, 0};
      bool const exists = stretch < num_stretches;
      std::uint32_t const at = exists ? stretch * core::race_stretch : 0;
      four_candidates const own(part, place, exists ? row : none, at, filter);
      if (__syncthreads_or(own.passing != 0 ? 1 : 0) == 0) { continue; }
#pragma unroll 1
      for (std::uint32_t word = 0; word < 4; ++word) {
        std::uint64_t const entry = own.entry(part, place, at, word, filter);
        bool const is_better = entry < last;
        if (is_better) { entries_[atomicAdd(count_, 1U)] = entry; }
        size += static_cast<std::uint32_t>(__syncthreads_count(is_better ? 1 : 0));
        if (size + race_threads > capacity_) {
          size = cut(size, k);
          last = size == k ? entries_[k - 1] : core::race_nobody;
          filter = core::race_filter::against(last);
        }
      }
    }
    return cut(size, k);
  }

 private:
  /// Sorts the buffer and forgets what is beyond the k best; returns its new size.
  __device__ std::uint32_t cut(std::uint32_t size, std::uint32_t k)
  {
    std::uint32_t n = 2;  // not above the capacity, which is a power of two too
    while (n < size) { n *= 2; }
    for (std::uint32_t i = size + threadIdx.x; i < n; i += race_threads) { entries_[i] = core::race_nobody; }
    if (threadIdx.x == 0) { *count_ = min(size, k); }
    __syncthreads();
    for (std::uint32_t length = 2; length <= n && length != 0; length *= 2) {
      for (std::uint32_t stride = length / 2; stride > 0; stride /= 2) {
        for (std::uint32_t i = threadIdx.x; i < n / 2; i += race_threads) {
          std::uint32_t const a = 2 * i - (i & (stride - 1));
          std::uint32_t const b = a + stride;
          std::uint64_t const x = entries_[a];
          std::uint64_t const y = entries_[b];
          if ((x > y) == ((a & length) == 0)) {
            entries_[a] = y;
            entries_[b] = x;
          }
        }
        __syncthreads();
      }
    }
    return min(size, k);
  }

  std::uint64_t* entries_;
  std::uint32_t capacity_;
  std::uint32_t* count_;  // shared
};

__device__ __forceinline__ std::uint32_t pick_of(std::uint64_t entry)
{
  return core::race_has_winner(entry) ? core::race_index(entry) : core::no_pick;
}

/// A parent by the whole block: the race, and all slots of its.
__device__ void expand_by_block(khop_part const& part, block_race& race, std::uint64_t const* entries,
                                std::uint32_t parent, vertex_row const& row, std::uint32_t k)
{
  std::uint32_t const found = row.degree > 0 ? race.run(part, place_of(part, parent), row, k) : 0;
  for (std::uint32_t slot = threadIdx.x; slot < part.fanout; slot += race_threads) {
    write_pick(part, parent, slot, row.first, slot < found ? pick_of(entries[slot]) : core::no_pick);
  }
  __syncthreads();  // the buffer is read before it is filled again
}

/// `by_warps`: at most 32 picks. Then a block takes a parent a warp, and afterwards together those with many edges;
/// else a parent at a time. In a loop over the grid.
template <bool by_warps>
__global__ __launch_bounds__(race_threads) void race_kernel(khop_part const __grid_constant__ part,
                                                            race_space const space, std::uint32_t const k)
{
  extern __shared__ std::uint64_t shared_entries[];
  __shared__ std::uint32_t count;
  std::uint64_t* const entries =
      space.scratch == nullptr ? shared_entries : space.scratch + std::size_t{blockIdx.x} * space.capacity;
  block_race race(entries, space.capacity, &count);
  constexpr std::uint32_t a_block = by_warps ? race_warps : 1;
  for (std::uint32_t first = blockIdx.x * a_block; first < part.num_parents; first += gridDim.x * a_block) {
    if constexpr (by_warps) {
      std::uint32_t const parent = first + threadIdx.x / warp_size;
      bool is_large = false;
      if (parent < part.num_parents) {
        vertex_row const row = row_of_parent(part, parent);
        is_large = row.degree > most_warp_degree;
        if (!is_large) {
          std::uint64_t entry = core::race_nobody;
          if (row.degree > 0) { entry = warp_winners(part, place_of(part, parent), row, k); }
          auto const slot = static_cast<std::uint32_t>(lane_id());
          if (slot < part.fanout) { write_pick(part, parent, slot, row.first, pick_of(entry)); }
        }
      }
      if (__syncthreads_or(is_large ? 1 : 0) == 0) { continue; }
    }
    for (std::uint32_t parent = first; parent < min(first + a_block, part.num_parents); ++parent) {
      vertex_row const row = row_of_parent(part, parent);
      if (by_warps && row.degree <= most_warp_degree) { continue; }
      expand_by_block(part, race, entries, parent, row, k);
    }
  }
}

template <bool by_warps>
void enqueue_races(khop_job const& job, gpu_exec const& exec)
{
  std::uint32_t const k = std::clamp(job.most_picks, 1U, 0x40000000U);
  std::uint32_t const capacity = std::max({least_buffer, std::bit_ceil(2 * k), std::bit_ceil(k + race_threads)});
  std::int64_t const bytes = std::int64_t{capacity} * 8;
  bool const in_shared = bytes <= static_cast<std::int64_t>(most_shared_bytes);
  std::size_t const shared_bytes = in_shared ? static_cast<std::size_t>(bytes) : 0;
  auto* const kernel = race_kernel<by_warps>;
  TENDRIL_CUDA_TRY(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(most_shared_bytes)));
  // Without scratch, more blocks than run at once even out what is left at the end.
  std::int64_t most = 1 << 30;
  if (!in_shared) {
    most = resident_blocks(kernel, race_threads, shared_bytes, exec.device);
    most = std::clamp<std::int64_t>(most_scratch_bytes / bytes, 1, most);
    most = std::min(most, job.parents.size);
  }
  buffer<std::uint64_t> scratch(in_shared ? 0 : most * capacity, memory_of(exec));
  race_space const space{capacity, in_shared ? nullptr : scratch.data()};
  constexpr std::int64_t a_block = by_warps ? race_warps : 1;
  for_each_part(job, 2, [&](khop_part const& part) {
    auto const blocks = static_cast<unsigned>(std::min(most, (part.num_parents + a_block - 1) / a_block));
    kernel<<<blocks, race_threads, shared_bytes, exec.stream>>>(part, space, k);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  });
}

}  // namespace

void race_hop(khop_job const& job, gpu_exec const& exec)
{
  if (job.most_picks <= most_warp_picks && job.fanout <= most_warp_picks) {
    enqueue_races<true>(job, exec);
  } else {
    enqueue_races<false>(job, exec);
  }
}

}  // namespace tendril::gpu
