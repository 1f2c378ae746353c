// Steps that don't look at the vertex before: one draw where the proposer is exact, trials where it proposes uniformly
// and the weight decides. The rules: src/core. CPU twins: src/cpu/walks/scalar_step.hpp, src/cpu/walks/first_order.cpp.

#pragma once

#include "core/reject.hpp"
#include "gpu/walks/kernel.cuh"
#include "gpu/walks/proposers.cuh"

namespace tendril::gpu {

// Blocks of 256 threads a multiprocessor should hold at least (bench/walks, axis blocks). Four are enough to keep memory
// busy, and leave the first-level cache room for what is in flight; trials need registers more than company.
inline constexpr int direct_blocks = 4;
inline constexpr int trial_blocks = 2;

/// Blocks for draws of a proposer: what it asks for itself, if it does.
template <class Proposer>
inline constexpr int draw_blocks = direct_blocks;
template <class Proposer>
requires requires { Proposer::resident_blocks; }
inline constexpr int draw_blocks<Proposer> = Proposer::resident_blocks;

/// Where walks may start: a metapath of vertex types names the start's type too.
struct start_rule {
  label_view types;  ///< [num_vertices], or empty: anywhere.
  label_id wanted = 0;

  [[nodiscard]] __device__ bool operator()(vertex_id v) const { return types.empty() || types[v] == wanted; }
};

/// One draw decides a step.
template <class Proposer>
struct direct_steps {
  Proposer proposer;
  start_rule may_start_at;
  rng_key key;

  static constexpr bool can_tire = false;
  static constexpr int resident_blocks = draw_blocks<Proposer>;
  struct memory {
    typename Proposer::place here;
  };

  [[nodiscard]] __device__ bool at_first_trial(memory const&) const { return true; }

  __device__ void arrive(memory& m, vertex_id v, std::int32_t step) const { m.here = proposer.locate(v, step); }

  __device__ outcome attempt(memory& m, std::uint64_t walk, std::int32_t step) const
  {
    auto const p = proposer.propose(m.here, core::walk_draws(key, walk, step).block(0));
    if (p.next == no_vertex) { return {trial_outcome::dead, no_vertex}; }
    m.here = proposer.place_of(p, step + 1);
    return {trial_outcome::moved, p.next};
  }
};

/// Uniform proposals, accepted in proportion to their weights; where trials run out, an inverse transform.
template <class Proposer>
struct reject_steps {
  Proposer proposer;
  start_rule may_start_at;
  rng_key key;

  static constexpr bool can_tire = false;
  static constexpr int resident_blocks = trial_blocks;
  struct memory {
    typename Proposer::place here;
    std::uint32_t trial;
  };

  [[nodiscard]] __device__ bool at_first_trial(memory const& m) const { return m.trial == 0; }

  __device__ void arrive(memory& m, vertex_id v, std::int32_t step) const { m = {proposer.locate(v, step), 0}; }

  __device__ outcome attempt(memory& m, std::uint64_t walk, std::int32_t step) const
  {
    auto const draws = core::walk_draws(key, walk, step);
    if (m.trial == core::weighted_trial_limit(m.here.degree)) {
      vertex_id const next = proposer.invert(m.here, draws.block(m.trial).low());
      arrive(m, next, step + 1);
      return {trial_outcome::moved, next};
    }
    return core::run_trial<core::uniform_trials>(m.trial, draws, [&](auto const& bits, auto judgement) -> outcome {
      auto const p = proposer.propose(m.here, bits);
      if (p.next == no_vertex) { return {trial_outcome::dead, no_vertex}; }
      if (!core::accept(judgement(), p.weight, m.here.largest)) {
        ++m.trial;
        return {trial_outcome::rejected, no_vertex};
      }
      m = {proposer.place_of(p, step + 1), 0};
      return {trial_outcome::moved, p.next};
    });
  }
};

}  // namespace tendril::gpu
