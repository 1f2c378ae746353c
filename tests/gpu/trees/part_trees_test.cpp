// k-hop trees of ranks whose parts lie on GPUs are those of one process, to the byte: for every rule, with edges and without,
// however many ranks there are. Ranks are threads here; they share GPUs where there are fewer, and then records go by
// way of host memory. With a GPU for each of two ranks, they go by the best way there is.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/gpu.hpp>
#include <tendril/sharded_khop.hpp>
#include <tendril/walk_parts.hpp>  // walks_of

#include "dist/failure_of.hpp"
#include "dist/refusal.hpp"
#include "gpu/device/check.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"
#include "support/graph_forms.hpp"
#include "support/karate.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

class PartTrees : public gpu_test {
 protected:
  static gpu_exec exec_of(transport const& ranks) { return gpu_exec(ranks.rank() % num_gpus()); }

  /// Each rank's trees equal those of its range of the seeds.
  static void compare(graph const& g, khop_params const& params, std::vector<vertex_id> const& seeds, int num_ranks)
  {
    SCOPED_TRACE(testing::PrintToString(params.fanouts) + (params.replace ? " replace" : "") +
                 (params.weighted ? " weighted" : "") + " on " + std::to_string(num_ranks) + " ranks");
    run_ranks(
        num_ranks,
        [&](transport& ranks) {
          gpu_exec const exec = exec_of(ranks);
          gpu::device_guard const guard(exec.device);
          sharded_khop_sampler sampler(part_of(g, {.num_parts = num_ranks}, ranks.rank()), params, ranks, exec);
          walk_range const mine = walks_of({ranks.rank(), num_ranks}, std::ssize(seeds));
          auto const own =
              std::span(seeds).subspan(static_cast<std::size_t>(mine.first), static_cast<std::size_t>(mine.size));
          auto const there = on_gpu(std::vector<vertex_id>(own.begin(), own.end()), exec);
          for (bool const with_edges : {false, true}) {
            // Roots cross 2^32, and calls come again and again.
            std::int64_t const first = 0xfffffff0LL + mine.first;
            khop_trees const made = sampler.sample(there.span(), exec, first, with_edges);
            khop_trees const expected = khop_sample(g, own, params, {.num_threads = 1}, first, with_edges);
            EXPECT_EQ(made.num_roots, expected.num_roots);
            ASSERT_EQ(made.hops.size(), expected.hops.size());
            for (std::size_t h = 0; h < expected.hops.size(); ++h) {
              EXPECT_EQ(made.hops[h].fanout, expected.hops[h].fanout);
              EXPECT_EQ(copied(made.hops[h].vertices), copied(expected.hops[h].vertices)) << "hop " << h + 1;
              EXPECT_EQ(copied(made.hops[h].edges), copied(expected.hops[h].edges)) << "hop " << h + 1;
              EXPECT_EQ(made.hops[h].edges.size(), with_edges ? made.hops[h].vertices.size() : 0);
              EXPECT_EQ(copied(made.hops[h].offsets), copied(expected.hops[h].offsets)) << "hop " << h + 1;
            }
          }
        },
        transport::seconds(60));
  }

  static std::vector<khop_params> every_tree()
  {
    using enum sampling_rule;
    std::vector<khop_params> out;
    for (std::vector<std::int64_t> const& fanouts :
         {std::vector<std::int64_t>{4, 3}, {1, 1, 1}, {70, 2}, {7}, {3, 5000}}) {
      for (int bits = 0; bits < 4; ++bits) {
        out.push_back({.fanouts = fanouts, .replace = (bits & 1) != 0, .weighted = (bits & 2) != 0, .seed = 3});
      }
    }
    out.push_back({.fanouts = {3, 2}, .replace = true, .weighted = true, .rule = its});
    out.push_back({.fanouts = {3, 2}, .replace = true, .weighted = true, .table_bytes = 1});
    out.push_back({.fanouts = {3, 2}, .weighted = true, .rule = scan});
    return out;
  }
};

TEST_F(PartTrees, AreThoseOfOneProcess)
{
  for (graph const& g : {make_zoo(5), make_star({1, 2, 0, 5}), make_graph(5, {})}) {
    auto const seeds = random_roots(g, 60);
    for (khop_params const& params : every_tree()) {
      for (int const n : {1, 2, 3, 7}) { compare(g, params, seeds, n); }
    }
  }
}

TEST_F(PartTrees, OfAllNeighboursAreThoseOfOneProcess)
{
  std::vector<std::vector<std::int64_t>> const hops = {{-1},       {-1, 2},    {2, -1},     {-1, -1},  {-1, 2, 3},
                                                       {3, -1, 2}, {2, 3, -1}, {-1, 3, -1}, {-1, 2100}};
  for (graph const& g : {make_zoo(5), make_star({1, 2, 0, 5}), make_graph(5, {})}) {
    auto const seeds = random_roots(g, 60);
    for (auto const& fanouts : hops) {
      for (int bits = 0; bits < 4; ++bits) {
        khop_params const params{
            .fanouts = fanouts, .replace = (bits & 1) != 0, .weighted = (bits & 2) != 0, .seed = 3};
        for (int const n : {1, 2, 3, 7}) { compare(g, params, seeds, n); }
      }
    }
  }
}

TEST_F(PartTrees, AreThoseOfOneProcessOnCompressedParts)
{
  for (graph const& original : {make_zoo(5), make_star({1, 2, 0, 5}), make_graph(5, {})}) {
    auto const seeds = random_roots(original, 60);
    for (graph const& g : in_compressed_forms(original)) {
      for (khop_params const& params : every_tree()) { compare(g, params, seeds, 3); }
      for (std::vector<std::int64_t> const& fanouts : {std::vector<std::int64_t>{-1, 2}, {3, -1, 2}, {-1, -1}}) {
        compare(g, {.fanouts = fanouts, .weighted = true, .seed = 3}, seeds, 3);
      }
    }
  }
}

TEST_F(PartTrees, OfAllNeighboursMayHaveNoRootsOnARank)
{
  graph const g = make_zoo(5);
  for (std::vector<vertex_id> const& seeds : {std::vector<vertex_id>{}, {0}, {0, 0}, {62, 0, 62}, {62, 62, 62, 62}}) {
    for (std::vector<std::int64_t> const& fanouts : {std::vector<std::int64_t>{-1, 2, -1, 2}, {2, -1, -1}}) {
      for (int const n : {2, 3}) { compare(g, {.fanouts = fanouts, .seed = 8}, seeds, n); }
    }
  }
}

TEST_F(PartTrees, OfAllNeighboursAreThoseOfOneProcessOnASkewedGraph)
{
  graph const g = generate_rmat({.scale = 12, .edge_factor = 16, .seed = 2}, {.symmetrize = true},
                                {.has_weights = true, .weight_sigma = 2});
  for (khop_params const& params : {khop_params{.fanouts = {-1, 5, 2}},
                                    {.fanouts = {10, -1, 2}, .weighted = true},
                                    {.fanouts = {-1, -1}, .replace = true, .weighted = true}}) {
    for (int const n : {2, 4}) { compare(g, params, random_roots(g, 200), n); }
  }
}

/// Memory isn't asked for, and the sampler goes on.
TEST_F(PartTrees, TooManySlotsOfARankEndTheCallAlone)
{
  graph const g = make_star(std::vector<float>(1024, 1));
  run_ranks(2, [&](transport& ranks) {
    gpu_exec const exec = exec_of(ranks);
    gpu::device_guard const guard(exec.device);
    auto const sampler_of = [&](khop_params const& params) {
      return sharded_khop_sampler(part_of(g, {.num_parts = 2}, ranks.rank()), params, ranks, exec);
    };
    auto sampler = sampler_of({.fanouts = {-1, 1 << 16}});
    auto const sample = [&](std::vector<vertex_id> const& seeds) {
      return sampler.sample(on_gpu(seeds, exec).span(), exec);
    };
    for (int const bad : {0, 1}) {
      std::string const words =
          "hop 2: 2147483648 slots in one call of a rank, expected fewer than 2^31, as of fewer seeds";
      bool const wrong = ranks.rank() == bad;
      expect_refusal(ranks, bad, words,
                     [&] { (void)sample(std::vector<vertex_id>(wrong ? 32U : 1U, wrong ? 0U : 7U)); });
      khop_trees const made = sample({7, 8});
      EXPECT_EQ(copied(made.hops[0].offsets), (std::vector<std::int64_t>{0, 0, 0}));
      EXPECT_EQ(made.hops[1].vertices.size(), 0);
    }
    auto before = sampler_of({.fanouts = {1 << 16, -1}});
    expect_refusal(ranks, 1,
                   "hop 1: 2147483648 slots in one call of a rank, expected fewer than 2^31, as of fewer seeds", [&] {
                     std::vector<vertex_id> const seeds(ranks.rank() == 1 ? 1U << 15U : 1U, 7);
                     (void)before.sample(on_gpu(seeds, exec).span(), exec);
                   });
  });
}

TEST_F(PartTrees, AreThoseOfOneProcessOnASkewedGraph)
{
  graph const g = generate_rmat({.scale = 12, .edge_factor = 16, .seed = 2}, {.symmetrize = true},
                                {.has_weights = true, .weight_sigma = 2});
  auto const seeds = random_roots(g, 5000);
  for (khop_params const& params : {khop_params{.fanouts = {25, 10}},
                                    {.fanouts = {10, 5}, .weighted = true},
                                    {.fanouts = {6, 5, 4}, .replace = true, .weighted = true}}) {
    for (int const n : {2, 4}) { compare(g, params, seeds, n); }
  }
}

TEST_F(PartTrees, OfManySeedsAreMadeInBatches)
{
  graph const g = generate_rmat({.scale = 12, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, {});
  compare(g, {.fanouts = {40, 40}}, random_roots(g, 90'000), 2);  // 72 M slots a rank: three batches
}

TEST_F(PartTrees, AWrongSeedEndsTheCallAlone)
{
  graph const g = make_karate();
  run_ranks(3, [&](transport& ranks) {
    gpu_exec const exec = exec_of(ranks);
    gpu::device_guard const guard(exec.device);
    sharded_khop_sampler sampler(part_of(g, {.num_parts = 3}, ranks.rank()), {.fanouts = {2, 2}}, ranks, exec);
    auto const sample = [&](std::vector<vertex_id> const& seeds, std::int64_t first, bool with_edges = false) {
      return sampler.sample(on_gpu(seeds, exec).span(), exec, first, with_edges);
    };
    for (int const bad : {0, 2}) {
      bool const wrong = ranks.rank() == bad;
      expect_refusal(ranks, bad, "seed 1: vertex 34 is out of range, the graph has 34 vertices", [&] {
        (void)sample({0, wrong ? 34U : 1U}, 0);
      });
      expect_refusal(ranks, bad, "first_root: -1, expected 0 or more", [&] { (void)sample({0}, wrong ? -1 : 0); });
      EXPECT_THROW((void)sample({0}, 0, wrong), argument_error) << "edges on some ranks, expected on all or none";
      std::vector<vertex_id> const seeds{5, static_cast<vertex_id>(ranks.rank())};
      khop_trees const expected = khop_sample(g, seeds, {.fanouts = {2, 2}}, {.num_threads = 1}, 9);
      EXPECT_EQ(copied(sample(seeds, 9).hops[1].vertices), copied(expected.hops[1].vertices));
    }
  });
}

TEST_F(PartTrees, WhatIsWrongIsNamed)
{
  graph const g = make_karate();
  auto const sampler_of = [&](transport& ranks, khop_params const& params) {
    return sharded_khop_sampler(part_of(g, {.num_parts = 2}, ranks.rank()), params, ranks, exec_of(ranks));
  };
  auto const sample = [&](transport& ranks, sharded_khop_sampler& sampler, std::vector<vertex_id> const& seeds,
                          bool with_edges = false) {
    gpu_exec const exec = exec_of(ranks);
    gpu::device_guard const guard(exec.device);
    (void)sampler.sample(on_gpu(seeds, exec).span(), exec, 0, with_edges);
  };
  EXPECT_NE(failure_of(2,
                       [&](transport& ranks) {
                         (void)sampler_of(ranks, {.fanouts = {1 << 16, 1 << 15, 1}});
                       })
                .find("a tree has 2147483648 slots before hop 3, expected fewer than 2^31"),
            std::string::npos);
  EXPECT_EQ(failure_of(2,
                       [&](transport& ranks) {
                         auto sampler = sampler_of(ranks, {.fanouts = {2}});
                         sample(ranks, sampler, {0, ranks.rank() == 1 ? 34U : 1U});
                       }),
            "seed 1: vertex 34 is out of range, the graph has 34 vertices");
  EXPECT_NE(failure_of(2,
                       [&](transport& ranks) {
                         auto sampler = sampler_of(ranks, {.fanouts = {2}});
                         sample(ranks, sampler, {0}, ranks.rank() == 1);
                       })
                .find("edges of trees: asked for on some ranks"),
            std::string::npos);
  EXPECT_NE(failure_of(2,
                       [&](transport& ranks) {
                         auto sampler = sampler_of(ranks, {.fanouts = {2}});
                         (void)sampler.sample(std::vector<vertex_id>{1});
                       })
                .find("it was made for a GPU, expected a gpu_exec"),
            std::string::npos);
}

}  // namespace
}  // namespace tendril::test
