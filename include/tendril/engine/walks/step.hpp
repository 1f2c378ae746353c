// Common to CPU and GPU: the step of a dynamic walk. It covers the end of a walk, the test of a proposal, and the
// detection of wrong weights. docs/reproducibility.md defines the random numbers. Host and device.

#pragma once

#include <concepts>
#include <cstdint>

#include <tendril/rng.hpp>
#include <tendril/walk_concept.hpp>

#include "core/draws.hpp"
#include "core/race.hpp"
#include "core/reject.hpp"

namespace tendril::engine {

/// The description of a job, except for the walk itself, its graph and its batches.
struct dynamic_terms {
  float const* largest = nullptr;  ///< [num_vertices] each vertex's largest weight; null if not used.
  rng_key step_key;                ///< Key of the choices of neighbours.
  core::key_schedule step_keys;    ///< The same key, for inner loops.
  core::walk_ends ends;            ///< When walks stop or restart.
  bool may_end = false;            ///< Whether they ever do.
  std::int32_t length = 0;
  bool repeat_dead_ends = false;
};

/// The same with the graph. Walkers and kernels have the view of one form; the host has a graph_view until it calls them.
template <class View>
struct dynamic_setup : dynamic_terms {
  View graph;

  [[nodiscard]] TENDRIL_HD auto row(vertex_id v) const { return graph.row(v); }
};

/// The setup of a job whose graph has this view.
template <class View>
TENDRIL_HD dynamic_setup<View> setup_with(dynamic_terms const& terms, View const& view)
{
  return {terms, view};
}

/// A batch of walks: their starts and their output. Walk i's position t is vertices[i * walk_stride + t * step_stride].
struct dynamic_batch {
  vertex_id const* starts = nullptr;  ///< [size]
  std::int64_t size = 0;
  std::uint64_t first_walk = 0;  ///< Logical id of starts[0].
  vertex_id* vertices = nullptr;
  std::int64_t walk_stride = 0;
  std::int64_t step_stride = 1;
  std::int32_t* lengths = nullptr;    ///< [size] or null.
  std::int64_t* bad_start = nullptr;  ///< If not null: a GPU stores the index of an invalid start here.
};

/// The problems that a walk may cause.
enum class dynamic_problem : std::uint32_t { none, weight, above_bound, bound, start };

/// The place of a problem.
struct dynamic_report {
  std::uint64_t walk;  ///< Logical id.
  edge_id edge;        ///< Position in the edge arrays; -1 if the problem doesn't concern an edge.
  dynamic_problem what;
  std::int32_t step;
  vertex_id vertex;
  float value;
};

/// Whether a walk lists the candidates of a step: candidates(state) gives those that may win, with their weights, and
/// weight(state, edge) gives the same numbers. For walks of the library: the lists are tables of a graph.
template <class W, class View>
concept lists_candidates = requires(W const& walk, basic_walk_state<View> const& s)
{
  {
    walk.candidates(s)
    } -> std::same_as<core::candidate_list>;
};

/// Whether a weight or bound is valid: finite and >= 0.
TENDRIL_HD bool is_weight(float w) { return w >= 0 && w <= 3.40282347e+38F; }

// A candidate with a wrong weight enters a race with key 0 and wins it; if there are several, the first one of the
// neighbourhood wins. One reduction therefore finds it together with the winner. A valid candidate may also have key 0
// (weight FLT_MAX, with probability 2^-64), so the code that receives an entry with key 0 computes the weight again.

TENDRIL_HD std::uint64_t wrong_entry(std::uint32_t position) { return position; }
TENDRIL_HD bool may_be_wrong(std::uint64_t entry) { return entry >> 32U == 0; }

/// The state of a walk before its first step.
template <class View>
TENDRIL_HD basic_walk_state<View> first_state(dynamic_setup<View> const& setup, std::uint64_t walk, vertex_id start)
{
  basic_walk_state<View> s;
  s.graph = setup.graph;
  s.walk = walk;
  s.start = start;
  s.vertex = start;
  return s;
}

/// Looks up the state's data about the vertex that the walk has reached.
template <class View>
TENDRIL_HD void arrive(dynamic_terms const& setup, basic_walk_state<View>& s)
{
  if (setup.largest != nullptr) { s.largest_weight = setup.largest[s.vertex]; }
}

/// Jumps back to the start; the jump counts as a step.
template <class View>
TENDRIL_HD void go_back(basic_walk_state<View>& s)
{
  s.vertex = s.start;
  s.previous = no_vertex;
  s.previous_edge = View::no_edge();
  ++s.step;
}

/// Follows the edge at a position in the row of the current vertex.
template <class View>
TENDRIL_HD void go_along(basic_walk_state<View>& s, typename View::row_type const& row, std::uint32_t position)
{
  s.previous = s.vertex;
  s.previous_edge = row.mark(position);
  s.vertex = row.neighbor(position);
  ++s.step;
}

/// Decides whether the walk stops or restarts instead of choosing an edge. The current vertex is already set.
template <class W, class View>
TENDRIL_HD core::walk_turn decide(W const& walk, dynamic_terms const& setup, basic_walk_state<View> const& s)
{
  if constexpr (walk_has::stop<W>) {
    if (walk.stop(s)) { return core::walk_turn::stop; }
  }
  return setup.may_end ? setup.ends.turn(s.walk, s.step) : core::walk_turn::choose;
}

/// Whether the walk may leave its start. Called before every other decision.
template <class W, class View>
TENDRIL_HD bool may_start(W const& walk, basic_walk_state<View> const& s)
{
  if constexpr (walk_has::may_start<W>) {
    return walk.may_start(s);
  } else {
    return true;
  }
}

/// An upper bound of an edge's weight: the cheapest bound that the walk has.
template <class W, class View>
TENDRIL_HD float bound_of(W const& walk, basic_walk_state<View> const& s, basic_walk_edge<View> const& e)
{
  if constexpr (walk_has::edge_bound<W>) {
    return walk.bound(s, e);
  } else {
    return walk.weight(s, e);
  }
}

enum class trial_result : std::uint8_t { rejected, accepted, wrong };

/// One trial of rejection and the candidate it proposes.
struct trial {
  trial_result result;
  std::uint32_t position;
};

/// The trials of a step.
using step_trials = core::uniform_trials;

/// The blocks that a step draws.
template <class View>
TENDRIL_HD auto step_draws(dynamic_terms const& setup, basic_walk_state<View> const& s)
{
  return core::walk_draws(setup.step_key, s.walk, s.step);
}

/// One trial of a step from a vertex whose row has edges, against `bound` > 0. One thread.
/// @param block, judge  Of the trial, as core::run_trial gives them.
template <class W, class View, class Judge>
TENDRIL_HD trial try_edge(W const& walk, basic_walk_state<View> const& s, typename View::row_type const& row,
                          float bound, core::random_block const& block, Judge judge)
{
  std::uint32_t const i = core::bounded(block.low(), row.degree());
  std::uint64_t const bits = judge();
  if constexpr (walk_has::floor<W>) {
    if (core::accept(bits, walk.floor(s), bound)) { return {trial_result::accepted, i}; }
  }
  float const weight = walk.weight(s, basic_walk_edge<View>(row, i));
  if constexpr (!walk_has::trusted_weights<W>) {
    if (!(weight >= 0 && weight <= bound)) { return {trial_result::wrong, i}; }
  }
  return {core::accept(bits, weight, bound) ? trial_result::accepted : trial_result::rejected, i};
}

/// The problem of the candidate at `position`, if there is one. `bound`: an upper limit of its weight, in addition to
/// the walk's own bound of the edge.
template <class W, class View>
TENDRIL_HD dynamic_report inspect(W const& walk, basic_walk_state<View> const& s, typename View::row_type const& row,
                                  std::uint32_t position, float bound = 3.40282347e+38F)
{
  basic_walk_edge<View> const e(row, position);
  dynamic_report report{s.walk, e.index(), dynamic_problem::none, s.step, s.vertex, walk.weight(s, e)};
  if constexpr (walk_has::edge_bound<W>) {
    float const own = walk.bound(s, e);
    if (!is_weight(own)) {
      report.what = dynamic_problem::bound;
      report.value = own;
      return report;
    }
    bound = own < bound ? own : bound;
  }
  if (!is_weight(report.value)) {
    report.what = dynamic_problem::weight;
  } else if (report.value > bound) {
    report.what = dynamic_problem::above_bound;
  }
  return report;
}

}  // namespace tendril::engine
