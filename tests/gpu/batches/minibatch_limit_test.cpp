// Mini-batches on the GPU are the CPU's whatever tables they may take, by every executor; a plan says what is taken.

#include <utility>
#include <vector>

#include <tendril/generate.hpp>

#include "gpu/batches/minibatch_support.hpp"
#include "support/gpu_forms.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

class MinibatchTableLimit : public minibatch_gpu_test {};

std::vector<minibatch_params> ways()
{
  std::vector<minibatch_params> out;
  for (auto const frontier : {batch_frontier::fresh, batch_frontier::all}) {
    for (bool const disjoint : {false, true}) {
      minibatch_params params{.num_neighbors = {5, 3}, .replace = true, .weighted = true};
      params.frontier = frontier;
      params.disjoint = disjoint;
      out.push_back(params);
    }
  }
  return out;
}

void drop_tables(hetero_graph const& graph)
{
  for (auto const& type : graph.edge_types()) { type.edges.drop_derived(); }
}

TEST_F(MinibatchTableLimit, NoLimitChangesABatch)
{
  edge_attributes const extra{.has_weights = true};
  graph const rmat = generate_rmat({.scale = 11, .edge_factor = 16, .seed = 3}, {.symmetrize = true}, extra);
  for (hetero_graph const& host : {hetero_graph(make_zoo(5)), hetero_graph(rmat), make_hetero_zoo(6, false)}) {
    batch_seeds seeds;
    std::vector<vertex_id> const some = {7, 3, 3, 0, 5};
    seeds.vertices.resize(host.num_vertices().size());
    seeds.vertices[0] = some;
    for (auto const& there : all_forms_on_gpu(host, exec)) {
      for (auto params : ways()) {
        for (table_limit const limit : {table_limit(0), table_limit(40'000), table_limit()}) {
          drop_tables(there);
          params.table_bytes = limit;
          compare(host, there, params, seeds);
          compare_many(host, there, params, 0, some, 2);
        }
      }
    }
  }
}

TEST_F(MinibatchTableLimit, WhatIsPlannedIsTaken)
{
  graph const g =
      generate_rmat({.scale = 11, .edge_factor = 16, .seed = 3}, {.symmetrize = true}, {.has_weights = true});
  for (auto const& there : all_forms_on_gpu(hetero_graph(g), exec)) {
    for (table_limit const limit : {table_limit(0), table_limit(std::int64_t{1} << 40U), table_limit()}) {
      for (bool const replace : {false, true}) {
        drop_tables(there);
        minibatch_params params{.replace = replace, .weighted = true};
        params.table_bytes = limit;
        auto const plan = plan_minibatch(there, params, exec);
        EXPECT_EQ(plan.table_bytes_built, 0);
        std::int64_t const sums = 16 * g.num_vertices() + 24 * (g.num_edges() / 64 + 1);
        bool const by_sums =
            replace && (limit == 0 || (!limit && there.edge_types()[0].edges.form() != graph_form::csr));
        EXPECT_EQ(plan.weight_sums, by_sums);
        EXPECT_EQ(plan.table_bytes, !replace ? 0 : by_sums ? sums : 16 * g.num_edges());
        minibatch_sampler const sampler(there, params, exec);
        EXPECT_EQ(plan_minibatch(there, params, exec).table_bytes_built, plan.table_bytes);
      }
    }
  }
}

}  // namespace
}  // namespace tendril::test
