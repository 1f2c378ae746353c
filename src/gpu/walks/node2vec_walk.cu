// node2vec walks, by alias or uniform proposals. CPU twin: src/cpu/walks/second_order.cpp.

#include "gpu/walks/launch.cuh"
#include "gpu/walks/node2vec_steps.cuh"
#include "gpu/walks/parts/alone_step.cuh"
#include "gpu/walks/parts/node2vec_on_part.cuh"

namespace tendril::gpu {
namespace {

/// Launches `Steps` with the proposer, on a view.
template <template <class, class, class> class Steps, class Proposer, class View>
void launch(Proposer const& proposer, View const& view, walk_job const& job, walk_batch const& batch,
            walk_shape const& shape)
{
  using targets = decltype(view.targets());
  typename targets::weights_type const weights = job.weighted ? view.weights() : nullptr;
  bool const scans = job.rule == sampling_rule::scan;  // of walkers on parts; others are scan_walk's
  weight_sums_view sums{};
  if (job.weighted && !scans) { sums = {job.tables->sums->rows.data(), job.tables->sums->sums.data()}; }
  auto const steps_by = [&]<class Adjacency>(Adjacency const& adjacent) {
    return Steps<Proposer, Adjacency, targets>{
        {proposer, adjacent, job.bias, view.targets(), weights, sums, job.step_key}};
  };
  auto const launch_by = [&]<class Adjacency>(Adjacency const& adjacent) {
    if constexpr (reads_own_row_alone<Proposer>) {
      if (shape.alone != nullptr) {
        part_ranks const& ranks = *shape.alone;
        vertex_id const* const own = ranks.bounds + ranks.rank;
        auto const steps = steps_by(adjacency_on_part<Adjacency, Proposer>{adjacent, proposer, own[0], own[1]});
        launch_alone_step(node2vec_on_part<decltype(steps)>{steps, scans}, batch, job.ends, shape);
        return;
      }
    }
    launch_walk(steps_by(adjacent), batch, job.ends, shape);
  };
  if (job.tables->adjacency_sets) {
    launch_by(hashed_adjacency{job.tables->adjacency_sets->data()});
  } else {
    launch_by(searched_adjacency<targets>{view.targets()});
  }
}

/// By tables whose records have places of CSR. @return whether the job has any.
template <class View>
bool walk_by_hops(View const& view, walk_job const& job, walk_batch const& batch, walk_shape const& shape)
{
  walk_tables const& tables = *job.tables;
  if (tables.alias_hops) {
    alias_hop_proposer const proposer{wide_rows_of(view), tables.alias_hops->data()};
    launch<node2vec_alias_steps>(proposer, view, job, batch, shape);
  } else if (tables.hops) {
    uniform_hop_proposer const proposer{wide_rows_of(view), tables.hops->data()};
    launch<node2vec_reject_steps>(proposer, view, job, batch, shape);
  } else if (tables.packed_hops) {
    launch<node2vec_reject_steps>(packed_hop_proposer_of(job), view, job, batch, shape);
  } else {
    return false;
  }
  return true;
}

template <class View>
void walk(View const& view, walk_job const& job, walk_batch const& batch, walk_shape const& shape)
{
  walk_tables const& tables = *job.tables;
  if constexpr (View::targets_by_number) {
    if (walk_by_hops(view, job, batch, shape)) { return; }
  }
  if (job.rule == sampling_rule::alias && !tables.alias) {
    launch<node2vec_alias_steps>(summed_proposer_of<false>(view, vertex_index{}, job), view, job, batch, shape);
  } else if (job.rule == sampling_rule::alias) {
    auto const by_alias = [&]<class Finder>(Finder const& finder) {
      launch<node2vec_alias_steps>(alias_proposer<Finder>{finder, tables.alias->data()}, view, job, batch, shape);
    };
    if constexpr (View::targets_by_number) {
      with_rows(vertex_index{}, view, job, by_alias);
    } else {
      by_alias(place_finder<wide_rows, vertex_index>{wide_rows_of(view), {}});
    }
  } else if (job.weighted && job.rule != sampling_rule::scan) {
    launch<node2vec_reject_steps>(weighted_proposer_of(view, vertex_index{}, job), view, job, batch, shape);
  } else {
    with_places(view, job, [&]<class Finder, class Targets>(Finder const& finder, Targets const& targets) {
      launch<node2vec_reject_steps>(uniform_proposer<Finder, Targets>{finder, targets, job.neighbors_are_cached}, view,
                                    job, batch, shape);
    });
  }
}

}  // namespace

void node2vec_walk(walk_job const& job, walk_batch const& batch, walk_shape const& shape)
{
  job.graph.visit([&](auto const& view) { walk(view, job, batch, shape); });
}

}  // namespace tendril::gpu
