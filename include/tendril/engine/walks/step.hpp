// Common to CPU and GPU: the step of a dynamic walk. It covers the end of a walk, the test of a proposal, and the
// detection of wrong weights. docs/reproducibility.md defines the random numbers. Host and device.

#pragma once

#include <cstdint>

#include <tendril/rng.hpp>
#include <tendril/walk_concept.hpp>

#include "core/race.hpp"
#include "core/random.hpp"
#include "core/reject.hpp"

namespace tendril::engine {

/// The description of a job, except for the walk itself and its batches.
struct dynamic_setup {
  csr_arrays graph;
  float const* largest = nullptr;  ///< [num_vertices] each vertex's largest weight; null if not used.
  rng_key step_key;                ///< Key of the choices of neighbours.
  core::key_schedule step_keys;    ///< The same key, for inner loops.
  rng_key end_key;                 ///< Key of the stop and restart decisions.
  core::probability stop, restart;
  bool may_end = false;  ///< Whether `stop` or `restart` can ever occur.
  std::int32_t length = 0;
  bool repeat_dead_ends = false;
};

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

/// Whether a weight or bound is valid: finite and >= 0.
TENDRIL_HD bool is_weight(float w) { return w >= 0 && w <= 3.40282347e+38F; }

// A candidate with a wrong weight enters a race with key 0 and wins it; if there are several, the first one of the
// neighbourhood wins. One reduction therefore finds it together with the winner. A valid candidate may also have key 0
// (weight FLT_MAX, with probability 2^-64), so the code that receives an entry with key 0 computes the weight again.

TENDRIL_HD std::uint64_t wrong_entry(std::uint32_t position) { return position; }
TENDRIL_HD bool may_be_wrong(std::uint64_t entry) { return entry >> 32U == 0; }

/// The state of a walk before its first step.
TENDRIL_HD walk_state first_state(dynamic_setup const& setup, std::uint64_t walk, vertex_id start)
{
  walk_state s;
  s.graph = setup.graph;
  s.walk = walk;
  s.start = start;
  s.vertex = start;
  return s;
}

/// Looks up the state's data about the vertex that the walk has reached.
TENDRIL_HD void arrive(dynamic_setup const& setup, walk_state& s)
{
  if (setup.largest != nullptr) { s.largest_weight = setup.largest[s.vertex]; }
}

/// Jumps back to the start; the jump counts as a step.
TENDRIL_HD void go_back(walk_state& s)
{
  s.vertex = s.start;
  s.previous = no_vertex;
  s.previous_edge = -1;
  ++s.step;
}

/// Follows an edge.
TENDRIL_HD void go_along(walk_state& s, edge_id edge, vertex_id to)
{
  s.previous = s.vertex;
  s.previous_edge = edge;
  s.vertex = to;
  ++s.step;
}

enum class before_step : std::uint8_t { choose, stop, restart };

/// Decides whether the walk stops or restarts instead of choosing an edge. The current vertex is already set.
template <class W>
TENDRIL_HD before_step decide(W const& walk, dynamic_setup const& setup, walk_state const& s)
{
  if constexpr (walk_has::stop<W>) {
    if (walk.stop(s)) { return before_step::stop; }
  }
  if (setup.may_end) {
    core::random_block const ends = core::draw_block(setup.end_key, s.walk, static_cast<std::uint32_t>(s.step), 0);
    if (setup.stop.hit(ends.low())) { return before_step::stop; }
    if (setup.restart.hit(ends.high())) { return before_step::restart; }
  }
  return before_step::choose;
}

/// Whether the walk may leave its start. Called before every other decision.
template <class W>
TENDRIL_HD bool may_start(W const& walk, walk_state const& s)
{
  if constexpr (walk_has::may_start<W>) {
    return walk.may_start(s);
  } else {
    return true;
  }
}

/// An upper bound of an edge's weight: the cheapest bound that the walk has.
template <class W>
TENDRIL_HD float bound_of(W const& walk, walk_state const& s, walk_edge const& e)
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

/// Trial `number` of a step from a vertex with `degree` > 0 edges, the first at `first`, against `bound` > 0. One
/// thread.
template <class W>
TENDRIL_HD trial try_edge(W const& walk, dynamic_setup const& setup, walk_state const& s, edge_id first,
                          std::uint32_t degree, float bound, std::uint32_t number)
{
  core::random_block const bits = core::draw_block(setup.step_key, s.walk, static_cast<std::uint32_t>(s.step), number);
  std::uint32_t const i = core::bounded(bits.low(), degree);
  if constexpr (walk_has::floor<W>) {
    if (core::accept(bits.high(), walk.floor(s), bound)) { return {trial_result::accepted, i}; }
  }
  float const weight = walk.weight(s, walk_edge(s.graph, first + i, i));
  if constexpr (!walk_has::trusted_weights<W>) {
    if (!(weight >= 0 && weight <= bound)) { return {trial_result::wrong, i}; }
  }
  return {core::accept(bits.high(), weight, bound) ? trial_result::accepted : trial_result::rejected, i};
}

/// The problem of the candidate at `position`, if there is one. `bound`: an upper limit of its weight, in addition to
/// the walk's own bound of the edge.
template <class W>
TENDRIL_HD dynamic_report inspect(W const& walk, walk_state const& s, edge_id first, std::uint32_t position,
                                  float bound = 3.40282347e+38F)
{
  walk_edge const e(s.graph, first + position, position);
  dynamic_report report{s.walk, first + position, dynamic_problem::none, s.step, s.vertex, walk.weight(s, e)};
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
