// node2vec where the vertex before a walker may be another rank's: a trial whose candidate stands or falls by its edges asks, and so
// does a race. The trials: gpu/walks/node2vec_steps.cuh.

#pragma once

#include "gpu/walks/node2vec_steps.cuh"
#include "gpu/walks/parts/alone_step.hpp"

namespace tendril::gpu {

/// Edges from the vertices [first, last), by `adjacent`, which counts them from `first`.
template <class Adjacency, class Proposer>
struct adjacency_on_part {
  Adjacency adjacent;
  Proposer proposer;
  vertex_id first, last;

  [[nodiscard]] __device__ bool knows(vertex_id previous) const { return previous >= first && previous < last; }

  template <class Place>
  [[nodiscard]] __device__ bool operator()(vertex_id previous, Place const&, vertex_id x) const
  {
    return adjacent(previous - first, proposer.locate(previous - first, 0), x);
  }
};

/// @tparam Trials  A form of node2vec_parts, with an adjacency_on_part. Vertices whose rows it reads count from the first of the
///                 part; vertices before, and candidates, are those of the whole graph.
template <class Trials>
struct node2vec_on_part {
  Trials trials;
  bool races_at_once;  ///< The rule `scan`: no trials.

  using memory = typename Trials::memory;
  /// At most 80 registers a thread. With the blocks of Trials it takes 88, room for two.
  static constexpr int resident_blocks = 3;

  /// The walker stands on vertex v, counted from the first of the part, after so many trials.
  __device__ void stand(memory& m, vertex_id v, vertex_id previous, std::int32_t step, std::uint32_t trial) const
  {
    trials.arrive(m, v, step);
    m.previous = previous;
    if (trial != 0 && trials.folds(m)) { trials.find_edge_back(m); }
    m.trial = trial;
  }

  /// Trials until one decides the step, asks, or there are no more. The walker stays where it is.
  __device__ outcome choose(memory& m, std::uint64_t walk, std::int32_t step) const
  {
    if (races_at_once) { return {trial_outcome::exhausted, no_vertex}; }
    outcome now{trial_outcome::rejected, no_vertex};
    auto const move = [](vertex_id x, auto) { return outcome{trial_outcome::moved, x}; };
    while (now.what == trial_outcome::rejected) { now = trials.try_once(m, walk, step, move); }
    return now;
  }

  /// Whether a candidate that was asked for stands. The vertex before is here.
  [[nodiscard]] __device__ bool answer(vertex_id previous, vertex_id candidate) const
  {
    return core::node2vec_settle(trials.bias, trials.adjacent(previous, 0, candidate));
  }

  /// Decides the steps of lanes whose trials ran out, by races. Whole warp.
  /// @param passed  Of the lane: the last candidate of this race that was asked for in vain, or no_vertex.
  __device__ outcome settle(memory const& m, vertex_id passed, std::uint64_t walk, std::int32_t step,
                            outcome const& now) const
  {
    unsigned waiting = __ballot_sync(full_warp, now.what == trial_outcome::exhausted);
    outcome settled = now;
    while (waiting != 0) {
      int const source = __ffs(static_cast<int>(waiting)) - 1;
      waiting &= waiting - 1;
      outcome const won = race(broadcast(m.vertex, source), broadcast(m.previous, source), broadcast(passed, source),
                               broadcast(walk, source), broadcast(step, source));
      if (lane_id() == source) { settled = won; }
    }
    return settled;
  }

 private:
  /// The race of one walker. Whole warp, with equal arguments.
  ///
  /// Where nobody here knows the edges of the vertex before, each candidate enters with the larger of its two weights. The winner
  /// is asked for: if it has that weight, it wins. If not, the walker comes back, and all candidates that such an entry made as
  /// good as that one, or better, enter with the smaller of their weights: each of them was asked for in vain. Parallel edges
  /// lead to one candidate, which is as good as the best of them.
  __device__ outcome race(vertex_id vertex, vertex_id previous, vertex_id passed, std::uint64_t walk,
                          std::int32_t step) const
  {
    auto const here = trials.proposer.locate(vertex, step);
    auto const row = row_at(trials.targets, vertex, here);
    auto const number = static_cast<std::uint32_t>(step);
    bool const asks = previous != no_vertex && !trials.adjacent.knows(previous);
    bool const near_weighs_more = trials.bias.away < 1.0F;
    auto const weight_of = [&](std::uint32_t i, bool larger) {
      float const weight = trials.weights == nullptr ? 1.0F : trials.weights[here.first_edge + i];
      if (previous == no_vertex) { return weight; }
      vertex_id const x = row.neighbor(i);
      return core::node2vec_weight(trials.bias, weight, x, previous, [&] {
        return asks ? near_weighs_more == larger : trials.adjacent(previous, here, x);
      });
    };
    auto const best_of = [&](auto weight) {
      return plain_race(here.degree, weight, trials.key, walk, number, core::race_draws);
    };
    auto const entry_of = [&](std::uint32_t i) {
      core::random_block const high =
          core::race_high_block(trials.key, walk, number, core::race_draws, core::race_block_offset(i));
      return core::race_entry_of(trials.key, walk, number, core::race_draws, i,
                                 core::select_word(high, core::race_word(i)), weight_of(i, true));
    };

    bool const again = asks && passed != no_vertex;
    std::uint64_t const last =
        again ? best_of([&](std::uint32_t i) { return row.neighbor(i) == passed ? weight_of(i, true) : 0.0F; }) : 0;
    auto const is_known = [&](std::uint32_t i) {
      if (!again) { return false; }
      vertex_id const x = row.neighbor(i);
      while (i > 0 && row.neighbor(i - 1) == x) { --i; }
      for (; i < here.degree && row.neighbor(i) == x; ++i) {
        if (entry_of(i) <= last) { return true; }
      }
      return false;
    };
    std::uint64_t const winner = best_of([&](std::uint32_t i) { return weight_of(i, !is_known(i)); });
    if (!core::race_has_winner(winner)) { return {trial_outcome::dead, no_vertex}; }
    std::uint32_t const first = core::race_index(winner);
    bool const is_sure = !asks || is_known(first) || weight_of(first, true) == weight_of(first, false);
    return {is_sure ? trial_outcome::moved : trial_outcome::asks, row.neighbor(first)};
  }
};

}  // namespace tendril::gpu
