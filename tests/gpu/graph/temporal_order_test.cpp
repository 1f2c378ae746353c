// Orders of time that a GPU makes are the CPU's, and graphs of several types arrive there whole.

#include <tendril/error.hpp>
#include <tendril/generate.hpp>

#include "gpu/batches/minibatch_support.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_forms.hpp"
#include "support/messages.hpp"

namespace tendril::test {
namespace {

class TemporalOrder : public gpu_test {
 protected:
  static void expect_same(temporal_order const& expected, temporal_order const& got)
  {
    EXPECT_TRUE(copied(got.times) == copied(expected.times));
    EXPECT_TRUE(copied(got.ordinal) == copied(expected.ordinal));
  }
};

TEST_F(TemporalOrder, IsTheCpus)
{
  for (graph const& g : {make_zoo(1), make_graph(3, {}), generate_rmat({.scale = 14}, {.symmetrize = true}),
                         make_star(std::vector<float>(300'000, 1))}) {
    auto times = make_times(g.num_edges(), 4);
    if (times.size() > 2) {
      times[0] = std::numeric_limits<std::int64_t>::max();
      times[1] = std::numeric_limits<std::int64_t>::min();
    }
    auto const of_vertices = make_times(g.num_vertices(), 5);
    for (graph const& there : all_forms_on_gpu(g, exec)) {
      expect_same(order_by_time(g, times), order_by_time(there, on_gpu(times, exec).span(), exec));
      expect_same(order_by_vertex_time(g, of_vertices),
                  order_by_vertex_time(there, on_gpu(of_vertices, exec).span(), exec));
    }
  }
}

TEST_F(TemporalOrder, BadInputGivesTheCpusLines)
{
  graph const g = make_graph(3, {{0, 1}, {1, 2}, {2, 2}});
  auto const times = on_gpu(std::vector<std::int64_t>{1, 2}, exec);
  for (graph const& there : all_forms_on_gpu(g, exec)) {
    EXPECT_EQ(message_of<argument_error>([&] { (void)order_by_time(there, times.span(), exec); }),
              "edge_times: 2 times, expected one an edge: 3");
    EXPECT_EQ(message_of<argument_error>([&] { (void)order_by_vertex_time(there, times.span(), exec); }),
              "vertex_times: 2 times, but edge 1 leads to vertex 2");
  }
  EXPECT_EQ(message_of<argument_error>([&] { (void)order_by_time(g, times.span(), exec); }),
            "graph: it is in host memory, expected one on GPU 0 (to_gpu)");
}

TEST_F(TemporalOrder, HeteroGraphsArriveWhole)
{
  hetero_graph const host = make_hetero_zoo(3, true);
  hetero_graph const there = to_gpu(host, exec);
  EXPECT_EQ(there.device(), 0);
  EXPECT_EQ(there.num_vertices(), host.num_vertices());
  ASSERT_EQ(there.edge_types().size(), host.edge_types().size());
  for (std::size_t t = 0; t < there.edge_types().size(); ++t) {
    auto const& a = host.edge_types()[t];
    auto const& b = there.edge_types()[t];
    EXPECT_EQ(a.from, b.from);
    EXPECT_EQ(a.to, b.to);
    EXPECT_TRUE(copied(a.edges.arrays().indptr) == copied(b.edges.arrays().indptr));
    EXPECT_TRUE(copied(a.edges.arrays().indices) == copied(b.edges.arrays().indices));
    expect_same(a.order, b.order);
  }
  EXPECT_EQ(to_gpu(there, exec).edge_types()[0].edges.csr().indices, there.edge_types()[0].edges.csr().indices);
}

}  // namespace
}  // namespace tendril::test
