// The steps of a dynamic walk on one part of a graph: each of several processes has the edges of its own vertices, and walkers
// come from others. What CPU and GPU have in common. Host and device.

#pragma once

#include <cstdint>

#include <tendril/engine/walks/step.hpp>
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
struct decided_step {
  part_turn turn;
  vertex_id next;
};

/// Walkers on a part, and where the steps go that are decided for them.
struct part_batch {
  part_walker const* walkers;  ///< [size]
  decided_step* steps;         ///< [size]
  std::int64_t size;
};

/// The edges of a part's vertices. Edges have the numbers of the whole graph.
template <class View>
class part_rows {
 public:
  part_rows() = default;
  /// @param rows  The part's, numbered from 0.
  part_rows(View const& rows, vertex_id first_vertex, edge_id first_edge)
      : rows_(rows), labels_(rows.edges().labels), first_vertex_(first_vertex), first_edge_(first_edge)
  {
    if (labels_.empty() || !View::targets_by_number) { return; }  // compressed rows read labels by their own numbers
    auto const* const first = static_cast<char const*>(labels_.data);
    labels_.data = first - first_edge * labels_.bytes_per_label;
  }

  [[nodiscard]] TENDRIL_HD auto row(vertex_id v) const
  {
    return rows_.row(v - first_vertex_).in_whole(first_edge_, labels_);
  }
  [[nodiscard]] TENDRIL_HD vertex_id first_vertex() const { return first_vertex_; }

 private:
  View rows_;
  label_view labels_;  // of the whole graph's edges, of which those of the part are there
  vertex_id first_vertex_ = 0;
  edge_id first_edge_ = 0;
};

/// Walks see the whole graph through `graph`; the edges that it doesn't have are those of `rows`.
template <class View>
struct dynamic_setup<basic_transit_view<View>> : dynamic_terms {  // `largest` is the part's, [its vertices]
  basic_transit_view<View> graph;
  part_rows<View> rows;

  [[nodiscard]] TENDRIL_HD auto row(vertex_id v) const { return rows.row(v); }
};

/// The state of a walker before its step.
template <class Transit>
TENDRIL_HD basic_walk_state<Transit> state_of(dynamic_setup<Transit> const& setup, part_walker const& from)
{
  basic_walk_state<Transit> s = first_state(setup, from.walk, from.start);
  s.step = from.step;
  s.vertex = from.vertex;
  s.previous = from.previous;
  if (setup.largest != nullptr) { s.largest_weight = setup.largest[s.vertex - setup.rows.first_vertex()]; }
  return s;
}

/// Whether the walker chooses an edge. If not, `made` is what becomes of it; else that of a walker without one.
template <class W, class Transit>
TENDRIL_HD bool chooses(W const& walk, dynamic_terms const& setup, basic_walk_state<Transit> const& s,
                        decided_step& made)
{
  made = {part_turn::dead, no_vertex};
  if (s.step == 0 && !may_start(walk, s)) { return false; }
  core::walk_turn const turn = decide(walk, setup, s);
  if (turn == core::walk_turn::choose) { return true; }
  made.turn = turn == core::walk_turn::stop ? part_turn::stopped : part_turn::restarts;
  return false;
}

}  // namespace tendril::engine
