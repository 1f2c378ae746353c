// Mini-batches by LABOR on a GPU: the CPU's, to the byte. Small graphs in every way are in minibatch_on_gpu_test.cpp and
// minibatch_bulk_test.cpp; here are hubs, vertices of more picks than are staged, large batches, and picks that exceed what
// memory was made for.

#include <numeric>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>

#include "gpu/batches/labor.hpp"
#include "gpu/batches/minibatch_support.hpp"
#include "gpu/batches/plan.hpp"  // default_minibatch_limits
#include "support/gpu_forms.hpp"
#include "support/messages.hpp"

namespace tendril::test {
namespace {

class LaborBatchesOnGpu : public minibatch_gpu_test {
 protected:
  ~LaborBatchesOnGpu() override { gpu::default_minibatch_limits() = before_; }

  gpu::minibatch_limits before_ = gpu::default_minibatch_limits();
};

minibatch_params labor_of(std::vector<std::int64_t> fanouts, batch_frontier frontier = batch_frontier::fresh)
{
  return {.num_neighbors = std::move(fanouts), .frontier = frontier, .choice = neighbor_choice::labor, .seed = 6};
}

std::vector<vertex_id> spread_seeds(std::int64_t num_vertices, std::size_t count)
{
  std::vector<vertex_id> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = static_cast<vertex_id>(static_cast<std::int64_t>(i) * 31 % num_vertices);
  }
  return out;
}

TEST_F(LaborBatchesOnGpu, SkewedGraphs)
{
  hetero_graph const host(generate_rmat({.scale = 14, .edge_factor = 16, .seed = 2}, {.symmetrize = true}));
  for (auto const& there : all_forms_on_gpu(host, exec)) {
    auto const seeds = spread_seeds(1 << 14, 1024);
    for (auto const frontier : {batch_frontier::fresh, batch_frontier::all}) {
      for (auto const& fanouts : {std::vector<std::int64_t>{10, 10, 10}, {1, 1}, {300, 2}, {5, -1}, {-1, 3}}) {
        for (std::int64_t const dependency : {1, 7}) {
          auto params = labor_of(fanouts, frontier);
          params.batch_dependency = dependency;
          params.layer_dependency = dependency > 1;
          compare(host, there, params, {{seeds}});
        }
      }
    }
  }
}

TEST_F(LaborBatchesOnGpu, TimesOnSkewedGraphs)
{
  graph const g = generate_rmat({.scale = 12, .edge_factor = 16, .seed = 3}, {.symmetrize = true});
  hetero_graph const host(g, order_by_time(g, make_times(g.num_edges(), 4)));
  hetero_graph const there = to_gpu(host, exec);
  auto params = labor_of({6, 5});
  params.disjoint = true;
  params.normalize = false;
  auto const seeds = spread_seeds(1 << 12, 100);
  auto const times = make_times(100, 9);
  compare(host, there, params, {{seeds}, {times}});
  compare_many(host, there, params, 0, seeds, 9, times);
}

/// Hubs are a block's; vertices of more picks than are staged have their rows read again. Many seeds make sure that there
/// are some of both.
TEST_F(LaborBatchesOnGpu, HubsAndVerticesOfManyPicks)
{
  EXPECT_EQ(gpu::labor_stage(-1, 100), 0U);
  EXPECT_EQ(gpu::labor_stage(0, 100), 0U);
  EXPECT_EQ(gpu::labor_stage(1, 100'000), 8U);
  EXPECT_EQ(gpu::labor_stage(100, 100), 100U);
  EXPECT_EQ(gpu::labor_stage(100, 100'000), 134U);
  std::vector<test_edge> edges;
  for (vertex_id v = 0; v < 40; ++v) {
    std::uint32_t const degree = v < 20 ? 3000 + 997 * v : 50;
    for (std::uint32_t i = 0; i < degree; ++i) { edges.push_back({v, (i * 7919U + v) % 30'000U}); }
  }
  hetero_graph const host(make_graph(30'000, edges));
  std::vector<vertex_id> seeds(40);
  std::iota(seeds.begin(), seeds.end(), 0U);
  for (auto const& there : all_forms_on_gpu(host, exec)) {
    for (std::int64_t const fanout : {1, 2, 16, 60, 2999, 25'000}) {
      auto params = labor_of({fanout});
      for (std::uint64_t seed = 0; seed < 30; ++seed) {
        params.seed = seed;
        compare(host, there, params, {{seeds}});
      }
    }
  }
}

/// Warps read rows in steps of 32 and 128 candidates, and rows of more than labor_part in parts, whose picks are put in order
/// up to a fan-out of 95; above it blocks read such rows.
TEST_F(LaborBatchesOnGpu, RowsOfEveryLength)
{
  EXPECT_EQ(gpu::labor_part, 1024U);
  EXPECT_EQ(gpu::labor_stage(95, 100'000), 128U);
  EXPECT_EQ(gpu::labor_stage(96, 100'000), 129U);
  std::vector<std::uint32_t> degrees;
  for (std::uint32_t const middle : {32U, 64U, 96U, 128U, 256U, 1024U, 1152U, 2048U, 3072U, 10'240U}) {
    for (std::uint32_t const degree : {middle - 1, middle, middle + 1}) { degrees.push_back(degree); }
  }
  for (std::uint32_t degree = 1; degree < 12; ++degree) { degrees.push_back(degree); }
  std::vector<test_edge> edges;
  for (std::size_t v = 0; v < degrees.size(); ++v) {
    for (std::uint32_t i = 0; i < degrees[v]; ++i) {
      edges.push_back({static_cast<vertex_id>(v), static_cast<vertex_id>((i * 7919U + v) % 12'007U)});
    }
  }
  graph const g = make_graph(12'007, edges);
  std::vector<vertex_id> seeds(degrees.size());
  std::iota(seeds.begin(), seeds.end(), 0U);
  for (auto const& there : all_forms_on_gpu(hetero_graph(g), exec)) {
    for (std::int64_t const fanout : {1, 4, 10, 40, 95, 96, 1500}) {
      for (std::int64_t const dependency : {1, 3}) {
        auto params = labor_of({fanout});
        params.batch_dependency = dependency;
        for (std::uint64_t seed = 0; seed < 8; ++seed) {
          params.seed = seed;
          compare(hetero_graph(g), there, params, {{seeds}});
        }
      }
    }
  }
  hetero_graph const timed(g, order_by_time(g, make_times(g.num_edges(), 4)));
  auto params = labor_of({10});
  params.disjoint = true;
  compare(timed, to_gpu(timed, exec), params, {{seeds}, {make_times(std::ssize(seeds), 9)}});
}

/// Every neighbour is shared by all seeds, so that picks vary far more than those of independent vertices.
TEST_F(LaborBatchesOnGpu, PicksBeyondTheirBounds)
{
  std::vector<test_edge> edges;
  for (vertex_id v = 0; v < 600; ++v) {
    for (vertex_id u = 600; u < 900; ++u) { edges.push_back({v, u}); }
  }
  for (vertex_id u = 600; u < 900; ++u) { edges.push_back({u, u - 600}); }
  hetero_graph const host(make_graph(900, edges));
  hetero_graph const there = to_gpu(host, exec);
  std::vector<vertex_id> seeds(600);
  std::iota(seeds.begin(), seeds.end(), 0U);
  auto const own = on_gpu(seeds, exec);
  for (std::int64_t const percent : {125, 40, 1}) {  // of what is expected
    gpu::default_minibatch_limits().labor_percent = percent;
    for (auto const subgraph : {subgraph_type::directional, subgraph_type::bidirectional, subgraph_type::induced}) {
      for (auto const frontier : {batch_frontier::fresh, batch_frontier::all}) {
        auto params = labor_of({2, 3}, frontier);
        params.subgraph = subgraph;
        minibatch_sampler cpu(host, params);
        for (auto const executor : executors_of(host, params)) {
          minibatch_sampler gpu(there, params, exec, executor);
          for (std::uint64_t number = 0; number < 20; ++number) {
            ASSERT_EQ(difference(copied_lists(cpu.sample({{seeds}}, number)),
                                 copied_lists(gpu.sample({{own.span()}}, number))),
                      "")
                << name_of(params) << " executor " << static_cast<int>(executor) << " batch " << number;
          }
        }
        compare_many(host, there, params, 0, seeds, 7);
      }
    }
  }
}

TEST_F(LaborBatchesOnGpu, ManyBatchesOfASkewedGraph)
{
  hetero_graph const host(generate_rmat({.scale = 13, .edge_factor = 16, .seed = 5}, {.symmetrize = true}));
  hetero_graph const there = to_gpu(host, exec);
  auto const seeds = spread_seeds(1 << 13, 3000);
  for (auto const frontier : {batch_frontier::fresh, batch_frontier::all}) {
    for (bool const disjoint : {false, true}) {
      auto params = labor_of({7, 4}, frontier);
      params.disjoint = disjoint;
      params.batch_dependency = 4;
      compare_many(host, there, params, 0, seeds, 64);
    }
  }
}

TEST_F(LaborBatchesOnGpu, TheCallOfOneBatch)
{
  graph const g = generate_rmat({.scale = 12, .edge_factor = 16, .seed = 5}, {.symmetrize = true});
  graph const there = to_gpu(g, exec);
  auto const seeds = spread_seeds(1 << 12, 200);
  auto const own = on_gpu(seeds, exec);
  for (std::int64_t const bytes : {before_.likely_bytes, std::int64_t{0}}) {  // memory for what is likely, or counted
    gpu::default_minibatch_limits().likely_bytes = bytes;
    for (std::int64_t const percent : {125, 1}) {
      gpu::default_minibatch_limits().labor_percent = percent;
      for (auto const subgraph : {subgraph_type::directional, subgraph_type::induced}) {
        auto params = labor_of({6, 5});
        params.subgraph = subgraph;
        EXPECT_EQ(difference(copied_lists(neighbor_sample(g, seeds, params, cpu_exec{}, 9)),
                             copied_lists(neighbor_sample(there, own.span(), params, exec, 9))),
                  "")
            << bytes << " bytes, " << percent << " %";
      }
    }
  }
}

TEST_F(LaborBatchesOnGpu, ThePersistentExecutorIsRefused)
{
  hetero_graph const there = to_gpu(hetero_graph(make_zoo(1)), exec);
  EXPECT_EQ(message_of<argument_error>([&] {
              minibatch_sampler const refused(there, labor_of({3}, batch_frontier::all), exec,
                                              minibatch_executor::persistent);
            }),
            "executor: persistent, but the choice is labor; expected hops, graph or auto");
}

}  // namespace
}  // namespace tendril::test
