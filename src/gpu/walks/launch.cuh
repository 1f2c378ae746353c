// From tables to kernel arguments, once for all rules.

#pragma once

#include "gpu/walks/steps.cuh"

namespace tendril::gpu {

inline start_rule start_rule_of(walk_job const& job)
{
  return job.metapath.of_vertices ? start_rule{job.graph.node_types, job.metapath.first_type} : start_rule{};
}

inline label_index label_index_of(walk_job const& job)
{
  return {job.metapath.schema, job.metapath.size, job.metapath.of_vertices ? 1 : 0,
          static_cast<std::int32_t>(job.tables->groups->num_labels)};
}

inline wide_rows wide_rows_of(graph_view const& graph) { return {graph.edges().first_edges}; }

template <class View>
auto own_rows_of(View const& view)
{
  return own_rows<decltype(view.targets())>{view.targets(), view.edges().first_edges};
}

/// Calls f(finder) with the finder of edges by number: rows of `graph`, by `index`, that suit the tables.
template <class Index, class F>
void with_rows(Index index, graph_view const& graph, walk_job const& job, F f)
{
  if (job.tables->rows) {
    f(place_finder<compact_rows, Index>{{job.tables->rows->data()}, index});
  } else {
    f(place_finder<wide_rows, Index>{wide_rows_of(graph), index});
  }
}

/// The same for walks that may follow a metapath, on the edges that candidates come from: the graph's, or those grouped
/// by label.
template <class F>
void with_rows(walk_job const& job, F f)
{
  if (job.tables->groups) {
    with_rows(label_index_of(job), job.tables->groups->rows, job, f);
  } else {
    with_rows(vertex_index{}, job.graph, job, f);
  }
}

/// Calls f(finder, targets) with the targets of `view` and the finder of its vertices' places.
template <class View, class F>
void with_places(View const& view, walk_job const& job, F f)
{
  if constexpr (View::targets_by_number) {
    with_rows(vertex_index{}, view, job, [&](auto const& finder) { f(finder, view.targets()); });
  } else {
    f(place_finder<own_rows<decltype(view.targets())>, vertex_index>{own_rows_of(view), {}}, view.targets());
  }
}

/// The same for walks that may follow a metapath.
template <class F>
void with_places(walk_job const& job, F f)
{
  if (job.tables->groups) {
    csr_view const groups(job.tables->groups->rows);
    with_rows(label_index_of(job), groups, job, [&](auto const& finder) { f(finder, groups.targets()); });
  } else {
    job.graph.visit([&](auto const& view) { with_places(view, job, f); });
  }
}

/// The proposer of weighted walks on a view whose rows `index` leads to.
template <class View, class Index>
auto weighted_proposer_of(View const& view, Index index, walk_job const& job)
{
  using targets = decltype(view.targets());
  weighted_rows const rows{job.tables->weighted_rows->data()};
  auto const* const edges = job.tables->edges ? job.tables->edges->data() : nullptr;
  auto const made = [&]<class Finder>(Finder const& finder) {
    return weighted_proposer<Finder, targets>{finder, edges, view.targets(), view.weights(),
                                              job.tables->sums->sums.data()};
  };
  if constexpr (View::targets_by_number) {
    return made(place_finder<weighted_rows, Index>{rows, index});
  } else {
    return made(place_finder<own_weighted_rows<targets>, Index>{{own_rows_of(view), rows}, index});
  }
}

/// The proposer of weighted walks by sums of weights, on a view whose rows `index` leads to.
template <bool by_its, class View, class Index>
auto summed_proposer_of(View const& view, Index index, walk_job const& job)
{
  using targets = decltype(view.targets());
  plan::weight_sums const& sums = *job.tables->sums;
  auto const made = [&]<class Rows>(Rows const& rows) {
    using finder = place_finder<summed_rows<Rows>, Index>;
    return summed_proposer<by_its, finder, targets>{
        {{rows, sums.rows.data()}, index}, sums.sums.data(), view.targets(), view.weights()};
  };
  if constexpr (View::targets_by_number) {
    return made(wide_rows_of(view));
  } else {
    return made(own_rows_of(view));
  }
}

inline packed_hop_proposer packed_hop_proposer_of(walk_job const& job)
{
  return {{job.tables->rows->data()}, job.tables->packed_hops->data(), job.tables->packing};
}

/// Enqueues walks whose steps are decided by one draw from `proposer`.
template <class Proposer>
void launch_direct(Proposer const& proposer, walk_job const& job, walk_batch const& batch, walk_shape const& shape)
{
  launch_walk(direct_steps<Proposer>{proposer, start_rule_of(job), job.step_key}, batch, job.ends, shape);
}

/// Enqueues walks without a vertex before, by sums of weights.
template <bool by_its>
void launch_summed(walk_job const& job, walk_batch const& batch, walk_shape const& shape)
{
  auto const launch = [&](auto const& view, auto index) {
    launch_direct(summed_proposer_of<by_its>(view, index, job), job, batch, shape);
  };
  if (job.tables->groups) {
    launch(csr_view(job.tables->groups->rows), label_index_of(job));
  } else {
    job.graph.visit([&](auto const& view) { launch(view, vertex_index{}); });
  }
}

}  // namespace tendril::gpu
