// Orders of vertices: equal to a serial verifier's, whatever the number of threads and the form of the graph.

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/generate.hpp>
#include <tendril/renumber.hpp>

#include "build/build_verifier.hpp"
#include "build/order_verifier.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"

namespace tendril {
namespace {

using enum vertex_order;
using vertices = std::vector<vertex_id>;

constexpr vertex_order all_orders[] = {degree, bfs, rcm, llp};

vertices order_of(graph const& g, order_params const& params, int threads = 0)
{
  auto const order = order_vertices(g, params, cpu_exec{.num_threads = threads});
  return {order.begin(), order.end()};
}

void expect_permutation(vertices order, std::int64_t size)
{
  ASSERT_EQ(std::ssize(order), size);
  std::sort(order.begin(), order.end());
  for (std::int64_t v = 0; v < size; ++v) { ASSERT_EQ(order[static_cast<std::size_t>(v)], v); }
}

graph symmetric_graph(std::int64_t num_vertices, std::vector<std::pair<vertex_id, vertex_id>> const& pairs)
{
  test::edge_list edges;
  for (auto const& [u, v] : pairs) {
    edges.sources.push_back(u);
    edges.targets.push_back(v);
  }
  build_options options;
  options.num_vertices = num_vertices;
  options.symmetrize = true;
  return build_graph(edges.view(), options);
}

/// Communities of 32, whose vertices have 8 edges inside and one to anywhere.
graph communities(std::int64_t num_vertices)
{
  test::lehmer next(5);
  std::vector<std::pair<vertex_id, vertex_id>> pairs;
  for (vertex_id v = 0; v < num_vertices; ++v) {
    for (int k = 0; k < 8; ++k) { pairs.emplace_back(v, v / 32 * 32 + static_cast<vertex_id>(next(32))); }
    pairs.emplace_back(v, static_cast<vertex_id>(next(static_cast<std::uint64_t>(num_vertices))));
  }
  return symmetric_graph(num_vertices, pairs);
}

/// Graphs that trip orders up, by name.
std::vector<std::pair<std::string, graph>> small_zoo()
{
  std::vector<std::pair<std::string, graph>> out;
  out.emplace_back("none", graph());
  out.emplace_back("one", test::make_graph(1, {}));
  out.emplace_back("loop", test::make_graph(1, {{0, 0}}));
  out.emplace_back("edgeless", test::make_graph(70, {}));
  out.emplace_back("loops", test::make_graph(3, {{0, 0}, {0, 0}, {2, 2}, {1, 2}, {1, 2}}));
  out.emplace_back("zoo", test::make_zoo(2));
  out.emplace_back("star", generate_regular(regular_graph::star, 300));
  out.emplace_back("ring", generate_regular(regular_graph::ring, 301));
  out.emplace_back("grid", generate_regular(regular_graph::grid, 400));
  out.emplace_back("complete", generate_regular(regular_graph::complete, 40));
  for (auto const kind : {test::shape::uniform, test::shape::hub, test::shape::crowd, test::shape::skewed,
                          test::shape::loops, test::shape::one_pair}) {
    auto const edges = test::make_edges(kind, 4000, false, 0, 3);
    build_options options;
    options.num_vertices = 600;
    out.emplace_back("directed " + std::to_string(static_cast<int>(kind)), build_graph(edges.view(), options));
    options.symmetrize = true;
    out.emplace_back("symmetric " + std::to_string(static_cast<int>(kind)), build_graph(edges.view(), options));
  }
  return out;
}

TEST(Orders, AreThoseOfTheVerifier)
{
  for (auto const& [name, g] : small_zoo()) {
    SCOPED_TRACE(name);
    if (g.num_vertices() > 0) {
      EXPECT_EQ(order_of(g, {degree}), test::expected_degree_order(g));
      EXPECT_EQ(order_of(g, {bfs}), test::expected_breadth_first_order(g));
      EXPECT_EQ(order_of(g, {rcm}), test::expected_cuthill_mckee_order(g));
    }
    expect_permutation(order_of(g, {llp}), g.num_vertices());
    if (g.num_vertices() < 100) { EXPECT_EQ(order_of(g, {llp, 5}), test::expected_label_propagation_order(g, 5)); }
  }
  graph const g = communities(512);
  EXPECT_EQ(order_of(g, {llp}), test::expected_label_propagation_order(g, 0));
}

TEST(Orders, ThreadsAndFormChangeNothing)
{
  for (auto const& [name, g] : small_zoo()) {
    for (auto const order : all_orders) {
      SCOPED_TRACE(name + " " + std::string(to_string(order)));
      auto const one = order_of(g, {order}, 1);
      for (int const threads : {2, 5}) { EXPECT_EQ(order_of(g, {order}, threads), one); }
      EXPECT_EQ(order_of(compress(g, graph_form::packed), {order}), one);
    }
  }
}

/// Large enough for levels that threads expand together, and for several ranges of everything.
TEST(Orders, LargeGraphs)
{
  for (bool const symmetric : {true, false}) {
    build_options build;
    build.symmetrize = symmetric;
    graph const g = generate_rmat({test::unless_sanitized(14, 13), 8}, build);
    SCOPED_TRACE(symmetric);
    EXPECT_EQ(order_of(g, {degree}, 3), test::expected_degree_order(g));
    EXPECT_EQ(order_of(g, {bfs}, 3), test::expected_breadth_first_order(g));
    auto const one = order_of(g, {rcm}, 1);
    expect_permutation(one, g.num_vertices());
    EXPECT_EQ(order_of(g, {rcm}, 3), one);
    auto const layered = order_of(g, {llp}, 1);
    expect_permutation(layered, g.num_vertices());
    EXPECT_EQ(order_of(g, {llp}, 3), layered);
  }
}

TEST(Orders, KnownAnswers)
{
  // 3 - 0 - 4 - 1, 2 - 5, 6 alone
  graph const g = symmetric_graph(7, {{3, 0}, {0, 4}, {4, 1}, {2, 5}});
  EXPECT_EQ(order_of(g, {degree}), (vertices{0, 4, 1, 2, 3, 5, 6}));
  EXPECT_EQ(order_of(g, {bfs}), (vertices{0, 3, 4, 1, 2, 5, 6}));
  // From 6; from 1, which the other end, 3, replaces; from 2, which 5 replaces. All of it reversed.
  EXPECT_EQ(order_of(g, {rcm}), (vertices{2, 5, 1, 4, 0, 3, 6}));
}

TEST(Orders, DirectionsDoNotMatterToSearches)
{
  // 0 -> 3 <- 1 -> 4 <- 2: no vertex reaches another but by one edge.
  graph const g = test::make_graph(5, {{0, 3}, {1, 3}, {1, 4}, {2, 4}});
  EXPECT_EQ(order_of(g, {bfs}), (vertices{1, 3, 4, 0, 2}));
  EXPECT_EQ(order_of(g, {rcm}), (vertices{0, 3, 1, 4, 2}));
}

/// The largest difference between the numbers of neighbours.
std::int64_t bandwidth(graph const& g)
{
  std::int64_t width = 0;
  for (vertex_id v = 0; v < g.num_vertices(); ++v) {
    for (vertex_id const x : csr_view(g.csr()).row(v)) { width = std::max(width, std::abs(std::int64_t{x} - v)); }
  }
  return width;
}

/// The same graph with its vertices in a random order.
graph scattered(graph const& g)
{
  vertices order(static_cast<std::size_t>(g.num_vertices()));
  std::iota(order.begin(), order.end(), vertex_id{0});
  test::lehmer next(12);
  for (std::size_t i = order.size(); i > 1; --i) { std::swap(order[i - 1], order[next(i)]); }
  return renumber(g, order);
}

TEST(Orders, CuthillMcKeeFindsTheBandOfAGrid)
{
  // A triangular strip of rows of 10: from a corner, levels are diagonals of at most 10.
  std::vector<std::pair<vertex_id, vertex_id>> pairs;
  for (vertex_id row = 0; row < 100; ++row) {
    for (vertex_id column = 0; column < 10; ++column) {
      if (column < 9) { pairs.emplace_back(10 * row + column, 10 * row + column + 1); }
      if (row < 99) { pairs.emplace_back(10 * row + column, 10 * row + column + 10); }
    }
  }
  graph const g = scattered(symmetric_graph(1000, pairs));
  EXPECT_GT(bandwidth(g), 900);
  EXPECT_LE(bandwidth(renumber(g, {rcm})), 11);
}

/// Bits that the differences between neighbours in a row take, on average.
double bits_per_gap(graph const& g)
{
  double bits = 0;
  for (vertex_id v = 0; v < g.num_vertices(); ++v) {
    std::int64_t last = v;
    for (vertex_id const x : csr_view(g.csr()).row(v)) {
      bits += std::log2(1.0 + static_cast<double>(std::abs(std::int64_t{x} - last)));
      last = x;
    }
  }
  return bits / static_cast<double>(g.num_edges());
}

TEST(Orders, LabelPropagationFindsCommunities)
{
  graph const planted = communities(32 * 256);
  graph const g = scattered(planted);
  double const before = bits_per_gap(g), after = bits_per_gap(renumber(g, {llp}));
  EXPECT_LT(bits_per_gap(planted), after + 0.5);
  EXPECT_LT(after, bits_per_gap(planted) + 0.5);
  EXPECT_GT(before, after + 3);
  EXPECT_LT(after, bits_per_gap(renumber(g, {rcm})) - 1);
}

TEST(Orders, LabelPropagationKeepsCliquesTogether)
{
  std::vector<std::pair<vertex_id, vertex_id>> pairs;
  for (vertex_id clique = 0; clique < 20; ++clique) {
    for (vertex_id i = 0; i < 8; ++i) {
      for (vertex_id j = 0; j < i; ++j) { pairs.emplace_back(clique + 20 * i, clique + 20 * j); }
    }
  }
  auto const order = order_of(symmetric_graph(160, pairs), {llp});
  for (std::size_t i = 0; i < order.size(); ++i) { EXPECT_EQ(order[i] % 20, order[i / 8 * 8] % 20) << i; }
}

TEST(Orders, TheSeedDecidesLabelPropagationAlone)
{
  graph const g = communities(2048);
  EXPECT_NE(order_of(g, {llp, 1}), order_of(g, {llp, 2}));
  EXPECT_EQ(order_of(g, {llp, 0xffffffffffffffffU}), order_of(g, {llp, 0xffffffffffffffffU}));
  for (auto const order : {degree, bfs, rcm}) { EXPECT_EQ(order_of(g, {order, 1}), order_of(g, {order, 2})); }
}

/// An order is part of what users rely on: that of a seed never changes.
TEST(Orders, LabelPropagationIsPinned)
{
  auto const order = order_of(test::make_zoo(7), {llp, 42});
  std::uint64_t digest = 14695981039346656037U;
  for (vertex_id const v : order) { digest = (digest ^ v) * 1099511628211U; }
  EXPECT_EQ(digest, 14245506565010490117U);
}

}  // namespace
}  // namespace tendril
