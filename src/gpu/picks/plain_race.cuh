// One race over a neighbourhood by one warp, for walkers whose trials ran out: rare, so it is the plain form, without
// what tendril/engine/walks/warp_race.cuh does for walks that are nothing but races. The rule: src/core/race.hpp.

#pragma once

#include <tendril/engine/walks/warp_race.cuh>  // warp_min

#include "core/race.hpp"
#include "gpu/device/launch.cuh"

namespace tendril::gpu {

/// The winner's entry of a race over `size` candidates, in every lane: what core::race_one gives. Whole warp, converged,
/// with equal arguments; weight_of is called by single lanes.
template <class WeightOf>
__device__ std::uint64_t plain_race(std::uint32_t size, WeightOf weight_of, rng_key key, std::uint64_t item,
                                    std::uint32_t step, std::uint32_t first_draw)
{
  std::uint64_t best = core::race_none;
  core::race_filter filter = core::race_filter::against(best);
  std::uint32_t const num_stretches = size / core::race_stretch + (size % core::race_stretch != 0 ? 1 : 0);
  for (std::uint32_t stretch = 0; stretch < num_stretches; ++stretch) {
    core::random_block const block =
        core::race_high_block(key, item, step, first_draw, stretch * core::race_lanes + lane_id());
#pragma unroll
    for (std::uint32_t word = 0; word < 4; ++word) {
      std::uint32_t const within = word * core::race_lanes + lane_id();
      if (within >= size - stretch * core::race_stretch) { continue; }
      std::uint32_t const i = stretch * core::race_stretch + within;
      float const weight = weight_of(i);
      if (!filter.may_win(block.word[word], weight)) { continue; }
      std::uint64_t const entry = core::race_entry_of(key, item, step, first_draw, i, block.word[word], weight);
      if (entry < best) {
        best = entry;
        filter = core::race_filter::against(best);
      }
    }
  }
  return engine::warp_min(best);
}

}  // namespace tendril::gpu
