// node2vec: candidates are proposed by the static weights alone and judged by the bias towards the vertex before. Most
// are judged without asking whether they are its neighbours. The rule: src/core/node2vec.hpp. CPU twin:
// src/cpu/walks/second_order.cpp.

#pragma once

#include "core/adjacency_set.hpp"
#include "core/node2vec.hpp"
#include "core/weight_sums.hpp"
#include "gpu/picks/plain_race.cuh"
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

/// Lets a warp decide the steps of lanes whose trials ran out, one lane after the other: `race(source)` is called by
/// the whole warp and gives the vertex that lane `source` moves to, or no_vertex.
template <class Race>
__device__ outcome settle_by_race(outcome const& now, Race race)
{
  unsigned waiting = __ballot_sync(full_warp, now.what == trial_outcome::exhausted);
  outcome settled = now;
  while (waiting != 0) {
    int const source = __ffs(static_cast<int>(waiting)) - 1;
    waiting &= waiting - 1;
    vertex_id const next = race(source);
    if (lane_id() == source) { settled = {next == no_vertex ? trial_outcome::dead : trial_outcome::moved, next}; }
  }
  return settled;
}

/// The sums that are kept of a graph's weights; null where walks are unweighted.
struct weight_sums_view {
  core::row_weight const* rows;
  core::weight_sum const* sums;
};

/// What every form of node2vec has.
template <class Proposer, class Adjacency, class Targets>
struct node2vec_parts {
  Proposer proposer;
  Adjacency adjacent;
  core::node2vec_bias bias;
  Targets targets;                         ///< Of the graph, for races and edges back.
  typename Targets::weights_type weights;  ///< Null: unweighted.
  weight_sums_view sums;
  rng_key key;

  static constexpr bool takes_trials = true;
  static constexpr bool on_parts = false;  // the list of the vertex before may be another rank's
  static constexpr bool can_tire = true;
  static constexpr int resident_blocks = trial_blocks;
  struct memory {
    typename Proposer::place here, before;
    vertex_id vertex, previous;  ///< `previous` is no_vertex after a start or restart.
    std::uint32_t trial;
    core::return_share share;  ///< Of a step with a vertex before it, from its first trial on.
  };

  [[nodiscard]] __device__ bool may_start_at(vertex_id) const { return true; }
  [[nodiscard]] __device__ bool at_first_trial(memory const& m) const { return m.trial == 0; }

  __device__ void arrive(memory& m, vertex_id v, std::int32_t step) const
  {
    m.here = proposer.locate(v, step);
    m.vertex = v;
    m.previous = no_vertex;
    m.trial = 0;
    m.share = core::return_share::judged();
  }

  /// Brings m to the vertex x, whose candidates lie at `there`.
  __device__ outcome move(memory& m, vertex_id x, typename Proposer::place const& there) const
  {
    m = {there, m.here, x, m.vertex, 0, core::return_share::judged()};
    return {trial_outcome::moved, x};
  }

  /// Goes back by the edge that is an alternative of its own.
  __device__ outcome move_back(memory& m) const { return move(m, m.previous, m.before); }

  /// Whether the edge back of this step may be an alternative of its own.
  __device__ bool folds(memory const& m) const { return m.previous != no_vertex && bias.folds(); }

  /// Before the first trial of such a step: finds the edge back. weigh(m, position) as core::return_share_of's.
  template <class Weigh>
  __device__ void find_edge_back(memory& m, Weigh weigh) const
  {
    if (m.trial != 0) { return; }
    auto const row = row_at(targets, m.vertex, m.here);
    auto const back = core::return_edge::in(row, row.find(m.previous), m.previous);
    m.share = core::return_share_of(bias, back, [&](std::uint32_t i) { return weigh(m, i); });
  }

  __device__ outcome reject(memory& m) const
  {
    ++m.trial;
    return {trial_outcome::rejected, no_vertex};
  }

  /// Whether a proposal of weight `weight` against `bound` stands.
  __device__ bool stands(memory const& m, vertex_id x, std::uint64_t bits, double weight, double bound) const
  {
    switch (core::node2vec_judge(m.share.judge_by(bias), bits, weight, bound, x == m.previous)) {
      case core::verdict::accepted: return true;
      case core::verdict::rejected: return false;
      case core::verdict::needs_adjacency: break;
    }
    return core::node2vec_settle(bias, adjacent(m.previous, m.before, x));
  }

  /// A trial of a weighted step whose first trials ran out: m.trial counts on.
  /// @param blocks  Of each of the first trials.
  __device__ outcome settle_by_sums(memory& m, std::uint64_t walk, std::int32_t step, std::uint32_t blocks) const
  {
    std::uint32_t const limit = core::weighted_trial_limit(m.here.degree);
    if (m.trial - limit >= core::trial_limit(m.here.degree)) { return {trial_outcome::exhausted, no_vertex}; }
    auto const draws = core::walk_draws(key, walk, step);
    auto const row = row_at(targets, m.vertex, m.here);
    auto const own = weights + m.here.first_edge;
    core::summed_row const summed(sums.rows[m.vertex], sums.sums + m.here.first_edge / core::summed_edges,
                                  [own](std::uint32_t i) { return read_weight(own, i, cached_load{}); });
    std::uint32_t pick = core::no_pick;
    if (m.previous == no_vertex) {
      pick = core::summed_its_pick(summed, draws.block(limit).low());
    } else {
      core::node2vec_settlement const settlement(bias, row, summed, m.previous);
      pick = settlement.trial(m.trial - limit, limit * blocks, draws,
                              [&](vertex_id x) { return adjacent(m.previous, m.before, x); });
    }
    if (pick == core::no_pick) { return reject(m); }
    vertex_id const next = row.neighbor(pick);
    return move(m, next, proposer.locate(next, step + 1));
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
    using core::paired_trials;
    if (m.trial >= core::weighted_trial_limit(m.here.degree)) {
      return this->settle_by_sums(m, walk, step, paired_trials::blocks);
    }
    auto const draws = core::walk_draws(this->key, walk, step);
    return core::run_trial<paired_trials>(m.trial, draws, [&](auto const& bits, auto judgement) -> outcome {
      auto const p = this->proposer.propose(m.here, bits);
      if (p.next == no_vertex) { return {trial_outcome::dead, no_vertex}; }
      if (m.previous != no_vertex) {
        if (this->folds(m)) {
          this->find_edge_back(m, [&](memory const& at, std::uint32_t i) { return weights_of(at, i); });
          if (m.share.hit(judgement.of_return())) { return this->move_back(m); }
        }
        if (!this->stands(m, p.next, judgement(), 1.0, 1.0)) { return this->reject(m); }
      }
      return this->move(m, p.next, this->proposer.place_of(p, step + 1));
    });
  }

 private:
  struct pair {
    double back, proposed;
  };
  __device__ pair weights_of(memory const& m, std::uint32_t i) const
  {
    core::row_weight const kept = this->sums.rows[m.vertex];
    return {static_cast<double>(kept.scale()(this->weights[m.here.first_edge + i])), static_cast<double>(kept.total)};
  }
};

/// Uniform proposals, judged by bias and weight at once. `weight_and_bound(proposal, place)` says what they are.
template <class Proposer, class Adjacency, class Targets>
struct node2vec_reject_steps : node2vec_parts<Proposer, Adjacency, Targets> {
  using typename node2vec_parts<Proposer, Adjacency, Targets>::memory;
  __device__ outcome attempt(memory& m, std::uint64_t walk, std::int32_t step) const
  {
    using core::paired_trials;
    bool const in_pairs = this->folds(m);
    std::uint32_t const blocks = in_pairs ? paired_trials::blocks : core::uniform_trials::blocks;
    std::uint32_t const degree = m.here.degree;
    if constexpr (weighted) {
      if (m.trial >= core::weighted_trial_limit(degree)) { return this->settle_by_sums(m, walk, step, blocks); }
    } else {
      if (m.trial >= core::trial_limit(degree)) { return {trial_outcome::exhausted, no_vertex}; }
    }
    auto const draws = core::walk_draws(this->key, walk, step);
    std::uint32_t const first = m.trial * blocks;
    core::random_block const bits = draws.block(first);
    auto const p = this->proposer.propose(m.here, bits);
    if (p.next == no_vertex) { return {trial_outcome::dead, no_vertex}; }
    double const weight = weight_of(p);
    double const bound = bound_of(m.here);
    std::uint64_t judgement = bits.high();
    if (in_pairs) {
      this->find_edge_back(m, [&](memory const& at, std::uint32_t i) { return weights_of(at, i); });
      core::random_block const second = paired_trials::second(draws, first);
      if (m.share.hit(second.high())) { return this->move_back(m); }
      judgement = second.low();
    }
    bool const stands = m.previous == no_vertex ? core::accept(judgement, weight, bound)
                                                : this->stands(m, p.next, judgement, weight, bound);
    if (!stands) { return this->reject(m); }
    return this->move(m, p.next, this->proposer.place_of(p, step + 1));
  }

 private:
  static constexpr bool weighted = requires(typename Proposer::proposal const& p) { p.weight; };

  struct pair {
    double back, proposed;
  };
  __device__ pair weights_of(memory const& m, std::uint32_t i) const
  {
    double back = 1;
    if constexpr (weighted) { back = this->weights[m.here.first_edge + i]; }
    return {back, bound_of(m.here) * m.here.degree};
  }
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
