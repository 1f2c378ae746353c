// Clusters and batches of clusters of the GPU are the CPU's, to the byte, for every number of clusters and any split of
// the samples. Bad input gives the CPU's lines.

#include <random>

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <tendril/cluster.hpp>
#include <tendril/error.hpp>
#include <tendril/generate.hpp>

#include "gpu/subgraphs/subgraph_support.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_forms.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

using enum cluster_method;

class ClusterOnGpu : public gpu_test {
 protected:
  /// The same clusters on both sides, of sizes from 0 to thousands.
  struct both {
    vertex_clusters here, there;
  };
  [[nodiscard]] both skewed_clusters(std::int64_t num_vertices, std::int64_t num_clusters) const
  {
    std::mt19937_64 random(static_cast<std::uint64_t>(num_clusters));
    std::vector<vertex_id> of(static_cast<std::size_t>(num_vertices));
    for (auto& c : of) {
      std::uint64_t const most = random() % static_cast<std::uint64_t>(num_clusters) + 1;
      c = static_cast<vertex_id>(random() % most);
    }
    return {group_clusters(of, num_clusters), group_clusters(on_gpu(of, exec).span(), num_clusters, exec)};
  }
};

TEST_F(ClusterOnGpu, AssignmentsAreTheCpus)
{
  for (std::int64_t const scale : {1, 5, 10, 18}) {
    graph const g = make_graph((std::int64_t{1} << scale) - 1, {});
    graph const there = to_gpu(g, exec);
    for (std::int64_t const num : {std::int64_t{1}, std::int64_t{7}, std::int64_t{500}, g.num_vertices()}) {
      if (num > g.num_vertices()) { continue; }
      for (auto const method : {contiguous, random}) {
        clustering_params const params{.num_clusters = num, .method = method, .seed = 9};
        EXPECT_TRUE(same(cluster_vertices(there, params, exec), cluster_vertices(g, params)))
            << num << " clusters of " << g.num_vertices() << " vertices";
      }
    }
  }
}

TEST_F(ClusterOnGpu, GroupsAreTheCpus)
{
  for (std::int64_t const num : {1, 2, 100, 70'000}) {
    auto const groups = skewed_clusters(50'000, num);
    EXPECT_TRUE(same(groups.there.vertices, groups.here.vertices)) << num;
    EXPECT_TRUE(same(groups.there.offsets, groups.here.offsets)) << num;
  }
}

TEST_F(ClusterOnGpu, BatchesAreTheCpus)
{
  graph const g = generate_rmat({.scale = 13, .edge_factor = 12, .seed = 3}, {.symmetrize = true}, {});
  for (auto const& there : all_forms_on_gpu(g, exec)) {
    for (std::int64_t const num : {1, 10, 333, 4000}) {
      auto const clusters = skewed_clusters(g.num_vertices(), num);
      for (std::int64_t const a_sample : {1, 3, 20, 5000}) {
        for (std::int64_t const samples : {0, 1, 7, 60}) {
          SCOPED_TRACE(::testing::Message() << samples << " samples of " << a_sample << " of " << num << " clusters");
          cluster_params const params{.clusters_per_sample = a_sample, .seed = 8};
          std::int64_t const first = 0x1fffffff0LL;
          expect_same_subgraphs(cluster_sample(there, clusters.there, params, samples, exec, first),
                                cluster_sample(g, clusters.here, params, samples, {}, first));
        }
      }
    }
  }
}

TEST_F(ClusterOnGpu, ManyEpochsAtOnce)
{
  graph const g = generate_rmat({.scale = 8, .edge_factor = 8, .seed = 4}, {.symmetrize = true}, {});
  auto const clusters = skewed_clusters(g.num_vertices(), 30);
  cluster_params const params{.clusters_per_sample = 2, .seed = 1};
  expect_same_subgraphs(cluster_sample(to_gpu(g, exec), clusters.there, params, 20'000, exec, 7),
                        cluster_sample(g, clusters.here, params, 20'000, {}, 7));
}

TEST_F(ClusterOnGpu, ListsOfTheCallersChoice)
{
  graph const g = generate_rmat({.scale = 14, .edge_factor = 12, .seed = 5}, {.symmetrize = true}, {});
  graph const there = to_gpu(g, exec);
  std::int64_t const num = g.num_vertices() / 16;
  vertex_clusters const here = group_clusters(cluster_vertices(g, {.num_clusters = num}).span(), num);
  vertex_clusters const clusters =
      group_clusters(cluster_vertices(there, {.num_clusters = num}, exec).span(), num, exec);
  std::vector<vertex_id> lists;
  std::vector<std::int64_t> offsets = {0};
  for (std::int64_t s = 0; s < 5000; ++s) {
    for (std::int64_t k = 0; k < s % 4; ++k) { lists.push_back(static_cast<vertex_id>((2 * s + 3 * k) % num)); }
    offsets.push_back(static_cast<std::int64_t>(lists.size()));
  }
  expect_same_subgraphs(
      cluster_subgraphs(there, clusters, on_gpu(lists, exec).span(), on_gpu(offsets, exec).span(), exec),
      cluster_subgraphs(g, here, lists, offsets));
}

TEST_F(ClusterOnGpu, MetisIsTheCpus)
{
  void* const library = dlopen("libmetis.so.5", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) { GTEST_SKIP() << "no libmetis.so.5"; }
  graph const g = generate_rmat({.scale = 10, .edge_factor = 8, .seed = 6}, {}, {});
  clustering_params const params{.num_clusters = 12, .method = metis};
  EXPECT_TRUE(same(cluster_vertices(to_gpu(g, exec), params, exec), cluster_vertices(g, params)));
  dlclose(library);
}

TEST_F(ClusterOnGpu, EmptyGraphs)
{
  graph const none = to_gpu(graph(), exec);
  EXPECT_EQ(cluster_vertices(none, {.num_clusters = 3, .method = random}, exec).size(), 0);
  vertex_clusters const empty = group_clusters({}, 5, exec);
  expect_same_subgraphs(cluster_sample(none, empty, {.clusters_per_sample = 2}, 3, exec),
                        cluster_sample(graph(), group_clusters({}, 5), {.clusters_per_sample = 2}, 3));
}

TEST_F(ClusterOnGpu, RefusesWhatTheCpuRefuses)
{
  graph const g = generate_regular(regular_graph::ring, 10);
  graph const there = to_gpu(g, exec);
  auto const clusters = group_clusters(cluster_vertices(there, {.num_clusters = 5}, exec).span(), 5, exec);
  auto const of = on_gpu(std::vector<vertex_id>{0, 3, 1}, exec);
  auto const line = [](auto call) { return message_of<argument_error>(call); };
  EXPECT_EQ(line([&] { (void)group_clusters(of.span(), 3, exec); }),
            "vertex 1: cluster 3 is out of range, there are 3 clusters");
  EXPECT_EQ(line([&] { (void)cluster_vertices(there, {.num_clusters = 11}, exec); }),
            "num_clusters: 11, expected 1 to the number of vertices, 10");
  EXPECT_EQ(line([&] { (void)cluster_vertices(g, {.num_clusters = 1}, exec); }),
            "graph: it is in host memory, expected one on GPU 0 (to_gpu)");
  auto const lists = on_gpu(std::vector<vertex_id>{0, 5, 2, 2}, exec);
  auto const with = [&](std::vector<std::int64_t> const& offsets, std::size_t first) {
    auto const cuts = on_gpu(offsets, exec);
    return line([&] { (void)cluster_subgraphs(there, clusters, lists.span().subspan(first), cuts.span(), exec); });
  };
  EXPECT_EQ(with({0, 4}, 0), "list element 1: cluster 5 is out of range, there are 5 clusters");
  EXPECT_EQ(with({0, 3}, 2), "list_offsets: 3 after 0 at sample 0, expected ascending numbers up to 2");
  EXPECT_EQ(with({}, 2), "list_offsets: empty, expected one element more than there are samples");
  EXPECT_EQ(with({0, 2}, 2), "sample 0: vertex 4 occurs more than once, expected distinct vertices");
}

}  // namespace
}  // namespace tendril::test
