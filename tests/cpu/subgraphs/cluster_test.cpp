// Clusters partition the vertices as documented, an epoch has every cluster once, and a batch is the subgraph that its
// clusters induce. Orders are drawn uniformly. Bad input gives one clear line.

#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include <tendril/cluster.hpp>
#include <tendril/error.hpp>
#include <tendril/generate.hpp>

#include "cpu/subgraphs/subgraph_verifier.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"
#include "support/statistics.hpp"

namespace tendril::test {
namespace {

using enum cluster_method;

graph ring(std::int64_t size) { return generate_regular(regular_graph::ring, size); }

std::vector<std::int64_t> sizes_of(buffer<vertex_id> const& cluster_of, std::int64_t num_clusters)
{
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(num_clusters));
  for (auto const c : cluster_of) { ++sizes.at(c); }
  return sizes;
}

/// The clusters of a sample in their order, from its vertices.
std::vector<vertex_id> clusters_of(subgraphs const& samples, std::int64_t s, buffer<vertex_id> const& cluster_of)
{
  std::vector<vertex_id> out;
  for (std::int64_t i = samples.node_offsets[s]; i < samples.node_offsets[s + 1]; ++i) {
    vertex_id const c = cluster_of[samples.nodes[i]];
    if (out.empty() || out.back() != c) { out.push_back(c); }
  }
  return out;
}

TEST(Cluster, SizesDifferByOneAtMost)
{
  for (std::int64_t const size : {1, 7, 64, 1000}) {
    for (std::int64_t const num : {1, 3, 7, 63, 1000}) {
      if (num > size) { continue; }
      for (auto const method : {contiguous, random}) {
        auto const sizes = sizes_of(cluster_vertices(ring(size), {.num_clusters = num, .method = method}), num);
        EXPECT_GE(*std::min_element(sizes.begin(), sizes.end()), size / num);
        EXPECT_LE(*std::max_element(sizes.begin(), sizes.end()), (size + num - 1) / num);
      }
    }
  }
}

TEST(Cluster, ContiguousOnesAreConsecutive)
{
  auto const cluster_of = cluster_vertices(ring(103), {.num_clusters = 10});
  EXPECT_TRUE(std::is_sorted(cluster_of.begin(), cluster_of.end()));
}

TEST(Cluster, RandomOnesDependOnTheSeed)
{
  auto const a = cluster_vertices(ring(500), {.num_clusters = 9, .method = random, .seed = 1});
  auto const b = cluster_vertices(ring(500), {.num_clusters = 9, .method = random, .seed = 1});
  auto const c = cluster_vertices(ring(500), {.num_clusters = 9, .method = random, .seed = 2});
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin()));
  EXPECT_FALSE(std::equal(a.begin(), a.end(), c.begin()));
}

TEST(Cluster, EveryPartitionIsAsLikely)
{
  // Four vertices in two clusters: six ways. Cut by anything but a uniform order, they are not alike.
  std::map<std::vector<vertex_id>, std::int64_t> counts;
  for (std::uint64_t seed = 0; seed < 30'000; ++seed) {
    auto const of = cluster_vertices(ring(4), {.num_clusters = 2, .method = random, .seed = seed});
    ++counts[std::vector<vertex_id>(of.begin(), of.end())];
  }
  ASSERT_EQ(counts.size(), 6U);
  std::vector<std::int64_t> seen;
  for (auto const& [partition, count] : counts) { seen.push_back(count); }
  EXPECT_TRUE(drawn_from(seen, std::vector<double>(6, 1.0), 0.06));
  seen[0] += seen[0] / 10;  // the planted bias
  EXPECT_FALSE(drawn_from(seen, std::vector<double>(6, 1.0), 0.06));
}

TEST(Cluster, GroupsHoldTheirVerticesInOrder)
{
  std::vector<vertex_id> const of = {2, 0, 2, 5, 0, 2};
  vertex_clusters const groups = group_clusters(of, 7);
  EXPECT_EQ(std::vector<vertex_id>(groups.vertices.begin(), groups.vertices.end()),
            (std::vector<vertex_id>{1, 4, 0, 2, 5, 3}));
  EXPECT_EQ(std::vector<std::int64_t>(groups.offsets.begin(), groups.offsets.end()),
            (std::vector<std::int64_t>{0, 2, 2, 5, 5, 5, 6, 6}));
}

TEST(Cluster, AnEpochHasEveryClusterOnce)
{
  graph const g = make_zoo(1);
  for (std::int64_t const a_sample : {1, 3, 5, 9, 30}) {
    auto const of = cluster_vertices(g, {.num_clusters = 9, .method = random, .seed = 4});
    auto const clusters = group_clusters(of.span(), 9);
    cluster_params const params{.clusters_per_sample = a_sample, .seed = 5};
    std::int64_t const batches = samples_per_epoch(9, params);
    EXPECT_EQ(batches, (9 + a_sample - 1) / a_sample);
    subgraphs const out = cluster_sample(g, clusters, params, 4 * batches);
    verify_subgraphs(g, out);
    for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
      std::multiset<vertex_id> seen;
      for (std::int64_t s = epoch * batches; s < (epoch + 1) * batches; ++s) {
        auto const drawn = clusters_of(out, s, of);
        bool const is_last = s + 1 == (epoch + 1) * batches;
        EXPECT_EQ(static_cast<std::int64_t>(drawn.size()), is_last ? 9 - (batches - 1) * a_sample : a_sample);
        seen.insert(drawn.begin(), drawn.end());
      }
      EXPECT_EQ(seen.size(), 9U);
      EXPECT_EQ(std::set<vertex_id>(seen.begin(), seen.end()).size(), 9U);
    }
  }
}

TEST(Cluster, OrdersOfAnEpochAreAlike)
{
  // Four clusters of a vertex each, in samples of one: 24 orders.
  graph const g = ring(4);
  auto const clusters = group_clusters(cluster_vertices(g, {.num_clusters = 4}).span(), 4);
  constexpr std::int64_t epochs = 60'000;
  subgraphs const out = cluster_sample(g, clusters, {.clusters_per_sample = 1, .seed = 3}, 4 * epochs);
  std::map<std::vector<vertex_id>, std::int64_t> counts;
  for (std::int64_t e = 0; e < epochs; ++e) {
    ++counts[std::vector<vertex_id>(out.nodes.data() + 4 * e, out.nodes.data() + 4 * e + 4)];
  }
  ASSERT_EQ(counts.size(), 24U);
  std::vector<std::int64_t> seen;
  for (auto const& [order, count] : counts) { seen.push_back(count); }
  EXPECT_TRUE(drawn_from(seen, std::vector<double>(24, 1.0), 0.06));
  for (std::size_t i = 0; i < seen.size(); i += 2) { seen[i] += seen[i] / 10; }
  EXPECT_FALSE(drawn_from(seen, std::vector<double>(24, 1.0), 0.06));
}

TEST(Cluster, BatchesDontChangeASample)
{
  graph const g = make_zoo(2);
  auto const clusters = group_clusters(cluster_vertices(g, {.num_clusters = 11, .method = random}).span(), 11);
  cluster_params const params{.clusters_per_sample = 4, .seed = 6};
  std::int64_t const first = 1'000'000'000'000LL;
  subgraphs const whole = cluster_sample(g, clusters, params, 20, {}, first);
  for (std::int64_t s = 0; s < 20; ++s) {
    subgraphs const one = cluster_sample(g, clusters, params, 1, cpu_exec{.num_threads = 1}, first + s);
    ASSERT_EQ(one.nodes.size(), whole.node_offsets[s + 1] - whole.node_offsets[s]);
    EXPECT_TRUE(std::equal(one.nodes.begin(), one.nodes.end(), whole.nodes.data() + whole.node_offsets[s]));
    ASSERT_EQ(one.edges.size(), whole.edge_offsets[s + 1] - whole.edge_offsets[s]);
    EXPECT_TRUE(std::equal(one.edges.begin(), one.edges.end(), whole.edges.data() + whole.edge_offsets[s]));
  }
}

TEST(Cluster, ListsOfTheCallersChoice)
{
  graph const g = make_zoo(3);
  auto const of = cluster_vertices(g, {.num_clusters = 16});
  auto const clusters = group_clusters(of.span(), 16);
  std::vector<vertex_id> const lists = {3, 1, 15, 0};
  std::vector<std::int64_t> const offsets = {0, 2, 2, 4};
  subgraphs const out = cluster_subgraphs(g, clusters, lists, offsets);
  verify_subgraphs(g, out);
  EXPECT_EQ(clusters_of(out, 0, of), (std::vector<vertex_id>{3, 1}));
  EXPECT_EQ(out.node_offsets[1], out.node_offsets[2]);
  EXPECT_EQ(clusters_of(out, 2, of), (std::vector<vertex_id>{15, 0}));
}

TEST(Cluster, EmptyGraphsAndEmptyClusters)
{
  EXPECT_EQ(cluster_vertices(graph(), {.num_clusters = 3, .method = random}).size(), 0);
  vertex_clusters const none = group_clusters({}, 0);
  EXPECT_EQ(cluster_sample(graph(), none, {}, 0).num_samples, 0);
  vertex_clusters const empty = group_clusters({}, 5);
  subgraphs const out = cluster_sample(graph(), empty, {.clusters_per_sample = 2}, 3);
  EXPECT_EQ(out.num_samples, 3);
  EXPECT_EQ(out.nodes.size(), 0);
}

template <class Error = argument_error, class F>
std::string error(F call)
{
  return message_of<Error>(call);
}

TEST(Cluster, NamesWhatIsWrong)
{
  graph const g = ring(10);
  auto const clusters = group_clusters(cluster_vertices(g, {.num_clusters = 5}).span(), 5);
  EXPECT_EQ(error([&] { (void)cluster_vertices(g, {.num_clusters = 0}); }),
            "num_clusters: 0, expected 1 to the number of vertices, 10");
  EXPECT_EQ(error([&] { (void)cluster_vertices(g, {.num_clusters = 11}); }),
            "num_clusters: 11, expected 1 to the number of vertices, 10");
  std::vector<vertex_id> const of = {0, 3, 1};
  EXPECT_EQ(error([&] { (void)group_clusters(of, 3); }), "vertex 1: cluster 3 is out of range, there are 3 clusters");
  EXPECT_EQ(error([&] { (void)group_clusters(of, -1); }), "num_clusters: -1, expected 0 to 4294967295");
  EXPECT_EQ(error([&] { (void)cluster_sample(ring(11), clusters, {}, 1); }),
            "clusters: 5 clusters of 10 vertices, expected clusters of the graph's 11 vertices");
  EXPECT_EQ(error([&] { (void)cluster_sample(g, clusters, {.clusters_per_sample = 0}, 1); }),
            "clusters_per_sample: 0, expected 1 or more");
  EXPECT_EQ(error([&] { (void)cluster_sample(g, clusters, {}, -1); }), "num_samples: -1, expected 0 to 4294967295");
  EXPECT_EQ(error([&] { (void)cluster_sample(g, clusters, {}, 1, {}, -1); }), "first_sample: -1, expected 0 to 2^62");
  EXPECT_EQ(error([&] { (void)cluster_sample(graph(), group_clusters({}, 0), {}, 1); }),
            "clusters: there is none, expected one at least");
  std::vector<vertex_id> const lists = {0, 5, 2, 2};
  auto const with = [&](std::vector<std::int64_t> const& offsets, std::size_t first) {
    return error([&] { (void)cluster_subgraphs(g, clusters, std::span(lists).subspan(first), offsets); });
  };
  EXPECT_EQ(with({0, 4}, 0), "list element 1: cluster 5 is out of range, there are 5 clusters");
  EXPECT_EQ(with({0, 3}, 2), "list_offsets: 3 after 0 at sample 0, expected ascending numbers up to 2");
  EXPECT_EQ(with({0, 1}, 2), "list_offsets: the last is 1, expected the number of clusters in the lists, 2");
  EXPECT_EQ(with({}, 2), "list_offsets: empty, expected one element more than there are samples");
  EXPECT_EQ(with({0, 2}, 2), "sample 0: vertex 4 occurs more than once, expected distinct vertices");
}

}  // namespace
}  // namespace tendril::test
