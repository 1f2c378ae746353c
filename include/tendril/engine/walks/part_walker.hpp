// The steps of a dynamic walk on one part of a graph: each of several processes has the edges of its own vertices, and walkers
// come from others. Host only.

#pragma once

#include <cstdint>

#include <tendril/engine/walks/walker.hpp>
#include <tendril/transit_view.hpp>

namespace tendril::engine {

/// A walker before a step.
struct part_walker {
  std::uint64_t walk;  ///< Logical id.
  std::int32_t step;
  vertex_id start, vertex, previous;  ///< As in basic_walk_state; `vertex` is of the part.
};

enum class part_turn : std::uint8_t { moved, stopped, restarts, dead };

/// What became of it. `next` counts for moves.
struct part_step {
  part_turn turn;
  vertex_id next;
};

/// The edges of a part's vertices. Edges have the numbers of the whole graph.
struct part_rows {
  edge_id const* indptr = nullptr;  ///< Of the part's rows, from 0.
  vertex_id const* indices = nullptr;
  float const* weights = nullptr;  ///< Or null.
  label_view edge_labels;          ///< Of the whole graph's edges, of which those of the part are there; or empty.
  vertex_id first_vertex = 0;
  edge_id first_edge = 0;

  [[nodiscard]] csr_row row(vertex_id v) const
  {
    edge_id const* const at = indptr + (v - first_vertex);
    return {indices + *at, first_edge + *at, static_cast<std::uint32_t>(at[1] - *at),
            weights == nullptr ? nullptr : weights + *at, edge_labels};
  }
};

/// Decides steps. @return 0, or 1 with the problem in `report`.
/// @param setup  A dynamic_setup<transit_view> whose `largest` is the part's, [its vertices].
using part_step_function = int(void const* walk, void const* setup, int rejecting, part_rows const* rows,
                               part_walker const* walkers, std::int64_t size, part_step* steps, dynamic_report* report);

#ifdef TENDRIL_TRANSIT_UNIT

template <class W>
part_step step_on_part(W const& walk, dynamic_walker<W, transit_view> const& walker,
                       dynamic_setup<transit_view> const& setup, part_rows const& rows, part_walker const& from)
{
  basic_walk_state<transit_view> s = first_state(setup, from.walk, from.start);
  s.step = from.step;
  s.vertex = from.vertex;
  s.previous = from.previous;
  if (setup.largest != nullptr) { s.largest_weight = setup.largest[s.vertex - rows.first_vertex]; }
  if (s.step == 0 && !may_start(walk, s)) { return {part_turn::dead, no_vertex}; }
  switch (decide(walk, setup, s)) {
    case core::walk_turn::stop: return {part_turn::stopped, no_vertex};
    case core::walk_turn::restart: return {part_turn::restarts, no_vertex};
    case core::walk_turn::choose: break;
  }
  csr_row const row = rows.row(s.vertex);
  std::uint64_t const entry = walker.choose(s, row);
  if (!core::race_has_winner(entry)) { return {part_turn::dead, no_vertex}; }
  return {part_turn::moved, row.neighbor(core::race_index(entry))};
}

template <class W>
int step_custom(void const* walk, void const* setup, int rejecting, part_rows const* rows, part_walker const* walkers,
                std::int64_t size, part_step* steps, dynamic_report* report)
{
  try {
    W const& own = *static_cast<W const*>(walk);
    auto const& job = *static_cast<dynamic_setup<transit_view> const*>(setup);
    dynamic_walker<W, transit_view> const walker(own, job, rejecting != 0);
    for (std::int64_t i = 0; i < size; ++i) { steps[i] = step_on_part(own, walker, job, *rows, walkers[i]); }
    return 0;
  } catch (dynamic_report const& problem) {
    *report = problem;
    return 1;
  }
}

#endif

}  // namespace tendril::engine
