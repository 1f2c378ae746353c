// node2vec walks, by alias or uniform proposals. CPU twin: src/cpu/walks/second_order.cpp.

#include "gpu/walks/launch.cuh"
#include "gpu/walks/node2vec_steps.cuh"

namespace tendril::gpu {
namespace {

template <template <class, class> class Steps, class Proposer, class Adjacency>
void launch_as(Proposer const& proposer, Adjacency const& adjacent, walk_job const& job, walk_batch const& batch,
               walk_shape const& shape)
{
  float const* const weights = job.weighted ? job.graph.weights : nullptr;
  launch_walk(Steps<Proposer, Adjacency>{{proposer, adjacent, job.bias, job.graph.indices, weights, job.step_key}},
              batch, job.ends, shape);
}

template <template <class, class> class Steps, class Proposer>
void launch(Proposer const& proposer, walk_job const& job, walk_batch const& batch, walk_shape const& shape)
{
  if (job.tables->adjacency_sets) {
    launch_as<Steps>(proposer, hashed_adjacency{job.tables->adjacency_sets->data()}, job, batch, shape);
  } else {
    launch_as<Steps>(proposer, searched_adjacency{job.graph.indices}, job, batch, shape);
  }
}

}  // namespace

void node2vec_walk(walk_job const& job, walk_batch const& batch, walk_shape const& shape)
{
  walk_tables const& tables = *job.tables;
  if (job.rule == sampling_rule::alias) {
    if (tables.alias_hops) {
      launch<node2vec_alias_steps>(alias_hop_proposer{{job.graph.indptr}, tables.alias_hops->data()}, job, batch,
                                   shape);
    } else {
      with_finder(vertex_index{}, job, [&]<class Finder>(Finder const& finder) {
        launch<node2vec_alias_steps>(alias_proposer<Finder>{finder, tables.alias->data()}, job, batch, shape);
      });
    }
  } else if (job.weighted) {
    weighted_proposer<vertex_index> const proposer{{{tables.weighted_rows->data()}, {}},
                                                   tables.edges ? tables.edges->data() : nullptr,
                                                   job.graph.indices,
                                                   job.graph.weights};
    launch<node2vec_reject_steps>(proposer, job, batch, shape);
  } else if (tables.hops) {
    launch<node2vec_reject_steps>(uniform_hop_proposer{{job.graph.indptr}, tables.hops->data()}, job, batch, shape);
  } else if (tables.packed_hops) {
    launch<node2vec_reject_steps>(packed_hop_proposer_of(job), job, batch, shape);
  } else {
    with_finder(vertex_index{}, job, [&]<class Finder>(Finder const& finder) {
      launch<node2vec_reject_steps>(uniform_proposer<Finder>{finder, job.graph.indices, job.neighbors_are_cached}, job,
                                    batch, shape);
    });
  }
}

}  // namespace tendril::gpu
