// Renumbering: the result is the same graph under other numbers, edge by edge, with everything that edges and vertices
// carry.

#include <tendril/renumber.hpp>

#include <numeric>
#include <stdexcept>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>

#include "build/build_verifier.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"
#include "support/to_array.hpp"

namespace tendril {
namespace {

using test::message_of;

/// A random order of `size` vertices.
std::vector<vertex_id> shuffled(std::int64_t size, std::uint64_t seed)
{
  std::vector<vertex_id> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), vertex_id{0});
  test::lehmer next(seed);
  for (std::size_t i = order.size(); i > 1; --i) { std::swap(order[i - 1], order[next(i)]); }
  return order;
}

/// What must hold, row by row: the edges of vertex i are those of order[i] in the input with other targets, stably sorted by
/// them; each keeps its weight, label and id.
void expect_renumbered(graph const& g, graph const& input, std::vector<vertex_id> const& order)
{
  ASSERT_EQ(g.num_vertices(), input.num_vertices());
  ASSERT_EQ(g.num_edges(), input.num_edges());
  ASSERT_EQ(g.form(), graph_form::csr);
  auto const& a = g.arrays();
  auto const& b = input.arrays();
  ASSERT_EQ(a.weights.size(), b.weights.size());
  ASSERT_EQ(a.edge_labels.bytes_per_label(), b.edge_labels.bytes_per_label());
  ASSERT_EQ(a.node_types.bytes_per_label(), b.node_types.bytes_per_label());
  ASSERT_EQ(a.edge_ids.size(), b.edge_ids.size());
  ASSERT_EQ(a.original_ids.size(), g.num_vertices());
  std::vector<vertex_id> rank(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) { rank[order[i]] = static_cast<vertex_id>(i); }
  std::size_t mismatches = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto const v = std::int64_t{order[i]};
    std::vector<edge_id> edges(static_cast<std::size_t>(b.indptr[v + 1] - b.indptr[v]));
    std::iota(edges.begin(), edges.end(), b.indptr[v]);
    std::stable_sort(edges.begin(), edges.end(),
                     [&](edge_id x, edge_id y) { return rank[b.indices[x]] < rank[b.indices[y]]; });
    auto const at = static_cast<std::int64_t>(i);
    ASSERT_EQ(a.indptr[at + 1] - a.indptr[at], std::ssize(edges));
    for (std::size_t j = 0; j < edges.size(); ++j) {
      edge_id const e = a.indptr[at] + static_cast<edge_id>(j), from = edges[j];
      bool same = a.indices[e] == rank[b.indices[from]];
      same = same && (b.weights.empty() || a.weights[e] == b.weights[from]);
      same = same && (b.edge_labels.empty() || a.edge_labels.view()[e] == b.edge_labels.view()[from]);
      same = same && (b.edge_ids.empty() || a.edge_ids[e] == b.edge_ids[from]);
      mismatches += !same;
    }
    bool same = a.original_ids[at] == (b.original_ids.empty() ? order[i] : b.original_ids[v]);
    same = same && (b.node_types.empty() || a.node_types.view()[at] == b.node_types.view()[v]);
    mismatches += !same;
  }
  EXPECT_EQ(mismatches, 0U);
  EXPECT_NO_THROW(graph(a).validate());
}

/// A path 0 - 1 - 2 whose edges weigh as many as their ends.
graph path_of_three() { return test::make_graph(3, {{0, 1, 1}, {1, 0, 1}, {1, 2, 12}, {2, 1, 12}}, {true, false}); }

TEST(Renumber, KnownAnswer)
{
  graph const g = renumber(path_of_three(), std::vector<vertex_id>{1, 2, 0});  // 1 is 0 now, 2 is 1, 0 is 2
  auto const& a = g.arrays();
  EXPECT_EQ(std::vector(a.indptr.begin(), a.indptr.end()), (std::vector<edge_id>{0, 2, 3, 4}));
  EXPECT_EQ(std::vector(a.indices.begin(), a.indices.end()), (std::vector<vertex_id>{1, 2, 0, 0}));
  EXPECT_EQ(std::vector(a.weights.begin(), a.weights.end()), (std::vector<float>{12, 1, 12, 1}));
  EXPECT_EQ(std::vector(a.original_ids.begin(), a.original_ids.end()), (std::vector<vertex_id>{1, 2, 0}));
}

TEST(Renumber, EverythingThatEdgesAndVerticesCarry)
{
  graph const zoo = test::make_zoo(3);  // a hub, self loops, parallel edges, dead ends, isolated vertices
  auto const order = shuffled(zoo.num_vertices(), 5);
  expect_renumbered(renumber(zoo, order), zoo, order);
  for (int const label_bytes : {0, 1, 2}) {
    for (auto const kind : {test::shape::hub, test::shape::crowd, test::shape::skewed, test::shape::loops}) {
      auto const edges = test::make_edges(kind, 20'000, label_bytes != 1, label_bytes, 7);
      build_options options;
      options.keep_edge_ids = label_bytes != 2;
      graph const g = build_graph(edges.view(), options);
      auto const other = shuffled(g.num_vertices(), 11);
      expect_renumbered(renumber(g, other), g, other);
    }
  }
}

TEST(Renumber, NamesMetadataAndSymmetryStay)
{
  auto const edges = test::make_edges(test::shape::skewed, 5000, false, 0, 1);
  build_options options;
  options.symmetrize = options.drop_duplicates = true;
  auto arrays = build_graph(edges.view(), options).arrays();
  arrays.metadata["name"] = "skewed";
  arrays.edge_label_names = {"a"};
  arrays.node_type_names = {"b", "c"};
  graph const g = renumber(graph(arrays), {vertex_order::rcm});
  EXPECT_TRUE(g.arrays().symmetric);
  EXPECT_EQ(g.arrays().metadata, arrays.metadata);
  EXPECT_EQ(g.arrays().edge_label_names, arrays.edge_label_names);
  EXPECT_EQ(g.arrays().node_type_names, arrays.node_type_names);
  EXPECT_NO_THROW(graph(g.arrays()).validate());
}

TEST(Renumber, ThreadsAndFormChangeNothing)
{
  auto const edges = test::make_edges(test::shape::hub, 300'000, true, 1, 9);
  graph const g = build_graph(edges.view(), {});
  auto const order = shuffled(g.num_vertices(), 2);
  graph const one = renumber(g, order, cpu_exec{.num_threads = 1});
  expect_renumbered(one, g, order);
  for (int const threads : {2, 3, 8}) {
    test::expect_same_graph(renumber(g, order, cpu_exec{.num_threads = threads}), one);
  }
  test::expect_same_graph(renumber(compress(g, graph_form::packed), order), one);
}

TEST(Renumber, OriginalIdsAreThoseOfTheFirstInput)
{
  auto const edges = test::make_edges(test::shape::sparse_ids, 3000, false, 0, 4);
  build_options options;
  options.compact = true;
  graph const g = build_graph(edges.view(), options);
  auto const order = shuffled(g.num_vertices(), 8);
  graph const once = renumber(g, order);
  expect_renumbered(once, g, order);
  graph const twice = renumber(once, {vertex_order::bfs});
  auto const& a = twice.arrays();
  std::vector<vertex_id> of_edge(2);  // each edge leads between the same original ids as before
  std::vector<std::pair<vertex_id, vertex_id>> before, after;
  for (std::size_t k = 0; k < edges.sources.size(); ++k) { before.emplace_back(edges.sources[k], edges.targets[k]); }
  for (std::int64_t v = 0; v < twice.num_vertices(); ++v) {
    for (edge_id e = a.indptr[v]; e < a.indptr[v + 1]; ++e) {
      after.emplace_back(a.original_ids[v], a.original_ids[a.indices[e]]);
    }
  }
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  EXPECT_EQ(before, after);
  EXPECT_NO_THROW(graph(a).validate());
  // And back: compact keeps the order of numbers, a renumbered graph can be built again.
  graph const back = build_graph(twice, options);
  EXPECT_TRUE(std::equal(back.arrays().original_ids.begin(), back.arrays().original_ids.end(), a.original_ids.begin()));
}

TEST(Renumber, ByTheInverseComesBack)
{
  auto const edges = test::make_edges(test::shape::uniform, 4000, true, 2, 6);
  graph const g = build_graph(edges.view(), {});
  auto const order = shuffled(g.num_vertices(), 3);
  std::vector<vertex_id> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) { inverse[order[i]] = static_cast<vertex_id>(i); }
  graph_arrays back = renumber(renumber(g, order), inverse).arrays();
  for (std::int64_t v = 0; v < g.num_vertices(); ++v) { ASSERT_EQ(back.original_ids[v], v); }
  back.original_ids = {};
  test::expect_same_graph(graph(back), g);
}

TEST(Renumber, SmallGraphs)
{
  EXPECT_EQ(renumber(graph(), std::vector<vertex_id>{}).num_vertices(), 0);
  EXPECT_EQ(renumber(compress(graph(), graph_form::packed), std::vector<vertex_id>{}).num_vertices(), 0);
  graph const loop = test::make_graph(1, {{0, 0, 2.0F}, {0, 0, 1.0F}}, {true, false});
  expect_renumbered(renumber(loop, std::vector<vertex_id>{0}), loop, {0});
  graph const edgeless = test::make_graph(3, {}, {false, false}, {1, 2, 3});
  expect_renumbered(renumber(edgeless, std::vector<vertex_id>{2, 0, 1}), edgeless, {2, 0, 1});
}

TEST(Renumber, HostileOrders)
{
  graph const g = path_of_three();
  auto const refused = [&](std::vector<vertex_id> const& order) {
    return message_of<argument_error>([&] { (void)renumber(g, order); });
  };
  EXPECT_EQ(refused({0, 1}), "order: 2 vertices, expected each of the graph's 3 once");
  EXPECT_EQ(refused({}), "order: 0 vertices, expected each of the graph's 3 once");
  EXPECT_EQ(refused({0, 3, 1}), "order 1: vertex 3 is out of range, the graph has 3 vertices");
  EXPECT_EQ(refused({0, 1, no_vertex}), "order 2: vertex 4294967295 is out of range, the graph has 3 vertices");
  EXPECT_EQ(refused({2, 1, 2}), "order: vertex 2 at positions 0 and 2, expected each vertex once");
  EXPECT_EQ(message_of<argument_error>([&] { (void)renumber(g, {static_cast<vertex_order>(9)}); }),
            "order: 9, expected degree, bfs, rcm or llp");
}

TEST(Renumber, UnsoundGraphsAreRefused)
{
  graph_arrays arrays;
  arrays.indptr = test::to_array<edge_id>({0, 1, 2});
  arrays.indices = test::to_array<vertex_id>({1, 7});
  graph const g(std::move(arrays));
  for (auto const order : {vertex_order::degree, vertex_order::bfs, vertex_order::rcm, vertex_order::llp}) {
    EXPECT_EQ(message_of<format_error>([&] { (void)renumber(g, {order}); }),
              "vertex 1: neighbour 7 at edge 1, expected an id below 2");
  }
  EXPECT_EQ(message_of<format_error>([&] {
              (void)renumber(g, std::vector<vertex_id>{1, 0});
            }),
            "vertex 1: neighbour 7 at edge 1, expected an id below 2");
}

TEST(Renumber, ProgressIsToldAndCanCancel)
{
  graph const g = test::make_zoo(1);
  g.check();
  std::vector<std::string> stages;
  cpu_exec exec;
  exec.on_progress = [&](progress const& p) {
    EXPECT_LE(p.done, p.total);
    if (stages.empty() || stages.back() != p.what) { stages.emplace_back(p.what); }
  };
  (void)renumber(g, {vertex_order::llp}, exec);
  EXPECT_EQ(stages, (std::vector<std::string>{"ordering", "renumbering"}));
  exec.on_progress = [](progress const&) { throw std::runtime_error("enough"); };
  for (auto const order : {vertex_order::degree, vertex_order::bfs, vertex_order::rcm, vertex_order::llp}) {
    EXPECT_THROW((void)renumber(g, {order}, exec), std::runtime_error);
  }
}

}  // namespace
}  // namespace tendril
