// Steps that don't look at the vertex before: one draw where the proposer is exact, trials where it proposes uniformly
// and the weight decides. The rules: src/core. CPU twins: src/cpu/walks/scalar_step.hpp, src/cpu/walks/first_order.cpp.

#pragma once

#include "core/reject.hpp"
#include "gpu/walks/kernel.cuh"
#include "gpu/walks/proposers.cuh"

namespace tendril::gpu {

// Blocks of 256 threads a multiprocessor should hold at least (bench/walks, axis blocks). Four are enough to keep memory
// busy, and leave the first-level cache room for what is in flight; trials need registers more than company.
inline constexpr int direct_blocks = 4, trial_blocks = 2;

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

// What a walker that moves to another GPU carries of its place: 8 bytes, from which a range of edges can be had again. Every
// other place, and one that doesn't fit, is looked up where the walker arrives.

inline constexpr std::uint64_t not_carried = ~std::uint64_t{0};

template <class Place>
__device__ std::uint64_t carried_place(Place const&)
{
  return not_carried;
}
template <class Offset>
__device__ std::uint64_t carried_place(edge_range<Offset> const& at)
{
  auto const first = static_cast<edge_id>(at.first_edge);
  bool const fits = at.degree < packed_place::degree_limit && first < packed_place::first_limit;
  return fits ? packed_place::of(first, at.degree).bits : not_carried;
}

/// @return whether `carried` tells the place, which is then in `at`.
template <class Place>
__device__ bool unpack_place(std::uint64_t, Place&)
{
  return false;
}
template <class Offset>
__device__ bool unpack_place(std::uint64_t carried, edge_range<Offset>& at)
{
  packed_place const place{carried};
  at = {static_cast<Offset>(place.first()), place.degree()};
  return carried != not_carried;
}

/// Whether a proposer reads nothing of the vertices that it proposes, so that they may be other ranks'.
template <class Proposer>
inline constexpr bool reads_own_row_alone = !requires
{
  Proposer::needs_whole_graph;
};

/// One draw decides a step.
template <class Proposer>
struct direct_steps {
  Proposer proposer;
  start_rule may_start_at;
  rng_key key;

  static constexpr bool takes_trials = false;
  static constexpr bool can_tire = false;
  static constexpr bool on_parts = reads_own_row_alone<Proposer>;
  static constexpr int resident_blocks = draw_blocks<Proposer>;
  struct memory {
    typename Proposer::place here;
  };

  [[nodiscard]] __device__ bool at_first_trial(memory const&) const { return true; }

  __device__ void arrive(memory& m, vertex_id v, std::int32_t step) const { m.here = proposer.locate(v, step); }

  [[nodiscard]] __device__ edge_id edge_of(memory const& m) const { return static_cast<edge_id>(m.here.first_edge); }
  [[nodiscard]] __device__ std::uint64_t carry(memory const& m) const { return carried_place(m.here); }
  __device__ void resume(memory& m, vertex_id v, std::int32_t step, std::uint64_t carried) const
  {
    if (!unpack_place(carried, m.here)) { arrive(m, v, step); }
  }

  __device__ outcome attempt(memory& m, std::uint64_t walk, std::int32_t step) const
  {
    auto const p = proposer.propose(m.here, core::walk_draws(key, walk, step).block(0));
    if (p.next == no_vertex) { return {trial_outcome::dead, no_vertex}; }
    m.here = proposer.place_of(p, step + 1);
    return {trial_outcome::moved, p.next};
  }

  __device__ outcome choose(memory const& m, std::uint64_t walk, std::int32_t step) const
  {
    vertex_id const next = proposer.propose(m.here, core::walk_draws(key, walk, step).block(0)).next;
    return {next == no_vertex ? trial_outcome::dead : trial_outcome::moved, next};
  }
};

/// Uniform proposals, accepted in proportion to their weights; where trials run out, an inverse transform.
template <class Proposer>
struct reject_steps {
  Proposer proposer;
  start_rule may_start_at;
  rng_key key;

  static constexpr bool takes_trials = true;
  static constexpr bool can_tire = false;
  static constexpr bool on_parts = reads_own_row_alone<Proposer>;
  static constexpr int resident_blocks = trial_blocks;
  struct memory {
    typename Proposer::place here;
    std::uint32_t trial;
  };

  [[nodiscard]] __device__ bool at_first_trial(memory const& m) const { return m.trial == 0; }

  __device__ void arrive(memory& m, vertex_id v, std::int32_t step) const { m = {proposer.locate(v, step), 0}; }

  __device__ outcome attempt(memory& m, std::uint64_t walk, std::int32_t step) const
  {
    outcome const now = try_once(m, walk, step);
    if (now.what == trial_outcome::moved) { arrive(m, now.next, step + 1); }
    return now;
  }

  __device__ outcome choose(memory& m, std::uint64_t walk, std::int32_t step) const
  {
    outcome now{trial_outcome::rejected, no_vertex};
    while (now.what == trial_outcome::rejected) { now = try_once(m, walk, step); }
    return now;
  }

 private:
  /// One trial, which leaves the walker where it is.
  __device__ outcome try_once(memory& m, std::uint64_t walk, std::int32_t step) const
  {
    auto const draws = core::walk_draws(key, walk, step);
    if (m.trial == core::weighted_trial_limit(m.here.degree)) {
      return {trial_outcome::moved, proposer.invert(m.here, draws.block(m.trial).low())};
    }
    return core::run_trial<core::uniform_trials>(m.trial, draws, [&](auto const& bits, auto judgement) -> outcome {
      auto const p = proposer.propose(m.here, bits);
      if (p.next == no_vertex) { return {trial_outcome::dead, no_vertex}; }
      if (core::accept(judgement(), p.weight, m.here.largest)) { return {trial_outcome::moved, p.next}; }
      ++m.trial;
      return {trial_outcome::rejected, no_vertex};
    });
  }
};

}  // namespace tendril::gpu
