// What an executor of walks is given: the graph, the parameters in the form that rules take, the tables of the plan.

#pragma once

#include <cstdint>
#include <span>

#include <tendril/walk.hpp>

#include "core/draws.hpp"
#include "core/node2vec.hpp"
#include "plan/planner.hpp"  // walk_tables

namespace tendril::cpu {

struct walk_job {
  graph_view graph;
  walk_params const* params = nullptr;
  sampling_plan const* plan = nullptr;
  plan::walk_tables const* tables = nullptr;
  bool second_order = false;
  core::node2vec_bias bias;
  rng_key step_key;  ///< Choices of neighbours.
  core::walk_ends ends;

  [[nodiscard]] bool may_end() const { return params->stop_prob > 0 || params->restart_prob > 0; }
  [[nodiscard]] std::int32_t length() const { return static_cast<std::int32_t>(params->length); }

  /// The label that step `step` must follow (an edge's label, or its target's type).
  [[nodiscard]] label_id wanted_label(std::int32_t step) const
  {
    auto const size = static_cast<std::int64_t>(params->metapath.size());
    bool const of_targets = params->metapath_of == metapath_kind::vertex_types;
    return params->metapath[static_cast<std::size_t>((step + (of_targets ? 1 : 0)) % size)];
  }

  /// Whether a walk may start at v: vertex-type schemas name the start's type too.
  [[nodiscard]] bool may_start_at(vertex_id v) const
  {
    return params->metapath.empty() || params->metapath_of == metapath_kind::edge_labels ||
           graph.node_types[v] == params->metapath[0];
  }
};

/// The job of a planned walk, which lives as long as the walker does.
/// @throws argument_error as walker::run, of these starts.
[[nodiscard]] walk_job const& job_of(walker const& planned, std::span<vertex_id const> starts, std::int64_t first_walk);

/// Where a walker stands.
struct walker_position {
  std::uint64_t walk;  ///< Logical id.
  std::int32_t step;   ///< Steps taken so far.
  vertex_id vertex;
  vertex_id previous;  ///< no_vertex before the first edge, and after a restart.
};

/// A batch: where walks start, and where they go.
struct walk_batch {
  std::span<vertex_id const> starts;  ///< [n]
  std::int64_t first_walk = 0;        ///< Logical id of starts[0].
  vertex_id* vertices = nullptr;      ///< [n, length + 1]
  std::int32_t* lengths = nullptr;    ///< [n]
  bool completes_rows = true;         ///< Whether a row is filled after its walk's end.

  /// Of walks that go on, which first_order_walk knows, but for those that restart: the steps that all have taken before
  /// they come to `starts`. Rows are [n, length - first_step + 1]; lengths count from the walks' beginnings.
  std::int32_t first_step = 0;
  std::uint64_t const* ids = nullptr;  ///< [n]: logical ids, instead of first_walk and those after it.

  [[nodiscard]] std::uint64_t id(std::int64_t i) const
  {
    return ids != nullptr ? ids[i] : static_cast<std::uint64_t>(first_walk + i);
  }

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(starts.size()); }
};

}  // namespace tendril::cpu
