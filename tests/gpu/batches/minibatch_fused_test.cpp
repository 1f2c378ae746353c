// The fused executor of mini-batches: all hops in one launch. Its batches are the CPU's, whatever the shape of graph and
// batch; it says in one line what it can't make; other executors' batches in between change nothing.

#include <numeric>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>

#include "gpu/batches/minibatch_support.hpp"
#include "gpu/batches/plan.hpp"  // default_minibatch_limits
#include "support/gpu_forms.hpp"
#include "support/messages.hpp"

namespace tendril::test {
namespace {

class MinibatchFused : public minibatch_gpu_test {
 protected:
  ~MinibatchFused() override { gpu::default_minibatch_limits() = before_; }

  /// Some batches of one sampler, one after the other.
  void expect_batches(hetero_graph const& host, hetero_graph const& there, minibatch_params const& params,
                      std::vector<std::vector<vertex_id>> const& batches)
  {
    SCOPED_TRACE(name_of(params));
    minibatch_sampler cpu(host, params, {.num_threads = 1});
    minibatch_sampler gpu(there, params, exec, minibatch_executor::fused);
    for (std::size_t i = 0; i < batches.size(); ++i) {
      auto const own = on_gpu(batches[i], exec);
      EXPECT_EQ(difference(copied_lists(cpu.sample({{batches[i]}}, i)), copied_lists(gpu.sample({{own.span()}}, i))),
                "")
          << "batch " << i << " of " << batches[i].size() << " seeds";
    }
  }

  gpu::minibatch_limits before_ = gpu::default_minibatch_limits();
};

std::vector<vertex_id> first_vertices(std::int64_t count)
{
  std::vector<vertex_id> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), 0U);
  return out;
}

/// Both frontiers, with replacement and without, with weights where there is replacement.
std::vector<minibatch_params> ways(std::vector<std::int64_t> const& fanouts, bool has_weights)
{
  std::vector<minibatch_params> out;
  for (auto const frontier : {batch_frontier::fresh, batch_frontier::all}) {
    for (bool const disjoint : {false, true}) {
      out.push_back({.num_neighbors = fanouts, .disjoint = disjoint, .frontier = frontier});
      out.push_back({.num_neighbors = fanouts, .replace = true, .disjoint = disjoint, .frontier = frontier});
      if (!has_weights) { continue; }
      out.push_back(
          {.num_neighbors = fanouts, .replace = true, .weighted = true, .disjoint = disjoint, .frontier = frontier});
      out.push_back(out.back());
      out.back().table_bytes = 0;
    }
  }
  return out;
}

TEST_F(MinibatchFused, GraphsOfAllShapes)
{
  std::vector<graph> const graphs = {
      make_zoo(5),
      generate_regular(regular_graph::star, 5000),
      generate_regular(regular_graph::ring, 300),
      generate_regular(regular_graph::complete, 80),
      make_graph(1, {}),
      make_graph(1, {{0, 0}}),
      make_graph(2000, {{1999, 0}}),
      generate_rmat({.scale = 12, .edge_factor = 8, .seed = 6}, {.symmetrize = true}),
  };
  for (auto const& g : graphs) {
    hetero_graph const host(g);
    std::vector<vertex_id> const all = first_vertices(g.num_vertices());
    std::vector<vertex_id> backwards(all.rbegin(), all.rend());
    backwards.resize(std::min<std::size_t>(backwards.size(), 1025));
    std::vector<vertex_id> const alike(1500, all.back());
    for (auto const& there : all_forms_on_gpu(host, exec)) {
      for (auto const& fanouts : {std::vector<std::int64_t>{1}, {5, 3}, {2, 3, 4}, {64}, {17, 2}, {3, 0, 2}}) {
        for (auto const& params : ways(fanouts, g.has_weights())) {
          expect_batches(host, there, params, {{0}, backwards, {}, alike, {0, 0, all.back()}, backwards});
        }
      }
    }
  }
}

TEST_F(MinibatchFused, AsManyHopsAndSeedsAsOneLaunchTakes)
{
  graph const g = generate_rmat({.scale = 15, .edge_factor = 16, .seed = 2}, {.symmetrize = true});
  hetero_graph const host(g);
  hetero_graph const there = to_gpu(host, exec);
  std::vector<vertex_id> const many = first_vertices(g.num_vertices());
  expect_batches(host, there, {.num_neighbors = std::vector<std::int64_t>(10, 1)}, {{5}, many, {7, 9}});
  for (auto const frontier : {batch_frontier::fresh, batch_frontier::all}) {
    expect_batches(host, there, {.num_neighbors = {64, 33}, .frontier = frontier}, {{5}, many, many});
    expect_batches(host, there, {.num_neighbors = {15, 10, 5}, .frontier = frontier}, {many, {1, 2, 3}, many});
  }
}

TEST_F(MinibatchFused, BatchesOfOtherExecutorsInBetween)
{
  graph const g = generate_rmat({.scale = 13, .edge_factor = 16, .seed = 8}, {.symmetrize = true});
  hetero_graph const host(g);
  hetero_graph const there = to_gpu(host, exec);
  std::vector<vertex_id> const seeds = first_vertices(3000);
  auto const own = on_gpu(seeds, exec);
  for (auto const frontier : {batch_frontier::fresh, batch_frontier::all}) {
    minibatch_params const params{.num_neighbors = {6, 5, 4}, .frontier = frontier};
    minibatch_sampler cpu(host, params);
    gpu::default_minibatch_limits().fused_picks = 6000;  // which executor makes a batch follows from its seeds
    minibatch_sampler automatic(there, params, exec);
    gpu::default_minibatch_limits() = before_;
    minibatch_sampler fused(there, params, exec, minibatch_executor::fused);
    for (std::size_t const size : {10, 2000, 30, 3000, 1, 40}) {
      auto const some = std::span(seeds).first(size);
      auto const some_own = own.span().first(size);
      for (auto* const gpu : {&automatic, &fused}) {
        EXPECT_EQ(difference(copied_lists(cpu.sample({{some}}, size)), copied_lists(gpu->sample({{some_own}}, size))),
                  "");
        EXPECT_EQ(difference(copied_lists(cpu.sample_batches(0, some, 300, {.first = size})),
                             copied_lists(gpu->sample_batches(0, some_own, 300, {.first = size}))),
                  "");
      }
    }
  }
}

TEST_F(MinibatchFused, BadSeedsAreTold)
{
  hetero_graph const host(make_zoo(3));
  hetero_graph const there = to_gpu(host, exec);
  minibatch_params const params{.num_neighbors = {3, 2}};
  minibatch_sampler cpu(host, params);
  minibatch_sampler gpu(there, params, exec, minibatch_executor::fused);
  std::vector<vertex_id> const good = first_vertices(40);
  auto const own_good = on_gpu(good, exec);
  for (std::size_t const place : {39, 7, 0}) {
    std::vector<vertex_id> bad = good;
    bad[place] = 64;
    bad[39] = no_vertex;
    auto const own_bad = on_gpu(bad, exec);
    EXPECT_EQ(message_of<argument_error>([&] { (void)gpu.sample({{own_bad.span()}}); }),
              place == 39 ? "seed 39: vertex 4294967295 is out of range, the graph has 64 vertices"
                          : fmt::format("seed {}: vertex 64 is out of range, the graph has 64 vertices", place));
    EXPECT_EQ(difference(copied_lists(cpu.sample({{good}})), copied_lists(gpu.sample({{own_good.span()}}))), "");
  }
}

TEST_F(MinibatchFused, WhatItCannotMake)
{
  hetero_graph const host(make_zoo(1));
  hetero_graph const there = to_gpu(host, exec);
  auto const refused = [&](hetero_graph const& graph, minibatch_params const& params) {
    return message_of<argument_error>(
        [&] { minibatch_sampler const made(graph, params, exec, minibatch_executor::fused); });
  };
  EXPECT_EQ(refused(there, {.num_neighbors = {3, -1}}),
            "executor: fused, but a fan-out is -1; expected fan-outs of 0 or more");
  EXPECT_EQ(refused(there, {.num_neighbors = {65}, .replace = true}),
            "executor: fused, but a fan-out is 65; expected at most 64");
  EXPECT_EQ(refused(there, {.num_neighbors = {3}, .weighted = true}),
            "executor: fused, but weighted picks are without replacement; expected them with replacement, or picks "
            "without weights");
  EXPECT_EQ(refused(there, {.num_neighbors = {3}, .subgraph = subgraph_type::induced}),
            "executor: fused, but the subgraph isn't directional; expected directional");
  EXPECT_EQ(
      refused(there, {.num_neighbors = std::vector<std::int64_t>(11, 1)}),
      "executor: fused, but there are 1 vertex types, and 11 hops through 1 edge types; expected at most 4 vertex "
      "types, and hops times edge types at most 10");
  EXPECT_EQ(refused(hetero_graph({4, 3}, {}), {.num_neighbors = {2}}),
            "executor: fused, but the graph has no edge type; expected one or more");
  hetero_graph const mixed =
      to_gpu(packed_types(make_hetero_zoo(1, false), [](std::size_t t) { return t % 2 == 1; }), exec);
  EXPECT_EQ(refused(mixed, {.num_neighbors = {2}}),
            "executor: fused, but the graphs of edge types have different forms; expected one form");
}

}  // namespace
}  // namespace tendril::test
