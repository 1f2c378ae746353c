// Graphs that lie partly on a GPU, partly in host memory: every sampler gives the CPU's bytes whatever lies where, what is
// said to lie somewhere lies there, and what can't be placed is refused in one line. The tests of all samplers also run on
// such a graph (support/gpu_forms.hpp).

#include <tendril/place.hpp>

#include <cmath>
#include <limits>
#include <numeric>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/generate.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/multidim.hpp>
#include <tendril/starts.hpp>

#include "gpu/graph/array_copies.hpp"
#include "place/narrow.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_forms.hpp"
#include "support/gpu_test.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

constexpr std::array shares{0.0, 0.1, 0.4, 0.8, 2.0};

class PlacedGraph : public gpu_test {
 protected:
  /// 2 MB of weights and as much of lists.
  static graph skewed()
  {
    edge_attributes const extra{.has_weights = true, .num_labels = 3, .num_node_types = 3};
    return generate_rmat({.scale = 15, .edge_factor = 16, .seed = 5}, {.symmetrize = true, .keep_edge_ids = true},
                         extra);
  }

  /// Calls f(graph) with the graph placed by each budget and form.
  template <class F>
  void for_each_placement(graph const& g, F&& f)
  {
    for (graph const& host : in_all_forms(g)) {
      for (double const share : shares) {
        SCOPED_TRACE(testing::Message() << to_string(host.form()) << ", " << share);
        f(partly_on_gpu(host, share, exec));
      }
    }
  }

  /// What the edge arrays take that are placed.
  [[nodiscard]] static std::int64_t edge_bytes(graph const& there)
  {
    auto const& a = there.arrays();
    return 4 * a.weights.size() + a.edge_labels.size() * a.edge_labels.bytes_per_label() + 8 * a.edge_ids.size() +
           4 * (a.narrow.weight_codes.words.size() + a.narrow.labels.words.size() + a.narrow.ids.words.size());
  }

  /// The edge arrays of a placed graph as they were, in host memory.
  [[nodiscard]] static graph_arrays plain_edges(graph const& there, gpu_exec const& exec)
  {
    graph_arrays out;
    out.weights = gpu::copied(there.arrays().weights, host_memory(), exec);
    out.edge_ids = gpu::copied(there.arrays().edge_ids, host_memory(), exec);
    out.narrow = gpu::copied(there.arrays().narrow, host_memory(), exec);
    EXPECT_EQ(cudaStreamSynchronize(exec.stream), cudaSuccess);
    place::widen(out, cpu_exec{});
    return out;
  }

  [[nodiscard]] static bool lies_on_gpu(void const* at, int device)
  {
    int where = -3;
    EXPECT_EQ(cudaMemRangeGetAttribute(&where, sizeof where, cudaMemRangeAttributePreferredLocation, at, 1),
              cudaSuccess);
    EXPECT_TRUE(where == device || where == cudaCpuDeviceId) << where;
    return where == device;
  }
};

TEST_F(PlacedGraph, LiesWhereItSays)
{
  graph const g = skewed();
  for_each_placement(g, [&](graph const& there) {
    ASSERT_NE(there.placed(), nullptr);
    placed_lists const& placed = *there.placed();
    compressed_lists const& lists = there.arrays().compressed;
    EXPECT_EQ(there.device(), exec.device);
    EXPECT_EQ(there.num_edges(), g.num_edges());
    EXPECT_EQ(placed.host.device(), -1);
    EXPECT_EQ(placed.gpu_bytes + placed.host_bytes, 4 * (lists.words.size() - std::int64_t{list_codes::words_beyond}));
    EXPECT_EQ(placed.gpu_edge_bytes + placed.host_edge_bytes, edge_bytes(there));
    EXPECT_EQ(placed.cuts.front(), static_cast<std::uint64_t>(placed.gpu_bytes));
    auto const* const bytes = reinterpret_cast<char const*>(lists.words.data());
    constexpr std::int64_t page = 4096;
    if (placed.gpu_bytes >= page) {
      EXPECT_TRUE(lies_on_gpu(bytes, exec.device));
      EXPECT_TRUE(lies_on_gpu(bytes + placed.gpu_bytes - page, exec.device));
    }
    if (placed.host_bytes >= page) {
      EXPECT_FALSE(lies_on_gpu(bytes + placed.gpu_bytes + page, exec.device));
      EXPECT_FALSE(lies_on_gpu(bytes + placed.gpu_bytes + placed.host_bytes, exec.device));
    }
    EXPECT_GE(placed.visits_on_gpu, 0);
    EXPECT_LE(placed.visits_on_gpu, 1);
    EXPECT_EQ(gpu_of(lists.words.data()), exec.device);
  });
  placed_lists const whole = *partly_on_gpu(g, 2, exec).placed();
  EXPECT_EQ(whole.host_bytes, 0);
  EXPECT_EQ(whole.host_edge_bytes, 0);
  EXPECT_EQ(whole.visits_on_gpu, 1);
  placed_lists const none = *partly_on_gpu(g, 0, exec).placed();
  EXPECT_EQ(none.gpu_bytes, 0);
  EXPECT_EQ(none.visits_on_gpu, 0);
}

/// Every neighbour, weight and id of edges as kernels read them, and the walks of every application.
TEST_F(PlacedGraph, GivesTheCpusSamples)
{
  graph const g = skewed();
  std::vector<vertex_id> everyone(static_cast<std::size_t>(g.num_vertices()));
  std::iota(everyone.begin(), everyone.end(), 0U);
  auto const all_there = on_gpu(everyone, exec);
  auto const starts = random_vertices(g.num_vertices(), 3000, 3);
  std::vector<vertex_id> const some(starts.begin(), starts.end());
  auto const some_there = on_gpu(some, exec);
  walk_params plain{.length = 40, .seed = 4};
  walk_params weighted{.length = 40, .weighted = true, .stop_prob = 0.02, .seed = 4};
  walk_params second{.length = 10, .p = 0.5, .q = 2, .seed = 4};
  walk_params labels{.length = 10, .metapath = {0, 1}, .seed = 4};
  minibatch_params batches{.num_neighbors = {10, 5}, .seed = 4};
  auto const trees = khop_sample(g, everyone, {.fanouts = {-1}}, cpu_exec{}, 0, true);
  auto const picks = khop_sample(g, some, {.fanouts = {25, 10}, .weighted = true}, cpu_exec{}, 7, true);
  auto const batch = neighbor_sample(g, some, batches);
  for_each_placement(g, [&](graph const& there) {
    auto const trees_there = khop_sample(there, all_there.span(), {.fanouts = {-1}}, exec, 0, true);
    EXPECT_EQ(copied(trees_there.hops[0].vertices), copied(trees.hops[0].vertices));
    auto const picks_there =
        khop_sample(there, some_there.span(), {.fanouts = {25, 10}, .weighted = true}, exec, 7, true);
    for (std::size_t h = 0; h < 2; ++h) {
      EXPECT_EQ(copied(picks_there.hops[h].vertices), copied(picks.hops[h].vertices));
      EXPECT_EQ(copied(picks_there.hops[h].edges), copied(picks.hops[h].edges));
    }
    for (walk_params const& params : {plain, weighted, second, labels}) {
      EXPECT_EQ(copied_rows(random_walk(there, some_there.span(), params, exec, 9)).vertices,
                copied_rows(random_walk(g, some, params, cpu_exec{}, 9)).vertices);
    }
    auto const batch_there = neighbor_sample(there, some_there.span(), batches, exec);
    EXPECT_EQ(copied(batch_there.vertices[0].node), copied(batch.vertices[0].node));
    EXPECT_EQ(copied(batch_there.edges[0].edge), copied(batch.edges[0].edge));
    graph_arrays const edges = plain_edges(there, exec);
    EXPECT_EQ(copied(edges.weights), copied(g.arrays().weights));
    EXPECT_EQ(copied(edges.edge_ids), copied(g.arrays().edge_ids));
  });
}

/// Lists of some 30 MB: hot and cold ones lie in many pages.
TEST_F(PlacedGraph, GivesTheCpusSamplesOfALargerGraph)
{
  graph const g = generate_rmat({.scale = 19, .edge_factor = 16, .seed = 5}, {.symmetrize = true});
  auto const starts = random_vertices(g.num_vertices(), 100'000, 3);
  std::vector<vertex_id> const some(starts.begin(), starts.end());
  auto const some_there = on_gpu(some, exec);
  walk_params const params{.length = 20, .seed = 4};
  auto const expected = copied_rows(random_walk(g, some, params)).vertices;
  for (double const share : {0.05, 0.3}) {
    for (auto const policy : {placement_policy::visits, placement_policy::degree}) {
      graph const there = partly_on_gpu(g, share, exec, {.policy = policy});
      EXPECT_GT(there.placed()->visits_on_gpu, share);
      EXPECT_LT(there.placed()->visits_on_gpu, 1);
      EXPECT_EQ(copied_rows(random_walk(there, some_there.span(), params, exec)).vertices, expected);
    }
  }
}

TEST_F(PlacedGraph, MayBeEmpty)
{
  for (graph const& g : {graph(), make_graph(1, {}), make_graph(30, {}), make_graph(2, {{0, 1}})}) {
    for (auto const policy : {placement_policy::visits, placement_policy::degree}) {
      graph const there = place_graph(g, {.policy = policy}, exec);
      EXPECT_EQ(there.num_vertices(), g.num_vertices());
      EXPECT_EQ(there.num_edges(), g.num_edges());
      EXPECT_EQ(there.placed()->visits_on_gpu, 1);
    }
  }
}

TEST_F(PlacedGraph, GoesAndComesBack)
{
  graph const g = skewed();
  graph const there = partly_on_gpu(g, 0.2, exec);
  EXPECT_EQ(to_gpu(there, exec).placed(), there.placed());
  EXPECT_EQ(to_host(there, exec).arrays().indices.data(), g.arrays().indices.data());
  graph const again = place_graph(there, {}, exec);
  EXPECT_EQ(again.placed()->host_bytes, 0);
  EXPECT_EQ(again.placed()->host.arrays().indices.data(), g.arrays().indices.data());
}

TEST_F(PlacedGraph, KeepsWhatTheCallerScores)
{
  graph const g = skewed();
  std::vector<float> scores(static_cast<std::size_t>(g.num_vertices()));
  for (std::size_t v = 1200; v < 2400; ++v) { scores[v] = 1; }
  place_params params{.policy = placement_policy::scores, .scores = scores};
  graph const there = partly_on_gpu(g, 0.3, exec, params);
  EXPECT_EQ(there.placed()->visits_on_gpu, 1);
  auto const blocks = copied(there.arrays().compressed.blocks);
  for (std::size_t b = (1200 + list_block::vertices - 1) / list_block::vertices; b < 2400 / list_block::vertices; ++b) {
    for (list_half const& half : blocks[b].halves) {
      if (half.head.is(block_kind::wide)) { continue; }
      EXPECT_LT(half.head.base(), static_cast<std::uint64_t>(there.placed()->gpu_bytes)) << b;
    }
  }
}

TEST_F(PlacedGraph, RefusesInOneLine)
{
  graph const g = make_zoo(3);
  auto const argument = [&](graph const& input, place_params const& params) {
    return message_of<argument_error>([&] { (void)place_graph(input, params, exec); });
  };
  EXPECT_EQ(argument(to_gpu(g, exec), {}), "place: the graph is on GPU 0 whole, expected one in host memory (to_host)");
  EXPECT_EQ(argument(g, {.gpu_bytes = -5}), "gpu_bytes: -5, expected 0 or more");
  EXPECT_EQ(argument(g, {.policy = placement_policy::scores}), "scores: 0 numbers, expected one a vertex: 64");
  std::vector<float> scores(64);
  scores[5] = -1;
  EXPECT_EQ(argument(g, {.policy = placement_policy::scores, .scores = scores}),
            "scores: -1 of vertex 5, expected finite numbers >= 0");
  scores[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(argument(g, {.policy = placement_policy::scores, .scores = scores}),
            "scores: nan of vertex 5, expected finite numbers >= 0");
  std::string const few = message_of<memory_error>([&] { (void)place_graph(g, {.gpu_bytes = 10}, exec); });
  EXPECT_EQ(few.find("gpu_bytes: 10 bytes of GPU memory, expected at least "), 0U) << few;
}

TEST_F(PlacedGraph, GivesItsMemoryBack)
{
  graph const g = skewed();
  (void)partly_on_gpu(g, 0.5, exec);
  std::int64_t const before = free_gpu_bytes(exec.device);
  for (int i = 0; i < 20; ++i) { (void)partly_on_gpu(g, 0.5, exec); }
  EXPECT_GT(free_gpu_bytes(exec.device), before - (std::int64_t{8} << 20U));
}

}  // namespace
}  // namespace tendril::test
