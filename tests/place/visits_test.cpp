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
