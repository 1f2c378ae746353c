// Sampling applications on graphs in host memory that may take less on the GPU than they need: the CPU's bytes, however the
// graph is cut, or wherever it lies.

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/engine/applications/cpu.hpp>
#include <tendril/engine/applications/gpu.cuh>
#include <tendril/generate.hpp>
#include <tendril/starts.hpp>

#include "gpu/applications/stream.hpp"
#include "support/application_params.hpp"
#include "support/compare_samples.hpp"
#include "support/gpu_test.hpp"
#include "support/sampling_apps.hpp"
#include "support/wheel.hpp"

namespace tendril {
namespace apps {

/// Several transits drawn from the roots, samples that end at different steps, a state, roots that change.
struct roaming {
  struct state {
    std::int64_t steps;
  };
  static constexpr bool reads_transit_only = true;
  [[nodiscard]] TENDRIL_HD int steps() const { return until_done; }
  [[nodiscard]] TENDRIL_HD std::int64_t num_transits(int step) const { return step == 1 ? 1 : 4; }
  [[nodiscard]] TENDRIL_HD std::int64_t sample_size(int step) const { return 1 + 11 * (step % 3); }
  [[nodiscard]] TENDRIL_HD vertex_id step_transits(int step, sample_view const& sample, std::int64_t i,
                                                   random_stream& rng) const
  {
    if (i == 2 && rng.chance(0.3)) { return no_vertex; }
    if (step == lost_at && sample.id >= 15) { return 0xfffffff0U; }
    return sample.root(rng.bounded(sample.num_roots()));
  }
  [[nodiscard]] TENDRIL_HD vertex_id next(sample_view& sample, transit_list const&, edge_list const& edges, int,
                                          random_stream& rng) const
  {
    bool const ends = rng.chance(sample.state<state>().steps % 2 == 0 ? 0.3 : 0.9);
    return ends || edges.empty() ? no_vertex : edges[rng.bounded(edges.size())];
  }
  TENDRIL_HD void end_step(sample_view& sample, int) const
  {
    ++sample.state<state>().steps;
    if (sample.prev_vertex(1, 0) != no_vertex) { sample.replace_root(0, sample.prev_vertex(1, 0)); }
  }
  int lost_at = -1;  ///< A step where samples from 15 on follow a transit that isn't there.
};

/// Reads everything that an edge has, its place in the graph, degrees and types of any vertex, and whether the transit has
/// an edge to some other.
struct reads_all {
  static constexpr bool reads_transit_only = true;
  [[nodiscard]] TENDRIL_HD int steps() const { return 3; }
  [[nodiscard]] TENDRIL_HD std::int64_t sample_size(int step) const { return step == 0 ? 7 : 2; }
  [[nodiscard]] TENDRIL_HD vertex_id next(sample_view& sample, transit_list const& transits, edge_list const& edges,
                                          int, random_stream& rng) const
  {
    if (edges.empty()) { return no_vertex; }
    auto const some = static_cast<vertex_id>(rng.bounded(static_cast<std::uint64_t>(sample.graph.num_vertices)));
    std::uint64_t sum = transits[0] + sample.graph.degree(some) + (sample.graph.has_edge(transits[0], some) ? 7 : 0);
    if (!sample.graph.node_types.empty()) { sum += sample.graph.node_types[some]; }
    std::uint32_t const from = rng.bounded(edges.size());
    for (std::uint32_t k = from; k < edges.size() && k < from + 50; ++k) {
      sum += edges[k] ^ static_cast<std::uint64_t>(edges.edge(k));
      if (sample.graph.has_edge_labels()) { sum += edges.label(k); }
      if (sample.graph.has_weights()) { sum += static_cast<std::uint64_t>(edges.weight(k) * 1000); }
    }
    return edges[static_cast<std::uint32_t>(sum % edges.size())];
  }
};

/// Vertices of the combined neighbourhood by their places, until enough; empty lists, too.
struct patches {
  static constexpr bool reads_transit_only = true;
  static constexpr sampling sampling_type() { return sampling::collective; }
  [[nodiscard]] TENDRIL_HD int steps() const { return 3; }
  [[nodiscard]] TENDRIL_HD std::int64_t sample_size(int step) const { return 5 + step; }
  [[nodiscard]] TENDRIL_HD bool unique(int step) const { return step == 1; }
  [[nodiscard]] TENDRIL_HD vertex_id next(sample_view& sample, transit_list const& transits,
                                          combined_edges const& edges, int, random_stream& rng) const
  {
    if (edges.empty()) { return no_vertex; }
    std::uint64_t const k = rng.bounded(edges.size());
    vertex_id const owner = transits[edges.transit_of(k)];
    std::uint64_t const sum = edges[k] + owner + static_cast<std::uint64_t>(edges.edge(k)) + sample.call;
    return edges[sum % edges.size()];
  }
};

/// Moves to a common neighbour of the transit and a root, as it stands in the graph's CSR arrays: needs lists of all
/// vertices, and names the CSR view.
struct reads_prev {
  [[nodiscard]] TENDRIL_HD int steps() const { return 4; }
  [[nodiscard]] TENDRIL_HD std::int64_t sample_size(int step) const { return step == 0 ? 3 : 2; }
  [[nodiscard]] TENDRIL_HD vertex_id next(sample_view& sample, transit_list const& transits, edge_list const& edges,
                                          int, random_stream& rng) const
  {
    if (edges.empty()) { return no_vertex; }
    for (int tries = 0; tries < 4; ++tries) {
      vertex_id const found = edges[rng.bounded(edges.size())];
      if (sample.graph.has_edge(found, sample.root(0)) || sample.graph.has_edge(sample.root(0), found)) {
        return found;
      }
    }
    return transits[0];
  }
};

}  // namespace apps

namespace {

using apps::patches;
using apps::reads_all;
using apps::reads_prev;
using apps::roaming;

graph hub_graph(std::int64_t leaves)
{
  std::vector<vertex_id> const hub(static_cast<std::size_t>(leaves), 3);
  std::vector<vertex_id> to(hub.size());
  std::iota(to.begin(), to.end(), vertex_id{4});
  std::vector<float> const weights(hub.size(), 1.5F);
  return build_graph({hub, to, weights}, {.symmetrize = true});
}

graph small_rmat()
{
  return generate_rmat({.scale = 10, .edge_factor = 8, .seed = 3}, {.drop_duplicates = true},
                       {.has_weights = true, .num_labels = 5});
}

/// Bytes for a graph of which `parts` sub-graphs are made, about.
std::int64_t budget_for(graph const& g, std::int64_t parts)
{
  auto const bytes = gpu::graph_bytes::of(g.csr());
  return bytes.resident + 2 * (g.num_edges() / parts + 1) * bytes.an_edge;
}

/// A call with a layout and tunings of the test's choice.
template <class A>
samples run_streamed(graph const& host, A const& app, std::span<vertex_id const> roots, std::int64_t num_roots,
                     application_params const& params, std::int64_t budget, gpu::stream_tuning const& tuning,
                     gpu_exec const& exec)
{
  auto const kernels = engine::kernels_of<A, csr_view>();
  auto const job = engine::job_of(app, static_cast<std::int64_t>(roots.size()), num_roots, params);
  engine::application_run run(host.csr(), job, roots, params, 11, core::domain::application, exec);
  gpu::edge_stream edges(host.csr(), gpu::find_stream_layout(host.csr(), budget).value(), exec);
  gpu::grow_streamed(kernels, &app, run, edges, tuning);
  run.finish();
  return std::move(run.out);
}

template <class A>
class any_streamed_application : public test::gpu_test {
};
using streamable = testing::Types<apps::khop, apps::layer, apps::unique_layer, apps::ppr, apps::deepwalk,
                                  apps::weighted_khop_scan, apps::multidim, roaming, reads_all, patches>;
TYPED_TEST_SUITE(any_streamed_application, streamable);

TYPED_TEST(any_streamed_application, is_the_cpus_under_any_budget)
{
  graph const big =
      generate_rmat({.scale = 14, .edge_factor = 16, .seed = 1}, {.symmetrize = true, .drop_duplicates = true},
                    {.has_weights = true, .num_labels = 5});
  struct test_case {
    char const* name;
    graph host;
    std::int64_t parts, num_samples, num_roots;
  };
  std::vector<test_case> const cases{{"small", small_rmat(), 3, 1, 1},
                                     {"small", small_rmat(), 17, 37, 3},
                                     {"small", small_rmat(), 3, 2000, 2},
                                     {"large", big, 3, 300, 16},
                                     {"large", big, 17, 5000, 1},
                                     {"large", big, 9, 1 << 15, 1},
                                     {"wheel", test::wheel(300, 8), 300, 500, 2}};
  for (auto const& [name, host, parts, num_samples, num_roots] : cases) {
    if (application_has::scans<TypeParam> && (!host.has_weights() || num_samples > 5000)) { continue; }
    if (is_collective<TypeParam> && num_samples > 2000) { continue; }
    auto const roots = random_vertices(host.num_vertices(), num_samples * num_roots, 5);
    auto const roots_there = copy_to_gpu(roots.span(), this->exec);
    for (auto const order : {sample_order::per_step, sample_order::per_sample}) {
      SCOPED_TRACE(testing::Message() << name << ", " << parts << " sub-graphs, " << num_samples << " samples of "
                                      << num_roots << " roots, order " << static_cast<int>(order));
      auto params = test::params_of<TypeParam>();
      params.order = order;
      auto const expected = run_application(host, TypeParam{}, roots.span(), num_roots, params, {}, 11);
      params.gpu_memory = budget_for(host, parts);
      auto const plans = plan_application(host, TypeParam{}, num_samples, num_roots, params, this->exec);
      EXPECT_GE(plans.at(0).num_subgraphs, parts) << plans[0].reason;
      auto const found = run_application(host, TypeParam{}, roots_there.span(), num_roots, params, this->exec, 11);
      test::expect_same_samples(expected, found, &this->exec);
      if (testing::Test::HasFailure()) { return; }
    }
  }
}

TYPED_TEST(any_streamed_application, is_the_same_however_it_is_cut)
{
  graph const host = small_rmat();
  auto const roots = random_vertices(host.num_vertices(), 40 * 4, 5);
  auto const roots_there = copy_to_gpu(roots.span(), this->exec);
  auto const params = test::params_of<TypeParam>();
  auto const expected = run_application(host, TypeParam{}, roots.span(), 4, params, {}, 11);
  std::vector<gpu::stream_tuning> const tunings{{},
                                                {.most_pairs = 1, .most_copied = 1},
                                                {.most_pairs = 33, .most_copied = 3000},
                                                {.most_pairs = 1000, .most_copied = 50'000}};
  auto const view = host.csr();
  std::int64_t longest = 0;
  for (vertex_id v = 0; v < host.num_vertices(); ++v) { longest = std::max<std::int64_t>(longest, view.degree(v)); }
  auto const bytes = gpu::graph_bytes::of(view);
  // Two sub-graphs; two buffers that the longest list just fits into; two of different size; a single one.
  std::vector<std::int64_t> const budgets{budget_for(host, 2), bytes.resident + 2 * longest * bytes.an_edge,
                                          bytes.resident + longest * 3 / 2 * bytes.an_edge,
                                          bytes.resident + longest * bytes.an_edge};
  for (std::size_t t = 0; t < tunings.size(); ++t) {
    for (std::size_t b = 0; b < budgets.size(); ++b) {
      if (t == 1 && b > 1) { continue; }  // a great many launches
      SCOPED_TRACE(testing::Message() << "tuning " << t << ", budget " << b);
      test::expect_same_samples(
          expected, run_streamed(host, TypeParam{}, roots_there.span(), 4, params, budgets[b], tunings[t], this->exec),
          &this->exec);
      if (testing::Test::HasFailure()) { return; }
    }
  }
}

class streamed_application : public test::gpu_test {
 protected:
  /// The public call against the CPU.
  template <class A>
  void expect_cpus(graph const& host, A const& app, std::int64_t num_samples, application_params params,
                   std::int64_t gpu_memory)
  {
    auto const roots = random_vertices(host.num_vertices(), num_samples, 5);
    auto const roots_there = copy_to_gpu(roots.span(), exec);
    auto const expected = run_application(host, app, roots.span(), 1, params, {}, 11);
    params.gpu_memory = gpu_memory;
    test::expect_same_samples(expected, run_application(host, app, roots_there.span(), 1, params, exec, 11), &exec);
  }

  template <class A>
  std::string message_of(graph const& host, A const& app, std::span<vertex_id const> roots, application_params params)
  {
    try {
      (void)run_application(host, app, roots, 1, params, exec);
    } catch (error const& e) {
      return e.what();
    }
    return "nothing thrown";
  }
};

TEST_F(streamed_application, a_hub_is_a_subgraph_of_its_own)
{
  graph const host = hub_graph(50'000);
  auto const bytes = gpu::graph_bytes::of(host.csr());
  for (std::int64_t const edges : {50'000, 60'000, 75'000, 99'999}) {
    SCOPED_TRACE(edges);
    std::int64_t const budget = bytes.resident + edges * bytes.an_edge;
    expect_cpus(host, apps::khop{}, 3000, {.seed = 1}, budget);
    expect_cpus(host, apps::weighted_khop_scan{2, {2, 3}}, 50, {.seed = 1}, budget);
    expect_cpus(host, apps::layer{10, 20}, 300, {.seed = 1, .max_steps = 3}, budget);
  }
}

TEST_F(streamed_application, a_graph_that_fits_is_copied)
{
  graph const host = small_rmat();
  for (std::int64_t const budget : {std::int64_t{0}, gpu::graph_bytes::of(host.csr()).all}) {
    application_params params;
    params.gpu_memory = budget;
    auto const plans = plan_application(host, apps::khop{}, 100, 1, params, exec);
    EXPECT_EQ(plans.at(0).num_subgraphs, 0) << plans[0].reason;
    expect_cpus(host, apps::khop{}, 500, {.seed = 2}, budget);
    expect_cpus(host, apps::node2vec{10, 0.5, 2}, 500, {.seed = 2}, budget);
    expect_cpus(host, apps::importance{}, 100, {.seed = 2}, budget);
    expect_cpus(host, apps::unique_khop{}, 100, {.seed = 2}, budget);
  }
  graph const none = build_graph(coo_view{}, {.num_vertices = 50});
  expect_cpus(none, apps::khop{}, 100, {.seed = 2}, 51 * 8);
}

TEST_F(streamed_application, samples_that_end_early_leave_the_other_steps_empty)
{
  graph const host = small_rmat();
  for (auto const order : {sample_order::per_step, sample_order::per_sample}) {
    for (double const stop : {1.0, 0.5}) {
      expect_cpus(host, apps::ppr{stop}, 2000, {.max_steps = 100, .order = order, .checked = true},
                  budget_for(host, 5));
    }
  }
}

TEST_F(streamed_application, page_locked_arrays_are_copied_as_they_lie)
{
  graph const host = small_rmat();
  auto const locked = [](auto const& from) {
    using element = std::remove_cvref_t<decltype(from[0])>;
    buffer<element> out(static_cast<std::int64_t>(from.size()), pinned_memory());
    std::copy(from.begin(), from.end(), out.begin());
    return shared_array<element>(std::move(out));
  };
  graph_arrays arrays;
  arrays.indptr = locked(host.arrays().indptr);
  arrays.indices = locked(host.arrays().indices);
  arrays.weights = locked(host.arrays().weights);
  graph const there(std::move(arrays));
  expect_cpus(there, reads_all{}, 3000, {.seed = 4}, budget_for(there, 7));
}

TEST_F(streamed_application, arrays_longer_than_all_chunks_of_page_locked_memory)
{
  graph const host = generate_rmat({.scale = 20, .edge_factor = 24, .seed = 9}, {});
  ASSERT_GT(host.num_edges() * 4, 80 << 20);
  expect_cpus(host, apps::khop{3, {10, 5, 5}}, 20'000, {.seed = 4}, budget_for(host, 3));
  expect_cpus(host, apps::khop{3, {10, 5, 5}}, 20'000, {.seed = 4}, budget_for(host, 40));
}

TEST_F(streamed_application, problems_are_those_of_the_cpu)
{
  graph const host = small_rmat();
  auto const roots = random_vertices(host.num_vertices(), 100, 5);
  auto const roots_there = copy_to_gpu(roots.span(), exec);
  auto const same = [&](auto const& app, std::span<vertex_id const> a, std::span<vertex_id const> b,
                        application_params params) {
    std::string expected = "nothing thrown";
    try {
      (void)run_application(host, app, a, 1, params);
    } catch (argument_error const& e) {
      expected = e.what();
    }
    EXPECT_NE(expected, "nothing thrown");
    params.gpu_memory = budget_for(host, 4);
    EXPECT_EQ(message_of(host, app, b, params), expected);
  };
  same(apps::ppr{0.0}, roots.span(), roots_there.span(), {.max_steps = 3, .checked = true});
  roaming astray;
  astray.lost_at = 2;
  same(astray, roots.span(), roots_there.span(), {.max_steps = 6});
  std::vector<vertex_id> bad(roots.begin(), roots.end());
  bad[7] = 0x7fffffffU;
  bad[50] = no_vertex;
  auto const bad_there = copy_to_gpu(bad, exec);
  same(apps::khop{}, bad, bad_there.span(), {});
  same(apps::multidim{}, bad, bad_there.span(), {});
  same(apps::layer{}, bad, bad_there.span(), {.max_steps = 3});
}

TEST_F(streamed_application, what_cannot_stream_is_placed)
{
  // Arrays of some 8, 8 and 2 MB: of the regions of 2 MiB some lie on the GPU, others don't.
  graph const host = generate_rmat({.scale = 18, .edge_factor = 8, .seed = 3}, {.drop_duplicates = true},
                                   {.has_weights = true, .num_labels = 5});
  auto const bytes = gpu::graph_bytes::of(host.csr());
  for (double const share : {0.0, 0.3, 0.7}) {
    SCOPED_TRACE(share);
    std::int64_t const budget =
        bytes.resident + static_cast<std::int64_t>(share * static_cast<double>(bytes.all - bytes.resident));
    application_params params;
    params.gpu_memory = budget;
    auto const plans = plan_application(host, apps::node2vec{10, 0.5, 2}, 100, 1, params, exec);
    EXPECT_EQ(plans.at(0).num_subgraphs, 0);
    EXPECT_NE(plans.at(0).reason.find("it lies on the GPU in part"), std::string::npos) << plans[0].reason;
    expect_cpus(host, apps::node2vec{10, 0.5, 2}, 2000, {.seed = 2}, budget);  // has_edge() of other vertices
    expect_cpus(host, apps::importance{}, 300, {.seed = 2}, budget);           // recorded edges
    expect_cpus(host, apps::unique_khop{}, 300, {.seed = 2}, budget);          // unique steps
    expect_cpus(host, apps::unique_khop{}, 300, {.seed = 2, .executor = sampling_executor::transit_parallel}, budget);
    expect_cpus(host, reads_prev{}, 2000, {.seed = 2}, budget);  // reads CSR alone
    graph const packed = compress(host, graph_form::packed);
    std::int64_t const directory =
        64 * packed.arrays().compressed.blocks.size() + 16 * packed.arrays().compressed.wide.size();
    expect_cpus(packed, apps::khop{}, 2000, {.seed = 2}, directory + budget / 4);
    expect_cpus(packed, apps::node2vec{10, 0.5, 2}, 2000, {.seed = 2}, directory + budget / 4);
  }
  // A list that no buffer holds.
  graph const hub = hub_graph(50'000);
  auto const of_hub = gpu::graph_bytes::of(hub.csr());
  expect_cpus(hub, apps::khop{}, 3000, {.seed = 1}, of_hub.resident + 20'000 * of_hub.an_edge);
  expect_cpus(hub, apps::layer{10, 20}, 300, {.seed = 1, .max_steps = 3}, of_hub.resident + 1);
}

TEST_F(streamed_application, what_has_no_room_at_all_says_so)
{
  graph const host = small_rmat();
  auto const roots_there = copy_to_gpu(random_vertices(host.num_vertices(), 10, 5).span(), exec);
  auto const roots = roots_there.span();
  application_params params;
  params.gpu_memory = 1000;
  EXPECT_EQ(message_of(host, apps::node2vec{}, roots, params),
            "gpu_memory: 1000 bytes of GPU memory, expected at least 8200 for the graph's offsets");
  EXPECT_EQ(message_of(host, apps::khop{}, roots, params),
            "gpu_memory: 1000 bytes of GPU memory, expected at least 8200 for the graph's offsets");
  params.gpu_memory = -1;
  EXPECT_EQ(message_of(host, apps::khop{}, roots, params), "gpu_memory: -1, expected 0 or more");
}

TEST_F(streamed_application, no_samples_give_nothing)
{
  application_params params;
  params.gpu_memory = 1;
  auto const none = run_application(small_rmat(), apps::khop{}, {}, 4, params, exec);
  EXPECT_EQ(none.num_samples, 0);
}

TEST_F(streamed_application, plans_name_subgraphs_and_bytes)
{
  graph const host = small_rmat();
  application_params params;
  params.gpu_memory = budget_for(host, 8);
  auto const plans = plan_application(host, apps::khop{}, 1000, 1, params, exec);
  std::int64_t const edge_bytes = host.num_edges() * gpu::graph_bytes::of(host.csr()).an_edge;
  EXPECT_GE(plans.at(0).num_subgraphs, 8);
  EXPECT_EQ(plans.at(0).copied_bytes, edge_bytes);
  EXPECT_LT(plans.at(1).copied_bytes, edge_bytes);  // what the buffers hold stays
  EXPECT_GT(plans.at(1).transit_seconds, 0);
  EXPECT_NE(plans.at(0).reason.find("streams in " + std::to_string(plans[0].num_subgraphs) + " sub-graphs"),
            std::string::npos)
      << plans[0].reason;
}

}  // namespace
}  // namespace tendril
