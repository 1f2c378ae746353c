// How a graph that is larger than its budget on a GPU is cut: what needs no GPU.

#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>

#include "gpu/graph/stream_layout.hpp"
#include "support/wheel.hpp"

namespace tendril {
namespace {

using gpu::find_stream_layout;
using gpu::graph_bytes;
using gpu::stream_layout;

/// Sub-graphs are all vertices in order, none is empty, each fits a buffer, and one more vertex would not have fitted the
/// smaller one; buffers and offsets are within the budget.
void expect_valid(csr_arrays const& g, stream_layout const& layout, std::int64_t budget)
{
  auto const& cuts = layout.first_vertex;
  ASSERT_GE(cuts.size(), 2U);
  EXPECT_EQ(cuts.front(), 0);
  EXPECT_EQ(cuts.back(), g.num_vertices);
  std::int64_t const larger = std::max(layout.capacities[0], layout.capacities[1]);
  std::int64_t const smaller =
      layout.capacities[1] == 0 ? layout.capacities[0] : std::min(layout.capacities[0], layout.capacities[1]);
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
    ASSERT_LT(cuts[k], cuts[k + 1]);
    std::int64_t const edges = g.indptr[cuts[k + 1]] - g.indptr[cuts[k]];
    if (cuts[k + 1] - cuts[k] > 1) { EXPECT_LE(edges, smaller) << "sub-graph " << k; }
    EXPECT_LE(edges, larger) << "sub-graph " << k;
    if (k + 2 < cuts.size()) { EXPECT_GT(g.indptr[cuts[k + 1] + 1] - g.indptr[cuts[k]], smaller) << "sub-graph " << k; }
  }
  EXPECT_LE(layout.bytes.resident + (layout.capacities[0] + layout.capacities[1]) * layout.bytes.an_edge, budget);
}

graph star(std::int64_t leaves)
{
  std::vector<vertex_id> from(static_cast<std::size_t>(leaves), 5);
  std::vector<vertex_id> to(from.size());
  std::iota(to.begin(), to.end(), vertex_id{6});
  return build_graph({from, to}, {.symmetrize = true});
}

TEST(stream_layout, bytes_are_those_of_what_sampling_reads)
{
  graph const plain = test::wheel(100, 8);
  EXPECT_EQ(graph_bytes::of(plain.csr()).resident, 101 * 8);
  EXPECT_EQ(graph_bytes::of(plain.csr()).an_edge, 4);
  EXPECT_EQ(graph_bytes::of(plain.csr()).all, 101 * 8 + 800 * 4);
  graph const rich = generate_rmat({.scale = 8}, {}, {.has_weights = true, .num_labels = 5});
  EXPECT_EQ(graph_bytes::of(rich.csr()).an_edge, 9);
}

TEST(stream_layout, cuts_at_every_buffer_full)
{
  graph const g =
      generate_rmat({.scale = 12, .edge_factor = 16, .seed = 1}, {.symmetrize = true, .drop_duplicates = true});
  auto const bytes = graph_bytes::of(g.csr());
  std::int64_t const edges = g.num_edges() * bytes.an_edge;
  for (std::int64_t const parts : {1, 2, 3, 17, 60}) {
    std::int64_t const budget = bytes.resident + 2 * (edges / parts + bytes.an_edge);
    auto const layout = find_stream_layout(g.csr(), budget).value();
    expect_valid(g.csr(), layout, budget);
    EXPECT_GE(layout.num_subgraphs(), parts);
    EXPECT_LE(layout.num_subgraphs(), parts + parts / 2 + 1);
  }
}

TEST(stream_layout, one_vertex_a_subgraph)
{
  graph const g = test::wheel(100, 8);
  std::int64_t const budget = graph_bytes::of(g.csr()).resident + 2 * 8 * 4;
  auto const layout = find_stream_layout(g.csr(), budget).value();
  expect_valid(g.csr(), layout, budget);
  EXPECT_EQ(layout.num_subgraphs(), 100);
  EXPECT_EQ(layout.capacities[1], 8);
}

TEST(stream_layout, a_hub_has_a_buffer_that_it_fits_into)
{
  graph const g = star(1000);  // one list of 1,000, a thousand of 1, five of none
  std::int64_t const resident = graph_bytes::of(g.csr()).resident;
  auto const with = [&](std::int64_t edges) {
    auto layout = find_stream_layout(g.csr(), resident + edges * 4).value();
    expect_valid(g.csr(), layout, resident + edges * 4);
    return layout;
  };
  EXPECT_EQ(with(2000).capacities[0], 1000);
  EXPECT_EQ(with(2000).capacities[1], 1000);
  EXPECT_EQ(with(2000).num_subgraphs(), 2);
  EXPECT_EQ(with(1400).capacities[0], 1000);  // the hub, and three times 400 leaves
  EXPECT_EQ(with(1400).capacities[1], 400);
  EXPECT_EQ(with(1400).num_subgraphs(), 5);  // vertices before the hub are one
  EXPECT_EQ(with(1100).capacities[0], 1100);
  EXPECT_EQ(with(1100).capacities[1], 0);
  EXPECT_EQ(with(1000).num_subgraphs(), 2);
}

TEST(stream_layout, without_room_for_the_longest_list_there_is_none)
{
  graph const g = star(1000);
  std::int64_t const resident = graph_bytes::of(g.csr()).resident;
  EXPECT_TRUE(find_stream_layout(g.csr(), resident + 1000 * 4).has_value());
  for (std::int64_t const budget : {resident + 999 * 4, resident, std::int64_t{100}}) {
    EXPECT_FALSE(find_stream_layout(g.csr(), budget).has_value()) << budget;
  }
}

}  // namespace
}  // namespace tendril
