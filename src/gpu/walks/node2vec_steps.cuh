// node2vec: candidates are proposed by the static weights alone and judged by the bias towards the vertex before. Most
// are judged without asking whether they are its neighbours. The rule: src/core/node2vec.hpp. CPU twin:
// src/cpu/walks/second_order.cpp.

#pragma once

#include "core/adjacency_set.hpp"
#include "core/node2vec.hpp"
#include "gpu/walks/steps.cuh"

namespace tendril::gpu {

/// The row of vertex v that lies at `at`; where that is a range of edges only, and the targets have places of their own,
/// the row is looked up. v may be no_vertex, whose row is not read.
template <class Targets, class Place>
[[nodiscard]] __device__ auto row_at(Targets const& targets, vertex_id v, Place const& at)
{
  if constexpr (std::is_convertible_v<Place, typename Targets::place>) {
    return targets.row(at);
  } else {
    return targets.row(v == no_vertex ? typename Targets::place{} : targets.locate(v, cached_load{}));
  }
}

/// Adjacency by binary search in the neighbours of the vertex before.
template <class Targets>
struct searched_adjacency {
  Targets targets;

  template <class Place>
  [[nodiscard]] __device__ bool operator()(vertex_id previous, Place const& before, vertex_id x) const
  {
    return row_at(targets, previous, before).contains(x);
  }
};

/// Adjacency by hash sets: one sector of memory almost always.
struct hashed_adjacency {
  vertex_id const* slots;

  template <class Place>
  [[nodiscard]] __device__ bool operator()(vertex_id previous, Place const& before, vertex_id x) const
  {
    return core::adjacency_set_contains(slots, core::adjacency_set_place(previous, before.first_edge, before.degree),
                                        x);
  }
};

/// One race for one walker of a warp.
template <class Place, class Weights>
struct node2vec_race_params {
  Weights weights;  ///< Null: unweighted.
  core::node2vec_bias bias;
  rng_key key;
  std::uint64_t walk;
  std::int32_t step;
  vertex_id vertex;
  vertex_id previous;  ///< no_vertex: no bias.
  Place here, before;
};

/// The vertex that wins, or no_vertex. Whole warp, with equal arguments. Called once in a while.
template <class Targets, class Place, class Weights>
__device__ __forceinline__ vertex_id node2vec_race(Targets const& targets, node2vec_race_params<Place, Weights> const p)
{
  auto const here = row_at(targets, p.vertex, p.here);
  auto const before = row_at(targets, p.previous, p.before);
  auto const weight_of = [&](std::uint32_t i) {
    float const weight = p.weights == nullptr ? 1.0F : p.weights[p.here.first_edge + i];
    if (p.previous == no_vertex) { return weight; }
    vertex_id const x = here.neighbor(i);
    return core::node2vec_weight(p.bias, weight, x, p.previous, [&] { return before.contains(x); });
  };
  std::uint64_t const winner =
      plain_race(p.here.degree, weight_of, p.key, p.walk, static_cast<std::uint32_t>(p.step), core::race_draws);
  return core::race_has_winner(winner) ? here.neighbor(core::race_index(winner)) : no_vertex;
}

/// What every form of node2vec has.
template <class Proposer, class Adjacency, class Targets>
struct node2vec_parts {
  Proposer proposer;
  Adjacency adjacent;
  core::node2vec_bias bias;
  Targets targets;                         ///< Of the graph, for races.
  typename Targets::weights_type weights;  ///< Null: unweighted.
  rng_key key;

  static constexpr bool can_tire = true;
  static constexpr int resident_blocks = trial_blocks;
  struct memory {
    typename Proposer::place here, before;
    vertex_id vertex, previous;  ///< `previous` is no_vertex after a start or restart.
    std::uint32_t trial;
  };

  [[nodiscard]] __device__ bool may_start_at(vertex_id) const { return true; }
  [[nodiscard]] __device__ bool at_first_trial(memory const& m) const { return m.trial == 0; }

  __device__ void arrive(memory& m, vertex_id v, std::int32_t step) const
  {
    m.here = proposer.locate(v, step);
    m.vertex = v;
    m.previous = no_vertex;
    m.trial = 0;
  }

  /// Brings m to the vertex x, whose candidates lie at `there`.
  __device__ outcome move(memory& m, vertex_id x, typename Proposer::place const& there) const
  {
    m = {there, m.here, x, m.vertex, 0};
    return {trial_outcome::moved, x};
  }

  __device__ outcome reject(memory& m) const
  {
    ++m.trial;
    return {trial_outcome::rejected, no_vertex};
  }

  /// Whether a proposal of weight `weight` against `bound` stands.
  __device__ bool stands(memory const& m, vertex_id x, std::uint64_t bits, double weight, double bound) const
  {
    switch (core::node2vec_judge(bias, bits, weight, bound, x == m.previous)) {
      case core::verdict::accepted: return true;
      case core::verdict::rejected: return false;
      case core::verdict::needs_adjacency: break;
    }
    return core::node2vec_settle(bias, adjacent(m.previous, m.before, x));
  }

  __device__ outcome settle(memory& m, std::uint64_t walk, std::int32_t step, outcome const& now) const
  {
    outcome const settled = settle_by_race(now, [&](int source) {
      return node2vec_race(targets,
                           node2vec_race_params{weights, bias, key, broadcast(walk, source), broadcast(step, source),
                                                broadcast(m.vertex, source), broadcast(m.previous, source),
                                                broadcast(m.here, source), broadcast(m.before, source)});
    });
    if (now.what == trial_outcome::exhausted && settled.what == trial_outcome::moved) {
      return move(m, settled.next, proposer.locate(settled.next, step + 1));
    }
    return settled;
  }
};

/// Proposals in proportion to the static weights (alias tables), judged by the bias alone.
template <class Proposer, class Adjacency, class Targets>
struct node2vec_alias_steps : node2vec_parts<Proposer, Adjacency, Targets> {
  using typename node2vec_parts<Proposer, Adjacency, Targets>::memory;
  __device__ outcome attempt(memory& m, std::uint64_t walk, std::int32_t step) const
  {
    if (m.trial >= core::trial_limit(m.here.degree)) { return {trial_outcome::exhausted, no_vertex}; }
    auto const draws = core::walk_draws(this->key, walk, step);
    return core::run_trial<core::alias_trials>(m.trial, draws, [&](auto const& bits, auto judgement) -> outcome {
      auto const p = this->proposer.propose(m.here, bits);
      if (p.next == no_vertex) { return {trial_outcome::dead, no_vertex}; }
      if (m.previous != no_vertex && !this->stands(m, p.next, judgement(), 1.0, 1.0)) { return this->reject(m); }
      return this->move(m, p.next, this->proposer.place_of(p, step + 1));
    });
  }
};

/// Uniform proposals, judged by bias and weight at once. `weight_and_bound(proposal, place)` says what they are.
template <class Proposer, class Adjacency, class Targets>
struct node2vec_reject_steps : node2vec_parts<Proposer, Adjacency, Targets> {
  using typename node2vec_parts<Proposer, Adjacency, Targets>::memory;
  __device__ outcome attempt(memory& m, std::uint64_t walk, std::int32_t step) const
  {
    if (m.trial >= core::trial_limit(m.here.degree)) { return {trial_outcome::exhausted, no_vertex}; }
    auto const draws = core::walk_draws(this->key, walk, step);
    return core::run_trial<core::uniform_trials>(m.trial, draws, [&](auto const& bits, auto judgement) -> outcome {
      auto const p = this->proposer.propose(m.here, bits);
      if (p.next == no_vertex) { return {trial_outcome::dead, no_vertex}; }
      double const weight = weight_of(p);
      double const bound = bound_of(m.here);
      bool const stands = m.previous == no_vertex ? core::accept(judgement(), weight, bound)
                                                  : this->stands(m, p.next, judgement(), weight, bound);
      if (!stands) { return this->reject(m); }
      return this->move(m, p.next, this->proposer.place_of(p, step + 1));
    });
  }

 private:
  template <class Proposal>
  static __device__ double weight_of(Proposal const& p)
  {
    if constexpr (requires { p.weight; }) {
      return p.weight;
    } else {
      return 1.0;
    }
  }
  template <class Place>
  static __device__ double bound_of(Place const& here)
  {
    if constexpr (requires { here.largest; }) {
      return here.largest;
    } else {
      return 1.0;
    }
  }
};

}  // namespace tendril::gpu
