// From tables to kernel arguments, once for all rules.

#pragma once

#include "gpu/walks/steps.cuh"

namespace tendril::gpu {

inline start_rule start_rule_of(walk_job const& job)
{
  return job.metapath.of_vertices ? start_rule{job.graph.node_types, job.metapath.first_type} : start_rule{};
}

/// The edges that candidates come from: the graph's, or those grouped by label.
inline csr_arrays const& candidates_of(walk_job const& job)
{
  return job.tables->groups ? job.tables->groups->rows : job.graph;
}

inline label_index label_index_of(walk_job const& job)
{
  return {job.metapath.schema, job.metapath.size, job.metapath.of_vertices ? 1 : 0,
          static_cast<std::int32_t>(job.tables->groups->num_labels)};
}

/// Calls f(finder) with the finder of places by `index` that suits the tables.
template <class Index, class F>
void with_finder(Index index, walk_job const& job, F f)
{
  if (job.tables->rows) {
    f(place_finder<compact_rows, Index>{{job.tables->rows->data()}, index});
  } else {
    f(place_finder<wide_rows, Index>{{candidates_of(job).indptr}, index});
  }
}

/// The same for walks that may follow a metapath.
template <class F>
void with_finder(walk_job const& job, F f)
{
  if (job.tables->groups) {
    with_finder(label_index_of(job), job, f);
  } else {
    with_finder(vertex_index{}, job, f);
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

}  // namespace tendril::gpu
