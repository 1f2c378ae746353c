// The reads of lists that a job is expected to make.

#include <tendril/place.hpp>

#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/generate.hpp>

#include "support/list_graph.hpp"
#include "support/messages.hpp"

namespace tendril {
namespace {

using test::from_lists;
using test::message_of;

/// Leaves 1 to n of a star lead to vertex 0, and it to them.
graph star(vertex_id leaves)
{
  std::vector<std::vector<vertex_id>> lists(leaves + 1, {0});
  lists[0].resize(leaves);
  std::iota(lists[0].begin(), lists[0].end(), 1U);
  return from_lists(lists);
}

double sum_of(buffer<float> const& reads) { return std::accumulate(reads.begin(), reads.end(), 0.0); }

/// Every second step of a walk leaves the hub.
TEST(Visits, OfWalksAreTheirSteps)
{
  graph const g = star(1000);
  place_params params;
  params.job = walk_params{.length = 50};
  params.num_samples = 2000;
  auto const reads = count_visits(g, params);
  ASSERT_EQ(reads.size(), g.num_vertices());
  EXPECT_NEAR(reads[0], 50'000, 1'000);
  EXPECT_NEAR(sum_of(reads), 100'000, 2'000);
  for (vertex_id v = 1; v <= 1000; ++v) { EXPECT_NEAR(reads[v], 50, 8 * std::sqrt(50.0)); }
}

/// The hub's list of 1,000 neighbours of 4 bytes has 125 sectors; each leaf's list one.
TEST(Visits, OfTreesAreSectors)
{
  graph const g = star(1000);
  place_params params;
  std::vector<vertex_id> const hub{0};
  params.starts = hub;
  params.num_samples = 10;
  auto const hub_reads = [&](std::vector<std::int64_t> fanouts) {
    params.job = khop_params{.fanouts = std::move(fanouts), .replace = true};
    return std::pair{count_visits(g, params)[0], sum_of(count_visits(g, params))};
  };
  EXPECT_NEAR(hub_reads({20}).first, 200, 1e-2);
  EXPECT_NEAR(hub_reads({200}).first, 1250, 1e-2);
  EXPECT_NEAR(hub_reads({-1}).first, 1250, 1e-2);
  auto const [at_hub, all] = hub_reads({20, 3});  // 20 leaves, one sector each
  EXPECT_NEAR(at_hub, 200, 1e-2);
  EXPECT_NEAR(all, 400, 20);
}

/// A batch expands a vertex once, however often it was reached.
TEST(Visits, OfMinibatchesCountAVertexOnce)
{
  graph const g = star(1000);
  std::vector<vertex_id> leaves(1000);
  std::iota(leaves.begin(), leaves.end(), 1U);
  place_params params;
  params.starts = leaves;
  params.num_samples = 256;
  params.batch_size = 64;  // 4 batches
  params.job = minibatch_params{.num_neighbors = {1, 5, 1}, .replace = true};
  auto const reads = count_visits(g, params);
  // The second hop expands the hub, for all of its batch; 5 picks of a list of 125 sectors.
  EXPECT_NEAR(reads[0], 4 * 5, 1e-2);
  params.job = minibatch_params{.num_neighbors = {1, 5, 1}, .replace = true, .frontier = batch_frontier::all};
  EXPECT_NEAR(count_visits(g, params)[0], 4 * (5 + 1), 1e-2);  // the third hop as well
}

/// Vertices that chance left out are as likely as others of their degree.
TEST(Visits, AreNeverNoneWhereOthersOfTheDegreeHaveSome)
{
  graph const g = generate_regular(regular_graph::ring, 10'000);
  place_params params;
  params.job = walk_params{.length = 1};
  params.num_samples = 100;
  auto const reads = count_visits(g, params);
  for (float const x : reads) { EXPECT_GT(x, 0); }
  EXPECT_NEAR(sum_of(reads), 100, 5);
}

TEST(Visits, DependNeitherOnThreadsNorOnTheForm)
{
  build_options build;
  build.symmetrize = true;
  graph const g = generate_rmat({.scale = 10, .edge_factor = 8}, build);
  for (placement_job const& job :
       std::initializer_list<placement_job>{walk_params{}, khop_params{}, minibatch_params{}}) {
    place_params params;
    params.job = job;
    auto const one = count_visits(g, params, {.num_threads = 1});
    auto const three = count_visits(g, params, {.num_threads = 3});
    EXPECT_TRUE(std::equal(one.begin(), one.end(), three.begin(), three.end()));
    EXPECT_GT(sum_of(one), 4'000);
  }
  place_params params;  // of walks, a form changes nothing
  auto const plain = count_visits(g, params);
  auto const small = count_visits(compress(g, graph_form::best), params);
  EXPECT_TRUE(std::equal(plain.begin(), plain.end(), small.begin(), small.end()));
}

/// Users, each of whom likes 3 items; each item leads back to 40 users.
hetero_graph shop()
{
  std::vector<std::vector<vertex_id>> likes(400), liked_by(400);
  for (vertex_id u = 0; u < 400; ++u) { likes[u] = {u % 28, u % 28 + 1, u % 28 + 2}; }
  for (vertex_id i = 0; i < 30; ++i) {
    for (vertex_id u = 0; u < 40; ++u) { liked_by[i].push_back(10 * u + i % 10); }
  }
  return {{400, 30}, {{0, 1, from_lists(likes)}, {1, 0, from_lists(liked_by)}}};
}

/// Batches of 100 users: the first hop reads their lists, the second those of the items that it reached.
TEST(Visits, OfSeveralTypesAreThoseOfEachEdgeType)
{
  hetero_graph const g = shop();
  place_params params;
  params.job = minibatch_params{.num_neighbors_of_type = {{3, 0}, {0, 5}}};
  params.num_samples = 1000;
  params.batch_size = 100;
  params.start_type = 0;
  auto const reads = count_visits(g, params);
  ASSERT_EQ(reads.size(), 2U);
  ASSERT_EQ(reads[0].size(), 400);
  // 10 batches of at most 100 different users, a sector of 3 neighbours each.
  EXPECT_NEAR(sum_of(reads[0]), 885, 30);
  // Nearly all 30 items are reached in each batch; 40 neighbours of 4 bytes are 5 sectors, as many as there are picks.
  EXPECT_NEAR(sum_of(reads[1]), 10 * 30 * 5, 75);
  params.start_type = 1;  // seeds are items: 100 draws of 30 are nearly all of them, which hop 1 does not expand
  auto const of_items = count_visits(g, params);
  EXPECT_EQ(sum_of(of_items[0]), 0);
  params.start_type = -1;  // both in turn
  auto const both = count_visits(g, params);
  EXPECT_NEAR(sum_of(both[0]), sum_of(reads[0]) + sum_of(of_items[0]), 1);
  EXPECT_NEAR(sum_of(both[1]), sum_of(reads[1]) + sum_of(of_items[1]), 1);
}

TEST(Visits, OfOneTypeAreThoseOfTheGraph)
{
  build_options build;
  build.symmetrize = true;
  graph const g = generate_rmat({.scale = 10, .edge_factor = 8}, build);
  std::vector<vertex_id> const some{3, 5, 8, 13};
  for (auto const frontier : {batch_frontier::fresh, batch_frontier::all}) {
    place_params params;
    params.job = minibatch_params{.num_neighbors = {5, -1}, .frontier = frontier};
    params.starts = some;
    auto const one = count_visits(g, params);
    auto const types = count_visits(
        hetero_graph(g, order_by_time(g, std::vector<std::int64_t>(static_cast<std::size_t>(g.num_edges())))), params);
    ASSERT_EQ(types.size(), 1U);
    EXPECT_TRUE(std::equal(one.begin(), one.end(), types[0].begin(), types[0].end()));
  }
}

TEST(Visits, OfSeveralTypesRefuse)
{
  hetero_graph const g = shop();
  auto const complaint = [&](auto change) {
    place_params params;
    params.job = minibatch_params{};
    change(params);
    return message_of<argument_error>([&] { (void)count_visits(g, params); });
  };
  std::vector<vertex_id> const seeds{35};
  EXPECT_EQ(complaint([](place_params& p) { p.job = walk_params{}; }),
            "place: the job is no mini-batches, expected them for a graph of several types");
  EXPECT_EQ(complaint([](place_params& p) { p.start_type = 2; }),
            "start_type: 2, expected a vertex type below 2, or -1");
  EXPECT_EQ(complaint([](place_params& p) { p.start_type = -2; }),
            "start_type: -2, expected a vertex type below 2, or -1");
  EXPECT_EQ(complaint([&](place_params& p) { p.starts = seeds; }),
            "starts: given, but start_type is -1, expected their vertex type");
  EXPECT_EQ(complaint([&](place_params& p) {
              p.starts = seeds;
              p.start_type = 1;
            }),
            "start 0: vertex 35 is out of range, the graph has 30 vertices");
  EXPECT_NE(complaint([](place_params& p) { p.job = minibatch_params{.num_neighbors_of_type = {{3}}}; }), "");
  EXPECT_TRUE(count_visits(hetero_graph({3, 4}, {}), {.job = minibatch_params{}}).empty());
}

TEST(Visits, OfNothingAreNone)
{
  EXPECT_EQ(count_visits(graph(), {}).size(), 0);
  auto const reads = count_visits(from_lists({{}, {}, {}}), {});
  EXPECT_EQ(sum_of(reads), 0);
}

TEST(Visits, RefuseParametersOutOfRange)
{
  graph const g = star(3);
  auto const complaint = [&](auto change) {
    place_params params;
    change(params);
    return message_of<argument_error>([&] { (void)count_visits(g, params); });
  };
  EXPECT_EQ(complaint([](place_params& p) { p.gpu_bytes = -1; }), "gpu_bytes: -1, expected 0 or more");
  EXPECT_EQ(complaint([](place_params& p) { p.num_samples = -1; }), "num_samples: -1, expected 0 to 2^40");
  EXPECT_EQ(complaint([](place_params& p) { p.batch_size = 0; }), "batch_size: 0, expected 1 to 2^32");
  std::vector<vertex_id> const beyond{1, 4};
  EXPECT_EQ(complaint([&](place_params& p) { p.starts = beyond; }),
            "start 1: vertex 4 is out of range, the graph has 4 vertices");
  std::vector<float> const scores(4);
  EXPECT_EQ(complaint([&](place_params& p) { p.scores = scores; }),
            "scores: given, but the policy is visits, expected scores");
  EXPECT_NE(complaint([](place_params& p) { p.job = walk_params{.length = 0}; }), "");
  EXPECT_NE(complaint([](place_params& p) { p.job = khop_params{.fanouts = {}}; }), "");
  EXPECT_NE(complaint([](place_params& p) { p.job = khop_params{.weighted = true}; }), "");
}

}  // namespace
}  // namespace tendril
