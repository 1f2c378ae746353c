// Graphs of several types of which all edge types share GPU memory: batches are the CPU's, whatever lies where.

#include <tendril/place.hpp>

#include <gtest/gtest.h>

#include <tendril/generate.hpp>
#include <tendril/starts.hpp>

#include "gpu/batches/minibatch_support.hpp"
#include "support/gpu_forms.hpp"
#include "support/messages.hpp"

namespace tendril::test {
namespace {

class PlacedTypes : public minibatch_gpu_test {
 protected:
  /// Users, who follow each other, and items that they like, which lead back.
  static hetero_graph shop(bool timed)
  {
    edge_attributes const weights{.has_weights = true};
    std::vector<edge_type> types;
    types.push_back({0, 0, generate_rmat({.scale = 15, .edge_factor = 12, .seed = 5}, {.symmetrize = true}, weights)});
    types.push_back({0, 1, generate_rmat({.scale = 15, .edge_factor = 4, .seed = 6}, {}, weights)});
    types.push_back({1, 0, generate_rmat({.scale = 15, .edge_factor = 8, .seed = 7}, {}, weights)});
    if (timed) {
      graph const& edges = types[1].edges;
      types[1].order = order_by_time(edges, make_times(edges.num_edges(), 3));
    }
    return {{1 << 15, 1 << 15}, std::move(types)};
  }

  static std::vector<vertex_id> seeds(std::int64_t count)
  {
    auto const drawn = random_vertices(1 << 15, count, 9);
    return {drawn.begin(), drawn.end()};
  }
};

TEST_F(PlacedTypes, ShareTheirMemory)
{
  hetero_graph const host = shop(false);
  for (double const share : {0.0, 0.1, 0.5, 2.0}) {
    for (auto const policy : {placement_policy::visits, placement_policy::degree}) {
      SCOPED_TRACE(testing::Message() << share << ", " << to_string(policy));
      hetero_graph const there =
          partly_on_gpu(host, share, exec, {.policy = policy, .job = minibatch_params{.num_neighbors = {10, 5}}});
      EXPECT_EQ(there.device(), exec.device);
      std::int64_t on_gpu = 0, elsewhere = 0, bytes = 0;
      for (std::size_t t = 0; t < host.edge_types().size(); ++t) {
        graph const& edges = there.edge_types()[t].edges;
        ASSERT_NE(edges.placed(), nullptr);
        placed_lists const& placed = *edges.placed();
        EXPECT_EQ(edges.num_edges(), host.edge_types()[t].edges.num_edges());
        EXPECT_EQ(placed.gpu_edge_bytes + placed.host_edge_bytes, 4 * edges.num_edges());
        on_gpu += placed.gpu_bytes + placed.gpu_edge_bytes;
        elsewhere += placed.host_bytes + placed.host_edge_bytes;
        bytes += host.edge_types()[t].edges.num_bytes();
      }
      EXPECT_LE(on_gpu, static_cast<std::int64_t>(share * static_cast<double>(bytes)));
      EXPECT_EQ(elsewhere == 0, share == 2.0);
      seed_lists const some{{seeds(300), seeds(70)}, {}};
      for (bool const weighted : {false, true}) {
        minibatch_params const params{.num_neighbors = {10, 5}, .weighted = weighted, .seed = 4};
        compare(host, there, params, some.spans(false));
        compare_many(host, there, params, 1, seeds(5000), 256);
      }
      compare(host, there, {.num_neighbors_of_type = {{5, 2}, {-1, 0}, {3, 3}}, .disjoint = true}, some.spans(false));
    }
  }
}

TEST_F(PlacedTypes, OfWhichSomeHaveTimes)
{
  hetero_graph const host = shop(true);
  seed_lists some{{seeds(200), seeds(50)}, {make_times(200, 1), make_times(50, 2)}};
  for (double const share : {0.0, 0.3, 2.0}) {
    SCOPED_TRACE(share);
    hetero_graph const there = partly_on_gpu(host, share, exec);
    EXPECT_TRUE(there.has_times());
    for (auto const temporal : {temporal_strategy::uniform, temporal_strategy::last}) {
      minibatch_params const params{.num_neighbors = {8, 4}, .disjoint = true, .temporal = temporal};
      compare(host, there, params, some.spans(true));
      compare_many(host, there, params, 0, seeds(2000), 128, make_times(2000, 5));
    }
  }
}

TEST_F(PlacedTypes, GoAndComeBack)
{
  hetero_graph const host = shop(true);
  hetero_graph const there = partly_on_gpu(host, 0.2, exec);
  EXPECT_EQ(to_gpu(there, exec).edge_types()[1].edges.placed(), there.edge_types()[1].edges.placed());
  hetero_graph const again = place_graph(there, {.job = minibatch_params{}}, exec);
  for (std::size_t t = 0; t < 3; ++t) {
    placed_lists const& placed = *again.edge_types()[t].edges.placed();
    EXPECT_EQ(placed.host_bytes + placed.host_edge_bytes, 0);
    EXPECT_EQ(placed.host.arrays().indices.data(), host.edge_types()[t].edges.arrays().indices.data());
    EXPECT_EQ(placed.host_order.times.data(), host.edge_types()[t].order.times.data());
  }
  EXPECT_EQ(copied(again.edge_types()[1].order.times), copied(host.edge_types()[1].order.times));
}

TEST_F(PlacedTypes, GoWholeWhereTheyFit)
{
  hetero_graph const host = shop(false);
  place_params params{.job = minibatch_params{}};
  EXPECT_EQ(fit_on_gpu(host, params, exec).edge_types()[0].edges.placed(), nullptr);
  params.gpu_bytes = directories_of(host) + 500'000;
  hetero_graph const part = fit_on_gpu(host, params, exec);
  ASSERT_NE(part.edge_types()[0].edges.placed(), nullptr);
  compare_many(host, part, {.num_neighbors = {10, 5}}, 0, seeds(1000), 100);
}

TEST_F(PlacedTypes, AreRefusedInOneLine)
{
  hetero_graph const host = make_hetero_zoo(5, false);
  auto const argument = [&](hetero_graph const& input, place_params const& params) {
    return message_of<argument_error>([&] { (void)place_graph(input, params, exec); });
  };
  minibatch_params const batches;
  EXPECT_EQ(argument(host, {}), "place: the job is no mini-batches, expected them for a graph of several types");
  EXPECT_EQ(argument(host, {.job = batches, .start_type = 3}), "start_type: 3, expected a vertex type below 3, or -1");
  EXPECT_EQ(argument(host, {.policy = placement_policy::scores, .job = batches}),
            "policy: scores, expected visits or degree for a graph of several types");
  EXPECT_EQ(argument(to_gpu(host, exec), {.job = batches}),
            "place: the graph is on GPU 0 whole, expected one in host memory (to_host)");
  std::string const few =
      message_of<memory_error>([&] { (void)place_graph(host, {.gpu_bytes = 10, .job = batches}, exec); });
  EXPECT_EQ(few.find("gpu_bytes: 10 bytes of GPU memory, expected at least "), 0U) << few;
}

}  // namespace
}  // namespace tendril::test
