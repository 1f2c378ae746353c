// Graphs of several types say what doesn't fit in them; orders of time are the stable ones.

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/error.hpp>
#include <tendril/hetero_graph.hpp>

#include "support/messages.hpp"
#include "support/small_graphs.hpp"
#include "support/to_array.hpp"

namespace tendril::test {
namespace {

constexpr columns bare{.weights = false, .labels = false};

/// 3 rows; 0 -> 1, 0 -> 4, 2 -> 0: from a type of 3 vertices to one of 5.
graph wide() { return make_graph(5, {{0, 1}, {0, 4}, {2, 0}}, bare); }

template <class F>
std::string refusal(F f)
{
  return message_of<argument_error>(f);
}

TEST(HeteroGraph, OneTypeIsAGraph)
{
  hetero_graph const g(wide());
  EXPECT_EQ(g.num_vertices(), (std::vector<std::int64_t>{5}));
  ASSERT_EQ(g.edge_types().size(), 1U);
  EXPECT_EQ(g.edge_types()[0].from, 0);
  EXPECT_EQ(g.edge_types()[0].to, 0);
  EXPECT_EQ(g.edge_types()[0].edges.num_edges(), 3);
  EXPECT_FALSE(g.has_times());
  EXPECT_EQ(g.device(), -1);
  g.validate();
  EXPECT_TRUE(hetero_graph(wide(), order_by_time(wide(), std::vector<std::int64_t>{3, 2, 1})).has_times());
  hetero_graph(graph()).validate();
}

TEST(HeteroGraph, Refuses)
{
  EXPECT_EQ(refusal([] { hetero_graph(std::vector<std::int64_t>{}, {}); }),
            "num_vertices: none given, expected one a vertex type");
  EXPECT_EQ(refusal([] { hetero_graph({3, -1}, {}); }), "num_vertices: -1 of vertex type 1, expected 0 to 4294967295");
  EXPECT_EQ(refusal([] {
              hetero_graph({5, 5}, {{0, 1, wide(), {}}, {1, 2, wide(), {}}});
            }),
            "edge type 1: from 1 to 2, expected vertex types below 2");
  EXPECT_EQ(refusal([] {
              hetero_graph({5}, {{-1, 0, wide(), {}}});
            }),
            "edge type 0: from -1 to 0, expected vertex types below 1");
  EXPECT_EQ(refusal([] {
              hetero_graph({3, 6}, {{0, 1, wide(), {}}});
            }),
            "edge type 0: a graph of 5 vertices, expected at least 6, the larger of its two types");
  temporal_order short_order{to_array(std::vector<std::int64_t>{1, 2}), to_array(std::vector<std::uint32_t>{0, 1})};
  EXPECT_EQ(refusal([&] {
              hetero_graph({3, 5}, {{0, 1, wide(), short_order}});
            }),
            "edge type 0: 2 times, expected one an edge: 3");
  short_order.ordinal = to_array(std::vector<std::uint32_t>{0});
  EXPECT_EQ(refusal([&] {
              hetero_graph({3, 5}, {{0, 1, wide(), short_order}});
            }),
            "edge type 0: 2 times and 1 ordinals, expected as many");
}

TEST(HeteroGraph, ValidatesNeighboursAndOrders)
{
  auto const violation = [](hetero_graph const& g) { return message_of<format_error>([&] { g.validate(); }); };
  hetero_graph({3, 5}, {{0, 1, wide(), {}}}).validate();
  EXPECT_EQ(violation({{3, 4}, {{0, 1, wide(), {}}}}),
            "edge type 0: vertex 0: neighbour 4 at edge 1, expected an id below 4");
  EXPECT_EQ(violation({{2, 5}, {{0, 1, wide(), {}}}}), "edge type 0: row 2 has 1 edges, but its type has 2 vertices");
  auto const ordered = [](std::vector<std::int64_t> const& times, std::vector<std::uint32_t> const& ordinal) {
    return hetero_graph({3, 5}, {{0, 1, wide(), {to_array(times), to_array(ordinal)}}});
  };
  ordered({5, 6, 1}, {1, 0, 0}).validate();
  EXPECT_EQ(violation(ordered({6, 5, 1}, {1, 0, 0})), "edge type 0: vertex 0: times not ascending at 1 (5 after 6)");
  EXPECT_EQ(violation(ordered({5, 6, 1}, {1, 1, 0})),
            "edge type 0: vertex 0: ordinal 1 at 1, expected each below 2 once");
  EXPECT_EQ(violation(ordered({5, 6, 1}, {0, 1, 3})),
            "edge type 0: vertex 2: ordinal 3 at 2, expected each below 1 once");
}

TEST(HeteroGraph, TakesCompressedEdges)
{
  graph const packed = compress(wide(), graph_form::packed);
  auto const violation = [](hetero_graph const& g) { return message_of<format_error>([&] { g.validate(); }); };
  hetero_graph({3, 5}, {{0, 1, packed, {}}, {0, 1, wide(), {}}}).validate();
  EXPECT_EQ(violation({{3, 4}, {{0, 1, packed, {}}}}),
            "edge type 0: vertex 0: neighbour 4 at edge 1, expected an id below 4");
  EXPECT_EQ(violation({{2, 5}, {{0, 1, packed, {}}}}), "edge type 0: row 2 has 1 edges, but its type has 2 vertices");
  graph_arrays arrays = packed.arrays();
  arrays.compressed.words = to_array(std::vector<std::uint32_t>(list_codes::words_beyond, 0));
  EXPECT_EQ(violation({{3, 5}, {{0, 1, graph(arrays), {}}}}),
            "edge type 0: vertex 0: its block of the directory has a list at byte 1, expected at most 0");
}

TEST(TemporalOrder, DoesNotDependOnTheForm)
{
  graph const packed = compress(wide(), graph_form::packed);
  std::vector<std::int64_t> const times{7, 1, 5, 3, 2};
  auto const expect_equal = [](temporal_order const& a, temporal_order const& b) {
    EXPECT_TRUE(std::equal(a.times.begin(), a.times.end(), b.times.begin(), b.times.end()));
    EXPECT_TRUE(std::equal(a.ordinal.begin(), a.ordinal.end(), b.ordinal.begin(), b.ordinal.end()));
  };
  std::span const three = std::span(times).first(3);
  expect_equal(order_by_time(packed, three), order_by_time(wide(), three));
  expect_equal(order_by_vertex_time(packed, times), order_by_vertex_time(wide(), times));
  EXPECT_EQ(refusal([&] { (void)order_by_vertex_time(packed, three); }),
            refusal([&] { (void)order_by_vertex_time(wide(), three); }));
}

TEST(TemporalOrder, IsThatOfTimeThenPosition)
{
  std::mt19937_64 random(5);
  std::vector<test_edge> edges;
  for (int i = 0; i < 20'000; ++i) {
    auto const from = static_cast<vertex_id>(random() % 3 == 0 ? 17 : random() % 3000);
    edges.push_back({from, static_cast<vertex_id>(random() % 3000)});
  }
  graph const g = make_graph(3000, edges, bare);
  std::vector<std::int64_t> times(20'000);
  for (auto& t : times) { t = static_cast<std::int64_t>(random() % 50) - 25; }
  times[7] = std::numeric_limits<std::int64_t>::min();
  times[8] = std::numeric_limits<std::int64_t>::max();
  for (int const threads : {1, 2, 4}) {
    temporal_order const order = order_by_time(g, times, {.num_threads = threads});
    for (vertex_id v = 0; v < 3000; ++v) {
      auto const first = static_cast<std::size_t>(g.csr().first_edge(v));
      std::vector<std::uint32_t> expected(g.csr().degree(v));
      std::iota(expected.begin(), expected.end(), 0U);
      std::stable_sort(expected.begin(), expected.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return times[first + a] < times[first + b]; });
      for (std::size_t i = 0; i < expected.size(); ++i) {
        auto const at = static_cast<std::int64_t>(first + i);
        ASSERT_EQ(order.ordinal[at], expected[i]) << "vertex " << v;
        ASSERT_EQ(order.times[at], times[first + expected[i]]) << "vertex " << v;
      }
    }
  }
}

TEST(TemporalOrder, OfVerticesIsThatOfNeighbours)
{
  std::vector<std::int64_t> const of_vertices = {9, 7, 0, 0, 2};
  temporal_order const order = order_by_vertex_time(wide(), of_vertices);
  EXPECT_EQ(std::vector(order.times.begin(), order.times.end()), (std::vector<std::int64_t>{2, 7, 9}));
  EXPECT_EQ(std::vector(order.ordinal.begin(), order.ordinal.end()), (std::vector<std::uint32_t>{1, 0, 0}));
}

TEST(TemporalOrder, RefusesOtherNumbersOfTimes)
{
  std::vector<std::int64_t> const four(4, 0);
  EXPECT_EQ(refusal([&] { (void)order_by_time(wide(), four); }), "edge_times: 4 times, expected one an edge: 3");
  EXPECT_EQ(refusal([&] { (void)order_by_vertex_time(wide(), four); }),
            "vertex_times: 4 times, but edge 1 leads to vertex 4");
}

}  // namespace
}  // namespace tendril::test
