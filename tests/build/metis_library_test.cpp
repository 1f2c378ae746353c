// METIS cuts a graph into parts of even size with few edges between them where its library is there; where it isn't, one
// clear line says what is missing.

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <tendril/cluster.hpp>
#include <tendril/error.hpp>

#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

bool is_installed()
{
  void* const library = dlopen("libmetis.so.5", RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) { dlclose(library); }
  return library != nullptr;
}

/// `num_groups` rings of `size` vertices with chords, one edge from each to the next. Directed, with a self loop and a
/// parallel edge, both of which METIS must not see.
graph make_groups(vertex_id num_groups, vertex_id size)
{
  std::vector<test_edge> edges = {{0, 0}, {0, 1}};
  for (vertex_id g = 0; g < num_groups; ++g) {
    for (vertex_id i = 0; i < size; ++i) {
      for (vertex_id const step : {1U, 2U, 5U}) { edges.push_back({g * size + i, g * size + (i + step) % size}); }
    }
    if (g + 1 < num_groups) { edges.push_back({g * size, (g + 1) * size}); }
  }
  return make_graph(static_cast<std::int64_t>(num_groups) * size, edges);
}

std::int64_t cut_of(graph const& g, buffer<vertex_id> const& cluster_of)
{
  std::int64_t cut = 0;
  for (vertex_id v = 0; v < g.num_vertices(); ++v) {
    for (std::uint32_t i = 0; i < g.csr().degree(v); ++i) {
      cut += cluster_of[v] != cluster_of[g.csr().neighbor(v, i)] ? 1 : 0;
    }
  }
  return cut;
}

TEST(Metis, CutsFewEdgesAndKeepsSizesEven)
{
  if (!is_installed()) { GTEST_SKIP() << "no libmetis.so.5"; }
  graph const g = make_groups(8, 40);
  auto const metis = cluster_vertices(g, {.num_clusters = 8, .method = cluster_method::metis});
  std::vector<std::int64_t> sizes(8);
  for (auto const c : metis) { ++sizes.at(c); }
  EXPECT_LE(*std::max_element(sizes.begin(), sizes.end()), 48);
  auto const random = cluster_vertices(g, {.num_clusters = 8, .method = cluster_method::random});
  EXPECT_LT(cut_of(g, metis) * 10, cut_of(g, random));
}

TEST(Metis, OnePartAndGraphsWithoutEdges)
{
  if (!is_installed()) { GTEST_SKIP() << "no libmetis.so.5"; }
  auto const one = cluster_vertices(make_groups(2, 10), {.num_clusters = 1, .method = cluster_method::metis});
  EXPECT_EQ(std::count(one.begin(), one.end(), 0U), 20);
  auto const edgeless = cluster_vertices(make_graph(50, {}), {.num_clusters = 5, .method = cluster_method::metis});
  for (auto const c : edgeless) { EXPECT_LT(c, 5U); }
  for (std::int64_t const num : {2, 19, 20}) {  // up to a part a vertex
    auto const many = cluster_vertices(make_groups(2, 10), {.num_clusters = num, .method = cluster_method::metis});
    EXPECT_LT(*std::max_element(many.begin(), many.end()), static_cast<vertex_id>(num));
  }
}

TEST(Metis, NamesThePackageWhereItIsMissing)
{
  if (is_installed()) { GTEST_SKIP() << "libmetis.so.5 is there"; }
  std::string const message = message_of<io_error>(
      [] { (void)cluster_vertices(make_groups(2, 10), {.num_clusters = 2, .method = cluster_method::metis}); });
  EXPECT_EQ(message.find("libmetis.so.5: can't be loaded ("), 0U) << message;
  EXPECT_NE(message.find("), expected METIS 5 (Debian's package libmetis5)"), std::string::npos) << message;
}

}  // namespace
}  // namespace tendril::test
