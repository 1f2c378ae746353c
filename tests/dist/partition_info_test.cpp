// What all ranks know of a graph is the same however it is cut, and as a planner finds it in the whole graph.

#include <tendril/partition.hpp>

#include <set>

#include <gtest/gtest.h>

#include "dist/part_files.hpp"
#include "dist/partition_support.hpp"
#include "plan/tables.hpp"
#include "support/damaged_graphs.hpp"
#include "support/graph_forms.hpp"

namespace tendril::test {
namespace {

partition_info info_of(graph const& g, partition_params params, int threads = 0)
{
  cpu_exec exec;
  exec.num_threads = threads;
  return part_of(g, params, 0, exec).info;
}

std::string digest_of(graph const& g) { return info_of(g, {}).digest; }
std::string digest_of(graph_arrays arrays) { return digest_of(graph(std::move(arrays))); }

std::vector<graph> random_graphs()
{
  std::vector<graph> out = graphs_to_cut();
  for (std::uint64_t seed = 0; seed < 10; ++seed) { out.push_back(random_graph(seed)); }
  return out;
}

TEST(partition_info, has_the_statistics_of_the_whole_graph)
{
  int weighted = 0;
  for (graph const& g : random_graphs()) {
    for (auto const method : {partition_method::range, partition_method::degree}) {
      auto const weights = info_of(g, {3, method}).weights;
      ASSERT_EQ(weights.has_value(), g.has_weights());
      if (!weights) { continue; }
      auto const expected = plan::make_weight_statistics(g.view(), cpu_exec());
      EXPECT_EQ(weights->expected_trials, expected.expected_trials);
      EXPECT_EQ(weights->mean_degree, expected.mean_degree);
      EXPECT_EQ(weights->most_trials, expected.most_trials);
      ++weighted;
    }
  }
  EXPECT_GT(weighted, 10);
}

TEST(partition_info, lists_the_labels_in_use)
{
  auto const expected = [](graph const& g, plan::grouping by) {
    std::vector<label_id> out;
    auto const used = plan::labels_in_use(g.view(), by, cpu_exec());
    for (std::size_t l = 0; l < used.size(); ++l) {
      if (used[l] != 0) { out.push_back(static_cast<label_id>(l)); }
    }
    return out;
  };
  for (graph const& g : random_graphs()) {
    partition_info const info = info_of(g, {4});
    EXPECT_EQ(info.edge_labels_in_use, expected(g, plan::grouping::by_edge_label));
    EXPECT_EQ(info.node_types_in_use, expected(g, plan::grouping::by_target_type));
  }
  EXPECT_EQ(info_of(make_full_graph(), {2}).edge_labels_in_use, (std::vector<label_id>{0, 1, 2, 700}));
  EXPECT_EQ(info_of(make_full_graph(), {2}).node_types_in_use, (std::vector<label_id>{0, 1}));
}

TEST(partition_info, counts_edges_that_cross)
{
  // 0 -> 0, 2, 3; 2 -> 1, 3; 3 -> 0
  partition_info const info = info_of(make_full_graph(), {2, partition_method::range});
  EXPECT_EQ(info.bounds, (std::vector<std::int64_t>{0, 2, 4}));
  EXPECT_EQ(info.part_edges, (std::vector<edge_id>{3, 3}));
  EXPECT_EQ(info.crossing_edges, (std::vector<edge_id>{2, 2}));
  for (graph const& g : random_graphs()) {
    for (std::int64_t const n : part_counts) {
      partition_info const cut = info_of(g, {n});
      std::vector<edge_id> edges(static_cast<std::size_t>(n)), crossing(static_cast<std::size_t>(n));
      for (std::int64_t v = 0; v < g.num_vertices(); ++v) {
        auto const p = static_cast<std::size_t>(cut.part_of(v));
        for (std::uint32_t i = 0; i < g.view().degree(v); ++i) {
          ++edges[p];
          crossing[p] += std::cmp_not_equal(cut.part_of(g.view().neighbor(v, i)), p) ? 1 : 0;
        }
      }
      EXPECT_EQ(cut.part_edges, edges);
      EXPECT_EQ(cut.crossing_edges, crossing);
    }
  }
}

TEST(partition_info, has_a_digest_of_the_graph_alone)
{
  std::set<std::string> digests;
  auto const graphs = random_graphs();
  for (graph const& g : graphs) {
    std::string const digest = digest_of(g);
    digests.insert(digest);
    for (graph const& form : in_all_forms(g)) {
      for (std::int64_t const n : part_counts) {
        EXPECT_EQ(info_of(form, {n, partition_method::range}, 1).digest, digest);
        EXPECT_EQ(info_of(form, {n, partition_method::degree}, 7).digest, digest);
      }
    }
  }
  EXPECT_EQ(digests.size(), graphs.size());
}

TEST(partition_info, has_a_digest_of_every_array)
{
  graph_arrays const full = make_full_graph().arrays();
  std::set<std::string> digests{digest_of(full)};
  std::size_t expected = 1;
  auto const expect_new = [&](graph_arrays arrays, char const* what) {
    digests.insert(digest_of(std::move(arrays)));
    EXPECT_EQ(digests.size(), ++expected) << what;
  };
  auto const but = [&](auto change) {
    graph_arrays arrays = full;
    change(arrays);
    return arrays;
  };
  expect_new(changed(full, &graph_arrays::indptr, 1, edge_id{2}), "a row that is shorter");
  for (std::int64_t e = 0; e < 6; ++e) {
    expect_new(changed(full, &graph_arrays::weights, e, 7.0F), "a weight");
    expect_new(changed(full, &graph_arrays::edge_ids, e, edge_id{9}), "an edge id");
    auto labels = to_vector(full.edge_labels);
    std::vector<std::uint16_t> other(labels.begin(), labels.end());
    other[static_cast<std::size_t>(e)] = 9;
    expect_new(but([&](graph_arrays& a) { a.edge_labels = to_array(other); }), "an edge label");
  }
  expect_new(changed(full, &graph_arrays::indices, 0, vertex_id{1}), "a neighbour");
  expect_new(changed(full, &graph_arrays::original_ids, 3, vertex_id{9}), "an original id");
  expect_new(but([](graph_arrays& a) { a.node_types = to_array<std::uint8_t>({0, 1, 1, 1}); }), "a type");
  expect_new(but([](graph_arrays& a) { a.weights = {}; }), "no weights");
  expect_new(but([](graph_arrays& a) { a.edge_labels = {}; }), "no labels");
  expect_new(but([](graph_arrays& a) { a.edge_ids = {}; }), "no edge ids");
  expect_new(but([](graph_arrays& a) { a.node_types = {}; }), "no types");
  expect_new(but([](graph_arrays& a) { a.original_ids = {}; }), "no original ids");
  expect_new(but([](graph_arrays& a) { a.edge_label_names[0] = "quotes"; }), "a name");
  expect_new(but([](graph_arrays& a) { a.node_type_names.pop_back(); }), "a name less");
  expect_new(but([](graph_arrays& a) { a.symmetric = true; }), "symmetric");
}

TEST(partition_info, survives_json)
{
  for (graph const& g : random_graphs()) {
    partition_info info = info_of(g, {5});
    EXPECT_EQ(dist::parse_partition_info("graph.json", dist::to_json_text(info)), info);
    if (!info.weights) { continue; }
    for (double const number : {0.1 + 0.2, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, 16777217.0}) {
      info.weights = {number, number / 3, number / 7};
      EXPECT_EQ(dist::parse_partition_info("graph.json", dist::to_json_text(info)).weights, info.weights);
    }
  }
}

}  // namespace
}  // namespace tendril::test
