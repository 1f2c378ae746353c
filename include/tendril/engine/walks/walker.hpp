// One walker of a dynamic walk on the CPU. The rules: engine/walks/step.hpp and src/core/race.hpp. GPU twins:
// engine/walks/scan_kernel.cuh and engine/walks/reject_kernel.cuh.

#pragma once

#include <algorithm>
#include <cstdint>

#include <tendril/engine/walks/step.hpp>

namespace tendril::engine {

/// @throws argument_error "weight: nan at walk 5, step 3, vertex 7, edge 12, expected …". Defined in the library.
[[noreturn]] void throw_problem(dynamic_report const& report, std::int64_t num_vertices);

/// Runs one walk at a time.
template <class W, class View>
class dynamic_walker {
 public:
  dynamic_walker(W const& walk, dynamic_setup<View> const& setup, bool rejecting)
      : walk_(walk), setup_(setup), rejecting_(rejecting)
  {
  }

  /// Fills the row of walk `walk` from `start`, [length + 1]. @return the steps taken. @throws argument_error.
  std::int32_t operator()(std::uint64_t walk, vertex_id start, vertex_id* row) const
  {
    state s = first_state(setup_, walk, start);
    row[0] = start;
    arrive(setup_, s);
    bool dead = !may_start(walk_, s);
    while (!dead && s.step < setup_.length) {
      core::walk_turn const turn = decide(walk_, setup_, s);
      if (turn == core::walk_turn::stop) { break; }
      if (turn == core::walk_turn::restart) {
        go_back(s);
      } else {
        dead = !step(s);
      }
      row[s.step] = s.vertex;
      arrive(setup_, s);
    }
    std::fill(row + s.step + 1, row + setup_.length + 1, dead && setup_.repeat_dead_ends ? s.vertex : no_vertex);
    return s.step;
  }

  using state = basic_walk_state<View>;
  using row_type = typename View::row_type;

  /// The edge that the walk follows, as a race's entry with its position; without a winner at a dead end.
  /// @param row  Of the state's vertex.
  [[nodiscard]] std::uint64_t choose(state const& s, row_type const& row) const
  {
    if (row.empty()) { return core::race_none; }
    if constexpr (walk_has::bound<W>) {
      if (rejecting_) { return reject(s, row); }
    }
    return race(s, row);
  }

 private:
  /// Follows an edge; returns false at a dead end.
  bool step(state& s) const
  {
    row_type const row = s.graph.row(s.vertex);
    std::uint64_t const entry = choose(s, row);
    if (!core::race_has_winner(entry)) { return false; }
    go_along(s, row, core::race_index(entry));
    return true;
  }

  /// The winner of a race over the neighbourhood.
  std::uint64_t race(state const& s, row_type const& row) const
  {
    std::uint32_t const degree = row.degree();
    std::uint32_t wrong = degree;
    auto const edge = [&](std::uint32_t i) { return basic_walk_edge<View>(row, i); };
    auto const bound = [&](std::uint32_t i) {
      float const b = bound_of(walk_, s, edge(i));
      if (!is_weight(b)) { wrong = std::min(wrong, i); }
      return b;
    };
    auto const weight = [&](std::uint32_t i) {
      float const w = walk_.weight(s, edge(i));
      if (!is_weight(w) || (walk_has::edge_bound<W> && w > bound_of(walk_, s, edge(i)))) { wrong = std::min(wrong, i); }
      return w;
    };
    std::uint64_t const best = core::race_one(degree, bound, weight, setup_.step_key, s.walk,
                                              static_cast<std::uint32_t>(s.step), core::race_draws);
    if (wrong < degree) { throw_problem(inspect(walk_, s, row, wrong), s.graph.num_vertices); }
    return best;
  }

  /// The entry of the edge whose proposal was accepted. If the trials are exhausted, a race decides.
  std::uint64_t reject(state const& s, row_type const& row) const requires walk_has::bound<W>
  {
    float const bound = walk_.bound(s);
    if (!is_weight(bound)) {
      throw_problem({s.walk, -1, dynamic_problem::bound, s.step, s.vertex, bound}, s.graph.num_vertices);
    }
    if (bound == 0) { return core::race_none; }
    trial last{};
    auto const settles = [&](core::random_block const& block, auto judge) {
      last = try_edge(walk_, s, row, bound, block, judge);
      if (last.result == trial_result::wrong) {
        throw_problem(inspect(walk_, s, row, last.position, bound), s.graph.num_vertices);
      }
      return last.result == trial_result::accepted;
    };
    bool const settled =
        core::settle_by_trials<step_trials>(core::trial_limit(row.degree()), step_draws(setup_, s), settles);
    return settled ? core::race_entry(1, last.position) : race(s, row);
  }

  W walk_;
  dynamic_setup<View> setup_;
  bool rejecting_;
};

}  // namespace tendril::engine
