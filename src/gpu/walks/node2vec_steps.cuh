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

// An adjacency knows edges from the vertex before: knows(previous) says of which vertices.

/// Adjacency by binary search in the neighbours of the vertex before.
template <class Targets>
struct searched_adjacency {
  Targets targets;

  [[nodiscard]] __device__ static constexpr bool knows(vertex_id) { return true; }
  template <class Place>
  [[nodiscard]] __device__ bool operator()(vertex_id previous, Place const& before, vertex_id x) const
  {
    return row_at(targets, previous, before).contains(x);
  }
};

/// Adjacency by hash sets: one sector of memory almost always.
struct hashed_adjacency {
  vertex_id const* slots;

  [[nodiscard]] __device__ static constexpr bool knows(vertex_id) { return true; }
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
  static constexpr bool on_parts = false;  // walkers on parts go alone (parts/node2vec_on_part.cuh)
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

  /// Whether the edge back of this step may be an alternative of its own.
  __device__ bool folds(memory const& m) const { return m.previous != no_vertex && bias.folds(); }

  /// Finds the edge back of such a step. weigh(position) as core::return_share_of's.
  template <class Weigh>
  __device__ void find_edge_back(memory& m, Weigh weigh) const
  {
    auto const row = row_at(targets, m.vertex, m.here);
    auto const back = core::return_edge::in(row, row.find(m.previous), m.previous);
    m.share = core::return_share_of(bias, back, weigh);
  }

  __device__ outcome reject(memory& m) const
  {
    ++m.trial;
    return {trial_outcome::rejected, no_vertex};
  }

  /// Whether a proposal of weight `weight` against `bound` stands; needs_adjacency if who has the vertex before must say.
  __device__ core::verdict judge(memory const& m, vertex_id x, std::uint64_t bits, double weight, double bound) const
  {
    if (m.previous == no_vertex) {
      return core::accept(bits, weight, bound) ? core::verdict::accepted : core::verdict::rejected;
    }
    core::verdict const now = core::node2vec_judge(m.share.judge_by(bias), bits, weight, bound, x == m.previous);
    if (now != core::verdict::needs_adjacency || !adjacent.knows(m.previous)) { return now; }
    return core::node2vec_settle(bias, adjacent(m.previous, m.before, x)) ? core::verdict::accepted
                                                                          : core::verdict::rejected;
  }

  /// What a trial comes to whose candidate x is judged so. move(x, place()): the candidate stands.
  template <class Move, class Place>
  __device__ outcome come_to(core::verdict now, memory& m, vertex_id x, Move move, Place place) const
  {
    switch (now) {
      case core::verdict::accepted: return move(x, place);
      case core::verdict::rejected: return reject(m);
      case core::verdict::needs_adjacency: break;
    }
    return {trial_outcome::asks, x};
  }

  /// A trial of a weighted step whose first trials ran out: m.trial counts on.
  /// @param blocks  Of each of the first trials.
  template <class Move>
  __device__ outcome settle_by_sums(memory& m, std::uint64_t walk, std::int32_t step, std::uint32_t blocks,
                                    Move move) const
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
      auto const trial = [&](auto is_near) {
        return settlement.trial(m.trial - limit, limit * blocks, draws, is_near);
      };
      if (adjacent.knows(m.previous)) {
        pick = trial([&](vertex_id x) { return adjacent(m.previous, m.before, x); });
      } else {
        pick = trial([](vertex_id) { return true; });
        std::uint32_t const far = trial([](vertex_id) { return false; });
        if (pick != far) { return {trial_outcome::asks, row.neighbor(pick != core::no_pick ? pick : far)}; }
      }
    }
    if (pick == core::no_pick) { return reject(m); }
    vertex_id const next = row.neighbor(pick);
    return move(next, [&] { return proposer.locate(next, step + 1); });
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
    return try_once(m, walk, step, [&](vertex_id x, auto place) { return this->move(m, x, place()); });
  }

  /// A trial. move(x, place) says what is to be done with a candidate that stands; place() gives its place.
  template <class Move>
  __device__ outcome try_once(memory& m, std::uint64_t walk, std::int32_t step, Move move) const
  {
    using core::paired_trials;
    if (m.trial >= core::weighted_trial_limit(m.here.degree)) {
      return this->settle_by_sums(m, walk, step, paired_trials::blocks, move);
    }
    auto const draws = core::walk_draws(this->key, walk, step);
    return core::run_trial<paired_trials>(m.trial, draws, [&](auto const& bits, auto judgement) -> outcome {
      auto const p = this->proposer.propose(m.here, bits);
      if (p.next == no_vertex) { return {trial_outcome::dead, no_vertex}; }
      core::verdict now = core::verdict::accepted;
      if (m.previous != no_vertex) {
        if (this->folds(m)) {
          if (m.trial == 0) { find_edge_back(m); }
          if (m.share.hit(judgement.of_return())) {
            return move(m.previous, [&] { return m.before; });
          }
        }
        now = this->judge(m, p.next, judgement(), 1.0, 1.0);
      }
      return this->come_to(now, m, p.next, move, [&] { return this->proposer.place_of(p, step + 1); });
    });
  }

  /// Of a step that folds.
  __device__ void find_edge_back(memory& m) const
  {
    struct pair {
      double back, proposed;
    };
    node2vec_parts<Proposer, Adjacency, Targets>::find_edge_back(m, [&](std::uint32_t i) -> pair {
      core::row_weight const kept = this->sums.rows[m.vertex];
      return {static_cast<double>(kept.scale()(this->weights[m.here.first_edge + i])), static_cast<double>(kept.total)};
    });
  }
};

/// Uniform proposals, judged by bias and weight at once. `weight_and_bound(proposal, place)` says what they are.
template <class Proposer, class Adjacency, class Targets>
struct node2vec_reject_steps : node2vec_parts<Proposer, Adjacency, Targets> {
  using typename node2vec_parts<Proposer, Adjacency, Targets>::memory;
  __device__ outcome attempt(memory& m, std::uint64_t walk, std::int32_t step) const
  {
    return try_once(m, walk, step, [&](vertex_id x, auto place) { return this->move(m, x, place()); });
  }

  /// As node2vec_alias_steps's.
  template <class Move>
  __device__ outcome try_once(memory& m, std::uint64_t walk, std::int32_t step, Move move) const
  {
    using core::paired_trials;
    bool const in_pairs = this->folds(m);
    std::uint32_t const blocks = in_pairs ? paired_trials::blocks : core::uniform_trials::blocks;
    std::uint32_t const degree = m.here.degree;
    if constexpr (weighted) {
      if (m.trial >= core::weighted_trial_limit(degree)) { return this->settle_by_sums(m, walk, step, blocks, move); }
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
      if (m.trial == 0) { find_edge_back(m); }
      core::random_block const second = paired_trials::second(draws, first);
      if (m.share.hit(second.high())) {
        return move(m.previous, [&] { return m.before; });
      }
      judgement = second.low();
    }
    return this->come_to(this->judge(m, p.next, judgement, weight, bound), m, p.next, move,
                         [&] { return this->proposer.place_of(p, step + 1); });
  }

  /// Of a step that folds.
  __device__ void find_edge_back(memory& m) const
  {
    struct pair {
      double back, proposed;
    };
    node2vec_parts<Proposer, Adjacency, Targets>::find_edge_back(m, [&](std::uint32_t i) -> pair {
      double back = 1;
      if constexpr (weighted) { back = this->weights[m.here.first_edge + i]; }
      return {back, bound_of(m.here) * m.here.degree};
    });
  }

 private:
  static constexpr bool weighted = requires(typename Proposer::proposal const& p) { p.weight; };

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
