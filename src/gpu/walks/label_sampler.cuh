// Metapaths that read labels at the step: the samplers that choose an edge of a whole row by any rule but scan, for kernels of dynamic
// walks. The rules: src/core/labelled_row.hpp.

#pragma once

#include <cstdint>

#include <tendril/engine/walks/scan_kernel.cuh>

#include "core/labelled_row.hpp"
#include "core/walk_apps.hpp"  // static_weight

namespace tendril::gpu {

/// A team of core::labelled_row. All members but lane(): whole warp, converged.
struct warp_team {
  static constexpr std::uint32_t lanes = 32;

  [[nodiscard]] static __device__ std::uint32_t lane() { return engine::lane(); }
  [[nodiscard]] static __device__ unsigned ballot(bool b) { return __ballot_sync(engine::full_warp, b); }
  [[nodiscard]] static __device__ float largest(float x)  // >= 0: bit patterns have the order of floats
  {
    return __uint_as_float(__reduce_max_sync(engine::full_warp, __float_as_uint(x)));
  }
  [[nodiscard]] static __device__ std::uint64_t total(std::uint64_t x)
  {
    for (unsigned step = 16; step > 0; step /= 2) { x += __shfl_xor_sync(engine::full_warp, x, step); }
    return x;
  }
  [[nodiscard]] static __device__ core::weight_sum running_total(core::weight_sum x)
  {
    for (unsigned step = 1; step < lanes; step *= 2) {
      core::weight_sum const below{__shfl_up_sync(engine::full_warp, x.all, step),
                                   __shfl_up_sync(engine::full_warp, x.light, step),
                                   __shfl_up_sync(engine::full_warp, x.lights, step)};
      if (lane() >= step) { x += below; }
    }
    return x;
  }
  template <class T>
  [[nodiscard]] static __device__ T from(T x, std::uint32_t lane)
  {
    return __shfl_sync(engine::full_warp, x, static_cast<int>(lane));
  }
};

/// The engine's sampler for a rule.
template <core::labelled_rule rule>
struct choose_by {
  template <class W, class View>
  class sampler {
   public:
    struct arguments {};

    __device__ sampler(arguments const&, W const& walk, engine::dynamic_terms const& setup) : walk_(walk), setup_(setup)
    {
    }

    /// The entry of the pick, as that of a race. Whole warp.
    [[nodiscard]] __device__ std::uint64_t choose(basic_walk_state<View> const& s, typename View::row_type const& row)
    {
      label_id const wanted = walk_.wanted_at(s.step);
      auto const matches = [&](std::uint32_t i) { return walk_.carries(s, basic_walk_edge<View>(row, i), wanted); };
      auto const weight_of = [&](std::uint32_t i) {
        return core::static_weight<rule != core::labelled_rule::uniform>(basic_walk_edge<View>(row, i));
      };
      std::uint32_t const pick = core::labelled_pick<rule>(warp_team{}, row.degree(), matches, weight_of,
                                                           core::walk_draws(setup_.step_key, s.walk, s.step));
      return pick == core::no_pick ? core::race_none : core::race_entry(1, pick);
    }
    __device__ void idle(std::int64_t) const {}

   private:
    W const& walk_;
    engine::dynamic_terms const& setup_;
  };
};

}  // namespace tendril::gpu
