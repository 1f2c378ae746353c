// How many picks, and how many first appearances, come before a slot in its batch: running sums that begin anew where a
// batch begins, worked out from a word of flags for each row of 32 slots, then over warps, then over tiles (decoupled
// look-back: Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016). Host and device
// code, but for what a tile does with others.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

namespace tendril::gpu {

/// What a stretch of slots adds up to since the last batch began in it; `cut` says that one did.
struct rank_sum {
  std::uint32_t edges = 0;
  std::uint32_t firsts = 0;
  bool cut = false;

  friend bool operator==(rank_sum const&, rank_sum const&) = default;
};

/// A stretch, and the one behind it. Associative.
[[nodiscard]] TENDRIL_HD rank_sum joined(rank_sum const& a, rank_sum const& b)
{
  return b.cut ? b : rank_sum{a.edges + b.edges, a.firsts + b.firsts, a.cut};
}

/// A row of 32 slots: bit i is set if slot i has a pick, is the first of its vertex, is the first of its batch.
struct rank_row {
  std::uint32_t edges = 0;
  std::uint32_t firsts = 0;
  std::uint32_t heads = 0;
};

TENDRIL_HD std::uint32_t bits_in(std::uint32_t word)
{
#ifdef __CUDA_ARCH__
  return static_cast<std::uint32_t>(__popc(word));
#else
  return static_cast<std::uint32_t>(__builtin_popcount(word));
#endif
}

/// What comes before slot `lane` < 32 in its batch, given what comes before the row.
[[nodiscard]] TENDRIL_HD rank_sum rank_in_row(rank_row const& row, std::uint32_t lane, rank_sum const& before)
{
  std::uint32_t const below = (1U << lane) - 1U;
  std::uint32_t const heads = row.heads & (below | 1U << lane);
  if (heads == 0) {
    return {before.edges + bits_in(row.edges & below), before.firsts + bits_in(row.firsts & below), before.cut};
  }
#ifdef __CUDA_ARCH__
  std::uint32_t const last = 31U - static_cast<std::uint32_t>(__clz(static_cast<int>(heads)));
#else
  std::uint32_t const last = 31U - static_cast<std::uint32_t>(__builtin_clz(heads));
#endif
  std::uint32_t const since = below & ~((1U << last) - 1U);
  return {bits_in(row.edges & since), bits_in(row.firsts & since), true};
}

/// What the row and all before it add up to.
[[nodiscard]] TENDRIL_HD rank_sum behind_row(rank_row const& row, rank_sum const& before)
{
  rank_sum out = rank_in_row(row, 31, before);
  out.edges += row.edges >> 31U;
  out.firsts += row.firsts >> 31U;
  return out;
}

/// What a tile lets others know, in one word, so that it is seen whole or not at all. Sums are below 2^31.
struct tile_word {
  static constexpr unsigned long long nothing = 0;
  static constexpr unsigned long long own = 1;     ///< The sum of this tile alone, in which no batch begins.
  static constexpr unsigned long long so_far = 2;  ///< Everything since the batch began that its last slot belongs to.

  [[nodiscard]] static TENDRIL_HD unsigned long long of(unsigned long long what, rank_sum const& sum)
  {
    return what << 62U | static_cast<unsigned long long>(sum.edges) << 31U | sum.firsts;
  }
  [[nodiscard]] static TENDRIL_HD unsigned long long what(unsigned long long word) { return word >> 62U; }
  [[nodiscard]] static TENDRIL_HD std::uint32_t edges(unsigned long long word)
  {
    return static_cast<std::uint32_t>(word >> 31U) & 0x7fffffffU;
  }
  [[nodiscard]] static TENDRIL_HD std::uint32_t firsts(unsigned long long word)
  {
    return static_cast<std::uint32_t>(word) & 0x7fffffffU;
  }
};

#ifdef __CUDACC__

/// What the warps of a block share while they look back.
template <int Warps>
struct look_back_space {
  rank_sum sums[Warps];
  bool ended[Warps];
};

/// What a window of 32 tiles, from `nearest` back, adds up to, down to the nearest that knows everything so far; `ended`
/// says whether there was one. A whole warp; valid in every lane. Waits for tiles of the window.
__device__ inline rank_sum look_at_window(unsigned long long const* words, std::int64_t nearest, bool& ended)
{
  constexpr unsigned all_lanes = 0xffffffffU;
  auto const lane = static_cast<std::int64_t>(threadIdx.x % 32U);
  std::int64_t const at = nearest - lane;
  unsigned long long word = 0;
  unsigned open = 0;    // lanes whose tile has said nothing
  unsigned ending = 0;  // lanes whose tile knows everything so far; before the first tile there is nothing
  unsigned used = 0;
  do {
    word = at < 0 ? tile_word::of(tile_word::so_far, {}) : *const_cast<unsigned long long const volatile*>(words + at);
    open = __ballot_sync(all_lanes, tile_word::what(word) == tile_word::nothing);
    ending = __ballot_sync(all_lanes, tile_word::what(word) == tile_word::so_far);
    used = ending == 0 ? all_lanes : (ending & (0U - ending)) * 2U - 1U;  // up to the nearest of those
  } while ((open & used) != 0);
  bool const counts = (used >> lane & 1U) != 0;
  ended = ending != 0;
  rank_sum sum;
  sum.edges = __reduce_add_sync(all_lanes, counts ? tile_word::edges(word) : 0U);
  sum.firsts = __reduce_add_sync(all_lanes, counts ? tile_word::firsts(word) : 0U);
  return sum;
}

/// What comes before tile `tile` > 0: the sum over the tiles behind it, back to the nearest that knows everything so far;
/// each warp looks at 32 of them. The whole block; valid in every thread. Tiles are taken in order, so those before have
/// been taken by blocks that run, and say what they have without waiting for this one: waiting for them ends.
template <int Warps>
__device__ rank_sum look_back(unsigned long long const* words, std::int64_t tile, look_back_space<Warps>& space)
{
  auto const warp = static_cast<int>(threadIdx.x / 32U);
  rank_sum sum;
  for (std::int64_t nearest = tile - 1;; nearest -= 32 * Warps) {
    bool ended = false;
    rank_sum const own = look_at_window(words, nearest - 32 * warp, ended);
    if (threadIdx.x % 32U == 0) {
      space.sums[warp] = own;
      space.ended[warp] = ended;
    }
    __syncthreads();
    bool over = false;
    for (int w = 0; w < Warps && !over; ++w) {
      sum.edges += space.sums[w].edges;
      sum.firsts += space.sums[w].firsts;
      over = space.ended[w];
    }
    if (over) { return sum; }
    __syncthreads();  // all have read what the next windows overwrite
  }
}

#endif

}  // namespace tendril::gpu
