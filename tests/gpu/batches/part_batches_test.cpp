// Mini-batches of ranks whose parts lie on GPUs are those of one process, to the byte: for every way to sample, however many ranks
// there are, and however many batches go together. Ranks are threads here; they share GPUs where there are fewer, and then records
// go by way of host memory. With a GPU for each of two ranks, they go by the best way there is.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/gpu.hpp>
#include <tendril/sharded_minibatch.hpp>
#include <tendril/walk_parts.hpp>  // walks_of

#include "dist/failure_of.hpp"
#include "dist/refusal.hpp"
#include "gpu/batches/minibatch_support.hpp"
#include "gpu/device/check.hpp"
#include "support/graph_forms.hpp"
#include "support/karate.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

class PartBatches : public gpu_test {
 protected:
  struct job {
    std::vector<vertex_id> seeds;
    std::int64_t size;
    int calls = 2;
  };

  static gpu_exec exec_of(transport const& ranks) { return gpu_exec(ranks.rank() % num_gpus()); }

  /// Each rank's batches equal those of its range of the batches.
  static void compare(graph const& g, minibatch_params const& params, job const& what, int num_ranks)
  {
    SCOPED_TRACE(name_of(params) + " " + testing::PrintToString(params.num_neighbors) + " on " +
                 std::to_string(num_ranks) + " ranks");
    std::int64_t const num_batches = (std::ssize(what.seeds) + what.size - 1) / what.size;
    run_ranks(
        num_ranks,
        [&](transport& ranks) {
          gpu_exec const exec = exec_of(ranks);
          gpu::device_guard const guard(exec.device);
          sharded_minibatch_sampler sampler(part_of(g, {.num_parts = num_ranks}, ranks.rank()), params, ranks, exec);
          minibatch_sampler whole(hetero_graph(g), params, {.num_threads = 1});
          walk_range const mine = walks_of({ranks.rank(), num_ranks}, num_batches);
          auto const begin = static_cast<std::size_t>(std::min(mine.first * what.size, std::ssize(what.seeds)));
          auto const end =
              static_cast<std::size_t>(std::min((mine.first + mine.size) * what.size, std::ssize(what.seeds)));
          auto const own = std::span(what.seeds).subspan(begin, end - begin);
          auto const there = on_gpu(std::vector<vertex_id>(own.begin(), own.end()), exec);
          for (int call = 0; call < what.calls; ++call) {  // the second one finds memory that the first one has used
            batch_numbers const numbers{0xfffffffffULL + static_cast<std::uint64_t>(call + mine.first), 3};
            auto const made = sampler.sample_batches(there.span(), what.size, numbers, exec);
            auto const expected = whole.sample_batches(0, own, what.size, numbers);
            ASSERT_EQ(difference(copied_lists(expected), copied_lists(made)), "") << "rank " << ranks.rank();
          }
          sharded_minibatch_report const& report = sampler.report();
          EXPECT_EQ(report.num_batches, what.calls * mine.size);
          EXPECT_LE(report.asked_away, report.asked);
          if (num_ranks == 1) { EXPECT_EQ(report.asked_away, 0); }
          if (report.asked_away > 0) { EXPECT_GE(report.sent_bytes, 8 * report.asked_away); }
        },
        transport::seconds(60));
  }
};

TEST_F(PartBatches, EveryWayEqualsThatOfOneProcess)
{
  graph const g = make_zoo(6);
  for (std::vector<std::int64_t> const& fanouts :
       {std::vector<std::int64_t>{4, 3}, {3, 0, 2}, {0, 2}, {70, 2}, {2, 5000}, {0}, {2, -1}, {-1}, {-1, 0, 3, -1}}) {
    for (minibatch_params const& params : every_way(true, false, fanouts)) {
      for (int const n : fanouts[0] == 4 ? std::vector{1, 2, 3, 7} : std::vector{3}) {
        compare(g, params, {random_roots(g, 90), 20}, n);
      }
    }
  }
}

TEST_F(PartBatches, HubsAndGraphsWithoutEdges)
{
  for (graph const& g : {make_star({1, 2, 0, 5}), make_graph(5, {})}) {
    for (minibatch_params const& params : every_way(true, false, {3, 2})) {
      compare(g, params, {random_roots(g, 9), 2}, 3);
    }
  }
}

TEST_F(PartBatches, OfASkewedGraph)
{
  graph const g = generate_rmat({.scale = 12, .edge_factor = 16, .seed = 2}, {.symmetrize = true},
                                {.has_weights = true, .weight_sigma = 2});
  for (int const n : {2, 4}) {
    compare(g, {.num_neighbors = {15, 10, 5}}, {random_roots(g, 6000), 100}, n);
    compare(g, {.num_neighbors = {15, 10, 5}}, {random_roots(g, 1500), 1500}, n);  // fewer batches than ranks
    compare(g, {.num_neighbors = {10, 5}, .weighted = true}, {random_roots(g, 3000), 128}, n);
    compare(g, {.num_neighbors = {10, 5}, .replace = true, .weighted = true}, {random_roots(g, 3000), 128}, n);
    compare(g, {.num_neighbors = {10, 5}, .disjoint = true}, {random_roots(g, 3000), 128}, n);
    compare(g, {.num_neighbors = {-1, -1}}, {random_roots(g, 70), 10}, n);
    compare(g, {.num_neighbors = {10, 5}, .choice = neighbor_choice::labor}, {random_roots(g, 6000), 100}, n);
    compare(g,
            {.num_neighbors = {10, 5},
             .choice = neighbor_choice::labor,
             .normalize = false,
             .layer_dependency = true,
             .batch_dependency = 7},
            {random_roots(g, 3000), 128}, n);
    compare(g, {.num_neighbors = {400, -1}, .choice = neighbor_choice::labor}, {random_roots(g, 70), 10}, n);
    compare(g, {.num_neighbors = {5, 5}, .subgraph = subgraph_type::induced}, {random_roots(g, 2000), 100}, n);
    compare(g, {.num_neighbors = {5}, .disjoint = true, .subgraph = subgraph_type::induced}, {random_roots(g, 700), 64},
            n);
    compare(g, {.num_neighbors = {5, -1, 2}, .weighted = true, .disjoint = true}, {random_roots(g, 100), 30}, n);
  }
}

TEST_F(PartBatches, OfCompressedParts)
{
  graph const skewed = generate_rmat({.scale = 12, .edge_factor = 16, .seed = 2}, {.symmetrize = true},
                                     {.has_weights = true, .weight_sigma = 2});
  for (graph const& g : in_compressed_forms(make_zoo(6))) {
    for (minibatch_params const& params : every_way(true, false, {4, 3})) {
      compare(g, params, {random_roots(g, 60), 20, 1}, 3);
    }
    for (bool const weighted : {false, true}) {
      compare(g, {.num_neighbors = {70, -1}, .weighted = weighted}, {random_roots(g, 60), 20}, 3);
    }
  }
  for (graph const& g : in_compressed_forms(skewed)) {
    compare(g, {.num_neighbors = {15, 10, 5}}, {random_roots(g, 1000), 100, 1}, 2);
    compare(g, {.num_neighbors = {10, 5}, .weighted = true}, {random_roots(g, 1000), 128, 1}, 2);
    compare(g, {.num_neighbors = {5, 5}, .subgraph = subgraph_type::induced}, {random_roots(g, 1000), 100, 1}, 2);
  }
}

TEST_F(PartBatches, OfManyRoundsComeInOrder)
{
  // 2^25 picks go together: a batch of 400 seeds has 400 * 60 * 50 in its last hop, so 27 batches, and a rank has 60.
  graph const g = generate_rmat({.scale = 12, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, {});
  compare(g, {.num_neighbors = {60, 50}, .disjoint = true}, {random_roots(g, 48'000), 400, 1}, 2);
}

TEST_F(PartBatches, ARankMayAskForNothingAndRanksMayUseOtherSizes)
{
  graph const g = make_zoo(2);
  minibatch_params const params{.num_neighbors = {3, 3}};
  minibatch_sampler whole(hetero_graph(g), params, {.num_threads = 1});
  run_ranks(3, [&](transport& ranks) {
    gpu_exec const here = exec_of(ranks);
    gpu::device_guard const guard(here.device);
    sharded_minibatch_sampler sampler(part_of(g, {.num_parts = 3}, ranks.rank()), params, ranks, here);
    for (int call = 0; call < 3; ++call) {
      auto const seeds = random_roots(g, static_cast<std::int64_t>((ranks.rank() + call) % 3) * 30);
      auto const there = on_gpu(seeds, here);
      batch_numbers const numbers{static_cast<std::uint64_t>(call), 1};
      auto const made = sampler.sample_batches(there.span(), 5 + ranks.rank(), numbers, here);
      if (ranks.rank() != 2) { continue; }  // one sampler of all batches for one thread
      EXPECT_EQ(difference(copied_lists(whole.sample_batches(0, seeds, 7, numbers)), copied_lists(made)), "");
    }
  });
}

TEST_F(PartBatches, BatchesOutliveTheirSampler)
{
  graph const g = make_zoo(4);
  minibatch_params const params{.num_neighbors = {4, 3}};
  auto const seeds = random_roots(g, 90);
  auto const expected =
      copied_lists(minibatch_sampler(hetero_graph(g), params, {.num_threads = 1}).sample_batches(0, seeds, 20));
  run_ranks(2, [&](transport& ranks) {
    gpu_exec const here = exec_of(ranks);
    gpu::device_guard const guard(here.device);
    std::vector<minibatch> made;
    {
      auto const there = on_gpu(seeds, here);
      sharded_minibatch_sampler sampler(part_of(g, {.num_parts = 2}, ranks.rank()), params, ranks, here);
      made = sampler.sample_batches(there.span(), 20, {}, here);
      (void)sampler.sample_batches(there.span(), 20, {7, 1}, here);  // in other memory
    }
    EXPECT_EQ(difference(expected, copied_lists(made)), "");
  });
}

TEST_F(PartBatches, AWrongSeedEndsTheCallAlone)
{
  graph const g = make_karate();
  minibatch_params const params{.num_neighbors = {2, 2}};
  run_ranks(3, [&](transport& ranks) {
    gpu_exec const here = exec_of(ranks);
    gpu::device_guard const guard(here.device);
    sharded_minibatch_sampler sampler(part_of(g, {.num_parts = 3}, ranks.rank()), params, ranks, here);
    auto const sample = [&](std::vector<vertex_id> const& seeds, std::int64_t size) {
      return sampler.sample_batches(on_gpu(seeds, here).span(), size, {}, here);
    };
    for (int const bad : {0, 2}) {
      bool const wrong = ranks.rank() == bad;
      expect_refusal(ranks, bad, "seed 1: vertex 34 is out of range, the graph has 34 vertices", [&] {
        (void)sample({0, wrong ? 34U : 1U}, 2);
      });
      expect_refusal(ranks, bad, "batch_size: 0, expected 1 to 4294967294", [&] { (void)sample({0}, wrong ? 0 : 1); });
      std::vector<vertex_id> const seeds{5, static_cast<vertex_id>(ranks.rank() + 6)};
      minibatch_sampler whole(hetero_graph(g), params, {.num_threads = 1});
      EXPECT_EQ(difference(copied_lists(whole.sample_batches(0, seeds, 1)), copied_lists(sample(seeds, 1))), "");
    }
  });
}

TEST_F(PartBatches, WhatIsWrongIsNamed)
{
  graph const g = make_karate();
  auto const sample = [&](transport& ranks, minibatch_params const& params, std::vector<vertex_id> const& seeds,
                          std::int64_t size) {
    gpu_exec const here = exec_of(ranks);
    gpu::device_guard const guard(here.device);
    sharded_minibatch_sampler sampler(part_of(g, {.num_parts = 2}, ranks.rank()), params, ranks, here);
    (void)sampler.sample_batches(on_gpu(seeds, here).span(), size, {}, here);
  };
  EXPECT_EQ(failure_of(2,
                       [&](transport& ranks) {
                         sample(ranks, {.num_neighbors = {2}}, {0, ranks.rank() == 1 ? 34U : 1U}, 2);
                       }),
            "seed 1: vertex 34 is out of range, the graph has 34 vertices");
  EXPECT_EQ(failure_of(2, [&](transport& ranks) { sample(ranks, {.num_neighbors = {2}}, {0}, 0); }),
            "batch_size: 0, expected 1 to 4294967294");
  std::string const seed = failure_of(
      2, [&](transport& ranks) { sample(ranks, {.num_neighbors = {2}, .seed = ranks.rank() == 1 ? 1U : 0U}, {0}, 1); });
  EXPECT_NE(seed.find("rank 1 of 2 makes batches of fan-outs 2,"), std::string::npos) << seed;
  EXPECT_EQ(failure_of(2,
                       [&](transport& ranks) {
                         sharded_minibatch_sampler sampler(part_of(g, {.num_parts = 2}, ranks.rank()),
                                                           {.num_neighbors = {2}}, ranks, exec_of(ranks));
                         std::vector<vertex_id> const seeds{1};
                         (void)sampler.sample_batches(seeds, 1);
                       }),
            "sharded_minibatch_sampler: it was made for a GPU, expected a gpu_exec");
}

}  // namespace
}  // namespace tendril::test
