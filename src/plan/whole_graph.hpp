// What planners of a part are told of the whole graph, so that every rank chooses the rule of one machine.

#pragma once

#include <vector>

#include <tendril/graph.hpp>
#include <tendril/partition.hpp>
#include <tendril/walk.hpp>

#include "plan/derived_tables.hpp"

namespace tendril::plan {

/// What planners of a part are given. Tables of edges are never cut by the types of targets there: a part's own rows don't tell
/// them.
[[nodiscard]] inline walk_params walk_on_parts(walk_params params)
{
  if (!params.metapath.empty() && params.metapath_of == metapath_kind::vertex_types) { params.table_bytes = 0; }
  return params;
}

/// Gives a part's rows what planners would else work out from them alone.
/// @param make_statistics  () -> weight_statistics: of the rows, where samplers read them.
template <class F>
void tell_of_whole(graph const& rows, partition_info const& whole, F const& make_statistics)
{
  auto const as_flags = [](std::vector<label_id> const& labels) {
    std::vector<char> out;
    for (label_id const label : labels) {
      out.resize(label);
      out.push_back(1);
    }
    return out;
  };
  derived_cache& cache = rows.derived();
  if (whole.weights) {
    (void)cache.get(statistics_table(), [&] {
      weight_statistics out = make_statistics();
      out.expected_trials = whole.weights->expected_trials;
      out.mean_degree = whole.weights->mean_degree;
      out.most_trials = whole.weights->most_trials;
      return out;
    });
  }
  if (whole.bytes_per_edge_label > 0) {
    (void)cache.get(labels_in_use_table(grouping::by_edge_label), [&] { return as_flags(whole.edge_labels_in_use); });
  }
  if (whole.bytes_per_node_type > 0) {
    (void)cache.get(labels_in_use_table(grouping::by_target_type), [&] { return as_flags(whole.node_types_in_use); });
  }
}

}  // namespace tendril::plan
