// Weighted picks without replacement by a warp, for trees and mini-batches: the k best of a race over a neighbourhood,
// exact to the bit. The rule, and why filters leave the result alone: src/core/race.hpp. A block's: src/gpu/picks/block_race.cuh.
//
// A warp reads 128 weights at a time, draws a block a lane, and works out the exact key only for candidates that may beat
// the k-th best so far. The winners so far are a sorted list, one a lane; few new ones are inserted one by one, many are
// sorted by a network and merged. Where a guess pays (src/core/race_threshold_estimate.hpp) candidates that pass it are first gathered in
// shared memory: then whole warps work out keys, hardly more of them than are wanted. An edge costs 4 bytes of reading
// and a quarter of a block of random bits.
//
// `Source` is some candidates of a vertex, from begin(), a multiple of 128, to end(), and whose numbers they draw:
// weights() is that of candidate 0, high_block(offset) the upper halves of four, entry(i, high, weight) works out an entry.
// Any thread.

#pragma once

#include <cstdint>
#include <type_traits>

#include "core/draws.hpp"  // pick_race_draws
#include "core/its.hpp"    // no_pick
#include "core/race.hpp"
#include "core/race_threshold_estimate.hpp"
#include "gpu/device/launch.cuh"

namespace tendril::gpu {

inline constexpr std::uint32_t most_warp_picks = warp_size;
inline constexpr std::uint32_t merged_at_once = 6;  // new winners, from which on sorting them is cheaper than inserting
inline constexpr std::uint32_t stage_entries = 192;  // a warp's candidates in shared memory
static_assert(stage_entries > core::race_stretch);

/// A Source: the edges [first, last) of a vertex. `Draw`, draw(n), gives block n of the vertex's random bits; `Weights` is
/// what a row's weights() gives.
template <class Draw, class Weights>
struct edge_race {
  Draw draw;
  Weights own_weights;  ///< Of all its edges.
  std::uint32_t first, last;

  [[nodiscard]] __device__ std::uint32_t begin() const { return first; }
  [[nodiscard]] __device__ std::uint32_t end() const { return last; }
  [[nodiscard]] __device__ Weights weights() const { return own_weights; }
  [[nodiscard]] __device__ core::random_block high_block(std::uint32_t offset) const
  {
    return draw(core::pick_race_draws + offset);
  }
  [[nodiscard]] __device__ std::uint64_t entry(std::uint32_t i, std::uint32_t high, float weight) const
  {
    auto const low_block = [this](std::uint32_t offset) { return draw(core::pick_race_draws + offset); };
    return core::race_entry_by(low_block, i, high, weight);
  }
};

/// A race among the edges [begin, end) of vertex i of a part (src/gpu/picks/pick_kernels.cuh). Any thread.
template <class Part>
[[nodiscard]] __device__ __forceinline__ auto race_among(Part const& part, std::uint32_t i,
                                                         typename Part::vertex_type const& vertex, std::uint32_t begin,
                                                         std::uint32_t end)
{
  auto const draw = part.draws(i, vertex);
  auto const weights = part.weights(vertex);
  return edge_race<std::remove_const_t<decltype(draw)>, std::remove_const_t<decltype(weights)>>{draw, weights, begin,
                                                                                                end};
}

template <class Source>
__device__ __forceinline__ std::uint32_t size_of(Source const& source)
{
  return source.end() - source.begin();
}

/// Four candidates of a lane: i, i + 32, i + 64 and i + 96 of a stretch of 128.
struct four_candidates {
  float weights[4];
  core::random_block high;
  unsigned passing = 0;  ///< A bit a candidate.

  /// Reads a stretch. Lane l of a warp has candidate `at` + l and its like. Any lane.
  template <class Source>
  __device__ __forceinline__ four_candidates(Source const& source, std::uint32_t at)
  {
    auto const lane = static_cast<std::uint32_t>(lane_id());
    std::uint32_t const left = source.end() - at;
    auto const from = source.weights() + at + lane;  // one address, and four offsets that are constants
#pragma unroll
    for (std::uint32_t word = 0; word < 4; ++word) {
      weights[word] = word * core::race_lanes + lane < left ? from[word * core::race_lanes] : 0.0F;
    }
    high = source.high_block(at / 4 + lane);
  }

  __device__ __forceinline__ void judge(core::race_filter filter)
  {
    passing = 0;
#pragma unroll
    for (std::uint32_t word = 0; word < 4; ++word) {
      passing |= filter.may_win(high.word[word], weights[word]) ? 1U << word : 0U;
    }
  }

  /// Which lanes' candidate passes, a mask for each word. Whole warp, converged.
  __device__ __forceinline__ bool judge(core::race_filter filter, unsigned (&lanes)[4]) const
  {
#pragma unroll
    for (std::uint32_t word = 0; word < 4; ++word) {
      lanes[word] = __ballot_sync(full_warp, filter.may_win(high.word[word], weights[word]));
    }
    return (lanes[0] | lanes[1] | lanes[2] | lanes[3]) != 0;
  }

  [[nodiscard]] __device__ bool passes(std::uint32_t word) const { return (passing >> word & 1U) != 0; }

  /// Of a candidate, without an index that would put it into memory. Any lane.
  [[nodiscard]] __device__ __forceinline__ float weight(std::uint32_t word) const
  {
    float const even = (word & 2U) == 0 ? weights[0] : weights[2];
    float const odd = (word & 2U) == 0 ? weights[1] : weights[3];
    return (word & 1U) == 0 ? even : odd;
  }

  /// The candidate's entry if it may win, else race_none. Any lane.
  template <class Source>
  [[nodiscard]] __device__ std::uint64_t entry(Source const& source, std::uint32_t at, std::uint32_t word,
                                               core::race_filter filter) const
  {
    std::uint32_t const own_high = core::select_word(high, word);
    float const own_weight = weight(word);
    if (!passes(word) || !filter.may_win(own_high, own_weight)) { return core::race_none; }
    return source.entry(at + word * core::race_lanes + static_cast<std::uint32_t>(lane_id()), own_high, own_weight);
  }

  /// The sum of the warp's weights, the same in all lanes. Whole warp, converged.
  [[nodiscard]] __device__ __forceinline__ float weight_of_warp() const
  {
    float sum = weights[0] + weights[1] + (weights[2] + weights[3]);
#pragma unroll
    for (int other = warp_size / 2; other > 0; other /= 2) { sum += __shfl_xor_sync(full_warp, sum, other); }
    return __shfl_sync(full_warp, sum, 0);
  }
};

/// A candidate that passed, until its key is worked out: the upper half of its bits, and which it is.
__device__ __forceinline__ std::uint64_t staged_candidate(std::uint32_t high, std::uint32_t i)
{
  return (std::uint64_t{high} << 32U) | i;
}

/// The entry of a staged candidate, unless it can't win. What fills up the last stretch has weight 0, and passes a filter
/// if its bits are 0: it is no candidate. Any thread.
template <class Source>
__device__ __forceinline__ std::uint64_t entry_of_staged(Source const& source, std::uint64_t staged,
                                                         core::race_filter filter)
{
  auto const i = static_cast<std::uint32_t>(staged);
  auto const high = static_cast<std::uint32_t>(staged >> 32U);
  if (i >= source.end()) { return core::race_none; }
  float const weight = source.weights()[i];
  return filter.may_win(high, weight) ? source.entry(i, high, weight) : core::race_none;
}

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

  std::uint64_t own_ = core::race_none;
};

/// The best k <= 32 of a race, rank l in lane l; what comes after rank k - 1 doesn't count. Whole warp, converged.
template <class Source>
__device__ std::uint64_t race_by_warp(Source const& source, std::uint32_t k)
{
  warp_list list;
  std::uint64_t last = core::race_none;
  core::race_filter filter = core::race_filter::against(last);
  for (std::uint32_t at = source.begin(); at < source.end(); at += core::race_stretch) {
    four_candidates own(source, at);
    own.judge(filter);
    if (!__any_sync(full_warp, own.passing != 0)) { continue; }
#pragma unroll 1
    for (std::uint32_t word = 0; word < 4; ++word) {
      if (!__any_sync(full_warp, own.passes(word))) { continue; }
      std::uint64_t const entry = own.entry(source, at, word, filter);
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

/// The same by a guess. True if it held: then rank l is in `entry` of lane l.
/// @param wanted  core::race_threshold_sample(k)
/// @param stage   [stage_entries] of the warp, in shared memory.
template <class Source>
__device__ __forceinline__ bool guessed_race_by_warp(Source const& source, std::uint32_t k, float wanted,
                                                     std::uint64_t* stage, std::uint64_t& entry)
{
  auto const lane = static_cast<std::uint32_t>(lane_id());
  warp_list list;
  std::uint64_t last = core::race_none;
  core::race_threshold_estimate guess{};
  core::race_filter filter{};
  std::uint32_t count = 0;  // staged
  for (std::uint32_t at = source.begin(); at < source.end(); at += core::race_stretch) {
    four_candidates own(source, at);
    if (at == source.begin()) {
      guess = core::race_threshold_estimate::of(wanted, size_of(source), own.weight_of_warp(),
                                                min(core::race_stretch, size_of(source)));
      filter = guess.filter;
    }
    unsigned passing[4];
    if (own.judge(filter, passing)) {
#pragma unroll
      for (std::uint32_t word = 0; word < 4; ++word) {
        if ((passing[word] >> lane & 1U) != 0) {
          stage[count + static_cast<std::uint32_t>(__popc(passing[word] & ((1U << lane) - 1)))] =
              staged_candidate(own.high.word[word], at + word * core::race_lanes + lane);
        }
        count += static_cast<std::uint32_t>(__popc(passing[word]));
      }
    }
    bool const is_end = source.end() - at <= core::race_stretch;
    if (!is_end && count <= stage_entries - core::race_stretch) { continue; }
    __syncwarp();
#pragma unroll 1
    for (std::uint32_t first = 0; first < count; first += warp_size) {
      std::uint64_t own_entry = core::race_none;
      if (first + lane < count) { own_entry = entry_of_staged(source, stage[first + lane], filter); }
      if (!__any_sync(full_warp, own_entry < last)) { continue; }
      list.merge(own_entry);
      last = list.at(k - 1);
      core::race_filter const against = core::race_filter::against(last);
      if (against.reach < filter.reach) { filter = against; }
    }
    __syncwarp();  // the stage is read before it is filled again
    count = 0;
    if (is_end) { break; }  // the end may be near 2^32
  }
  entry = list.entry();
  return guess.holds(last);
}

/// The best k <= 32 of a race, by a guess where that pays.
/// @param wanted  0: no guess.
template <class Source>
__device__ __forceinline__ std::uint64_t race_by_warp(Source const& source, std::uint32_t k, float wanted,
                                                      std::uint64_t* stage)
{
  std::uint64_t entry = core::race_none;
  bool const known = core::race_threshold_estimate::pays(wanted, size_of(source)) &&
                     guessed_race_by_warp(source, k, wanted, stage, entry);
  return known ? entry : race_by_warp(source, k);
}

__device__ __forceinline__ std::uint32_t pick_of(std::uint64_t entry)
{
  return core::race_has_winner(entry) ? core::race_index(entry) : core::no_pick;
}

}  // namespace tendril::gpu
