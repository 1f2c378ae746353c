// Work sharing: warps without walks help warps that scan long neighbourhoods, in any block. No warp waits for helpers.
// While the pool has walks, every warp is busy with its own walk, and one warp alone scans a very long neighbourhood.
// Once the pool is empty (or if it was small from the beginning), a scan is cut into chunks that idle warps take. The
// minimum of a race's entries doesn't depend on their order, so the result is the same.

#pragma once

#include <cstdint>

#include <tendril/engine/walks/walk_pool.cuh>

namespace tendril::engine {

/// A value without gaps, or one that says nothing, that another warp has stored, read past the first-level cache. Any thread.
template <class T>
__device__ __forceinline__ T fresh(T const* from)
{
  if constexpr (__is_empty(T)) {
    return {};
  } else {
    words_of<T> out;
#pragma unroll
    for (std::size_t k = 0; k < words_of<T>::size; ++k) {
      out.word[k] = __ldcg(reinterpret_cast<unsigned long long const*>(from) + k);
    }
    return __builtin_bit_cast(T, out);
  }
}

/// The interface of one warp to work sharing. All members: the whole warp, converged.
template <class W, class View>
class board_user {
 public:
  using state_type = basic_walk_state<View>;
  using row_type = typename View::row_type;

  __device__ board_user(work_sharing const& board, W const& walk, dynamic_setup<View> const& setup)
      : board_(board), walk_(walk), setup_(setup)
  {
    self_ = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (lane() == 0) { scan_of(self_).users = 0; }  // no warp reads this before the scan is open
    if (threadIdx.x == 0) { atomicAdd(&board_.desk->started, 1U); }
  }

  /// The winner of the race over a whole neighbourhood, in every lane.
  [[nodiscard]] __device__ std::uint64_t race(state_type const& state, row_type const& row) const
  {
    warp_race<W, View> race(walk_, setup_, state, row);
    std::uint32_t const size = race.size();
    // Lanes may read different values of a number that is changing: __any_sync makes one decision for all lanes.
    if (size >= board_.share_from && __any_sync(full_warp, __ldcg(&board_.desk->idle) != 0)) {
      return lead(state, race);
    }
    race.scan(0, size);
    return race.result();
  }

  /// Helps until `num_walks` walks are finished. While blocks wait for room on the GPU, which another kernel may hold that waits for
  /// room as well, a warp without work leaves instead of waiting for walks of theirs.
  __device__ void help(std::int64_t num_walks) const
  {
    if (lane() == 0) { atomicAdd(&board_.desk->idle, 1U); }
    std::uint32_t const num_words = (board_.num_warps + 31) / 32;
    std::uint32_t at = self_ / 32;  // start with the neighbours' scans
    while (!__any_sync(full_warp, __ldcg(&board_.desk->finished) >= static_cast<unsigned long long>(num_walks))) {
      bool helped = false;
      for (std::uint32_t seen = 0; seen < num_words && !helped; seen += 32) {
        std::uint32_t const word = (at + seen + lane()) % num_words;
        unsigned const bits = seen + lane() < num_words ? __ldcg(board_.open + word) : 0;
        unsigned const lanes = __ballot_sync(full_warp, bits != 0);
        if (lanes == 0) { continue; }
        int const source = __ffs(static_cast<int>(lanes)) - 1;
        unsigned const found = __shfl_sync(full_warp, bits, source);
        at = __shfl_sync(full_warp, word, source);
        helped = join(at * 32 + some_bit(found));
      }
      if (helped) { continue; }
      if (__any_sync(full_warp, __ldcg(&board_.desk->started) < gridDim.x)) { break; }
      __nanosleep(500);
    }
  }

 private:
  using scan_type = shared_scan<View>;
  static_assert(sizeof(scan_type) == shared_scan_bytes);

  [[nodiscard]] __device__ scan_type& scan_of(std::uint32_t warp) const
  {
    return static_cast<scan_type*>(board_.scans)[warp];
  }

  /// Selects one of the set bits, a different one for each warp.
  [[nodiscard]] __device__ std::uint32_t some_bit(unsigned bits) const
  {
    unsigned const turned = __funnelshift_r(bits, bits, self_);
    return (static_cast<std::uint32_t>(__ffs(static_cast<int>(turned))) - 1 + self_) % 32;
  }

  /// Takes chunks of a scan until none are left; stores the entry in the scan. @return whether there was a chunk.
  __device__ bool work(scan_type& scan, warp_race<W, View>& race) const
  {
    std::uint32_t const size = race.size();
    std::uint32_t const chunk = board_.share_chunk;
    std::uint32_t const num_chunks = size / chunk + (size % chunk != 0 ? 1 : 0);
    bool any = false;
    while (true) {
      unsigned number = 0;
      unsigned reach = 0;
      if (lane() == 0) {
        number = atomicAdd(&scan.next, 1U);
        reach = atomicMin(&scan.reach, __float_as_uint(race.reach()));
      }
      number = __shfl_sync(full_warp, number, 0);
      if (number >= num_chunks) { break; }
      race.tighten(__uint_as_float(__shfl_sync(full_warp, reach, 0)));
      race.scan(number * chunk, number * chunk + min(chunk, size - number * chunk));
      any = true;
    }
    if (any) {
      std::uint64_t const best = race.result();
      if (lane() == 0) { atomicMin(&scan.best, static_cast<unsigned long long>(best)); }
    }
    return any;
  }

  /// Runs a race that other warps may help with.
  __device__ std::uint64_t lead(state_type const& state, warp_race<W, View>& race) const
  {
    scan_type& scan = scan_of(self_);
    unsigned const bit = 1U << (self_ % 32);
    if (lane() == 0) {
      scan.walk = state.walk;
      scan.best = core::race_none;
      scan.previous_edge = state.previous_edge;
      scan.step = state.step;
      scan.start = state.start;
      scan.vertex = state.vertex;
      scan.previous = state.previous;
      scan.largest_weight = state.largest_weight;
      scan.reach = 0x7f800000U;
      scan.next = 0;
      __threadfence();
      atomicOr(board_.open + self_ / 32, bit);
    }
    work(scan, race);
    std::uint64_t best = 0;
    if (lane() == 0) {
      // Every chunk is taken, by warps that are counted in `users`. A warp that joins after this finds the scan closed.
      atomicAnd(board_.open + self_ / 32, ~bit);
      __threadfence();
      while (atomicAdd(&scan.users, 0U) != 0) { __nanosleep(100); }
      __threadfence();
      best = atomicAdd(&scan.best, 0ULL);
    }
    return __shfl_sync(full_warp, best, 0);
  }

  /// Helps warp `owner`, if its scan is still open. @return whether there was work to do.
  __device__ bool join(std::uint32_t owner) const
  {
    scan_type& scan = scan_of(owner);
    unsigned still_open = 0;
    if (lane() == 0) {
      atomicAdd(&scan.users, 1U);
      __threadfence();
      still_open = atomicOr(board_.open + owner / 32, 0U) >> (owner % 32) & 1U;
      __threadfence();
    }
    bool const opened = __shfl_sync(full_warp, still_open, 0) != 0;
    bool any = false;
    if (opened) {
      state_type state = first_state(setup_, __ldcg(&scan.walk), __ldcg(&scan.start));
      state.step = __ldcg(&scan.step);
      state.vertex = __ldcg(&scan.vertex);
      state.previous = __ldcg(&scan.previous);
      state.previous_edge = fresh(&scan.previous_edge);
      state.largest_weight = __ldcg(&scan.largest_weight);
      row_type const row = setup_.row(state.vertex);
      warp_race<W, View> race(walk_, setup_, state, row);
      any = work(scan, race);
    }
    __syncwarp();
    if (lane() == 0) {
      __threadfence();
      atomicSub(&scan.users, 1U);
    }
    return any;
  }

  work_sharing const& board_;
  W const& walk_;
  dynamic_setup<View> const& setup_;
  std::uint32_t self_;  // the warp's number in the grid
};

}  // namespace tendril::engine
