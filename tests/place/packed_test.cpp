// Packed neighbours: the same neighbours, weights and labels through the view of either form, and back again.

#include <tendril/compress.hpp>

#include <gtest/gtest.h>

#include <tendril/generate.hpp>

namespace tendril {
namespace {

/// Everything that a view tells of a graph is what the arrays of the CSR graph say.
void expect_same_view(graph_view const& view, csr_arrays const& expected)
{
  ASSERT_EQ(view.num_vertices, expected.num_vertices);
  ASSERT_EQ(view.num_edges, expected.num_edges);
  view.visit([&](auto const& g) {
    for (std::int64_t v = 0; v < g.num_vertices; ++v) {
      auto const row = g.row(v);
      auto const u = static_cast<vertex_id>(v);
      ASSERT_EQ(row.degree(), expected.degree(u));
      ASSERT_EQ(row.first_edge(), expected.first_edge(u));
      std::uint32_t i = 0;
      for (vertex_id const x : g.out_neigh(v)) {
        ASSERT_EQ(x, expected.neighbor(u, i)) << v << " " << i;
        ASSERT_TRUE(row.contains(x));
        ASSERT_EQ(row.neighbor(row.find(x)), x);
        ASSERT_TRUE(row.find(x) == 0 || row.neighbor(row.find(x) - 1) < x);
        if (expected.weights != nullptr) { ASSERT_EQ(row.weight(i), expected.weight(u, i)); }
        if (!expected.edge_labels.empty()) { ASSERT_EQ(row.label(i), expected.label(u, i)); }
        ++i;
      }
      ASSERT_EQ(i, row.degree());
      for (vertex_id x = 0; x < 70 && x < g.num_vertices; ++x) { ASSERT_EQ(row.contains(x), expected.has_edge(u, x)); }
    }
  });
}

graph rmat_with(int scale, bool symmetric)
{
  build_options build;
  build.symmetrize = symmetric;
  edge_attributes extra;
  extra.has_weights = true;
  extra.num_labels = 3;
  return generate_rmat({scale, 8}, build, extra);
}

TEST(Packed, SameNeighborsWeightsAndLabels)
{
  graph const g = rmat_with(11, true);
  graph const packed = compress(g, graph_form::packed);
  EXPECT_EQ(packed.form(), graph_form::packed);
  EXPECT_EQ(packed.num_edges(), g.num_edges());
  expect_same_view(packed.view(), g.csr());
}

TEST(Packed, BackToCsrIsTheSameGraph)
{
  graph const g = rmat_with(9, false);
  graph const back = to_csr(compress(g, graph_form::packed));
  EXPECT_EQ(back.form(), graph_form::csr);
  ASSERT_EQ(back.num_edges(), g.num_edges());
  for (edge_id e = 0; e < g.num_edges(); ++e) { ASSERT_EQ(back.csr().indices[e], g.csr().indices[e]); }
}

TEST(Packed, RawArraysOfPackedGraphAreRefused)
{
  graph const packed = compress(rmat_with(6, true), graph_form::packed);
  EXPECT_THROW((void)packed.csr(), argument_error);
}

TEST(Packed, EmptyGraph)
{
  graph const packed = compress(graph(), graph_form::packed);
  EXPECT_EQ(packed.num_vertices(), 0);
  EXPECT_EQ(packed.num_edges(), 0);
  EXPECT_EQ(packed.view().num_edges, 0);
}

}  // namespace
}  // namespace tendril
