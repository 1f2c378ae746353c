// Samples of placed graphs are the CPU's, to the byte, whoever makes them: the GPU, the CPU, or both. Bad input gives one
// line, an error of one side ends the call, and the next call works.

#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/layer_sampling.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/multidim.hpp>
#include <tendril/place.hpp>
#include <tendril/sample.hpp>
#include <tendril/walk.hpp>
#include <tendril/walk_stream.hpp>

#include "gpu/batches/minibatch_support.hpp"
#include "gpu/together/lane.hpp"
#include "gpu/together/together.hpp"
#include "support/collected_walks.hpp"
#include "support/compare_samples.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"
#include "support/messages.hpp"
#include "support/short_memory.hpp"
#include "support/small_graphs.hpp"
#include "support/table_limits.hpp"
#include "support/walk_rows.hpp"

namespace tendril::test {
namespace {

constexpr std::int64_t first_id = 0xfffffff0LL;  // logical ids cross 2^32

class PlacedTogether : public gpu_test {
 protected:
  /// The graph on the GPU with a part of its lists, sampled as `share` says.
  graph placed(graph const& host, double part, work_share share) const
  {
    place_params params{.gpu_bytes = std::int64_t{1} << 34U, .policy = placement_policy::degree, .share = share};
    auto const whole = place_graph(host, params, exec);
    auto const& all = *whole.placed();
    auto const lists = static_cast<double>(all.gpu_bytes + all.gpu_edge_bytes);
    params.gpu_bytes = std::max<std::int64_t>(1, all.directory_bytes) + static_cast<std::int64_t>(lists * part);
    return place_graph(host, params, exec);
  }

  /// Calls f with the graph in every placement that makes a difference, by all who may sample it.
  void in_every_way(graph const& host, std::function<void(graph const&)> const& f) const
  {
    for (work_share const share : {work_share::both, work_share::cpu, work_share::gpu, work_share::automatic}) {
      for (double const part : {0.0, 0.5, 1.0}) {
        SCOPED_TRACE("share " + std::string(to_string(share)) + ", " + std::to_string(part) + " on the GPU");
        f(placed(host, part, share));
      }
    }
  }

  static graph skewed()
  {
    edge_attributes const extra{.has_weights = true, .weight_sigma = 3, .num_labels = 3, .num_node_types = 3};
    return generate_rmat({.scale = 12, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, extra);
  }
};

TEST_F(PlacedTogether, WalksAreTheCpus)
{
  graph const g = make_zoo(11);
  auto const starts = starts_everywhere(g, 37);
  auto const from = on_gpu(starts, exec);
  in_every_way(g, [&](graph const& there) {
    for (auto app : all_applications(14)) {
      SCOPED_TRACE(app.name);
      app.params.seed = 77;
      rows const expected = copied_rows(walker(g, app.params, with_tables).run(starts, first_id));
      walker const walk(there, app.params, with_tables, exec);
      ASSERT_EQ(copied_rows(walk.run(from.span(), first_id, exec)), expected);
      if (app.params.dead_ends == dead_end::repeat) { continue; }
      ASSERT_EQ(copied_ragged(walk.run_ragged(from.span(), first_id, exec)), cut(expected));
    }
  });
}

TEST_F(PlacedTogether, ManyWalksAreTheCpus)
{
  graph const g = skewed();
  auto const starts = starts_everywhere(g, 25);
  auto const from = on_gpu(starts, exec);
  std::vector<walk_params> const kinds{{.length = 40, .seed = 7},
                                       {.length = 40, .weighted = true, .seed = 7},
                                       {.length = 30, .stop_prob = 0.1, .seed = 7},
                                       {.length = 20, .p = 2, .q = 0.5, .seed = 7}};
  in_every_way(g, [&](graph const& there) {
    for (walk_params const& params : kinds) {
      walker const cpu(g, params, with_tables);
      walker const walk(there, params, with_tables, exec);
      rows const expected = copied_rows(cpu.run(starts, first_id));
      for (int time = 0; time < 4; ++time) {  // later ones with known rates
        ASSERT_EQ(copied_rows(walk.run(from.span(), first_id, exec)), expected);
      }
      ASSERT_EQ(copied_ragged(walk.run_ragged(from.span(), first_id, exec)), cut(expected));
    }
  });
}

TEST_F(PlacedTogether, WalksStepByStepAreTheSameTransposed)
{
  graph const g = skewed();
  auto const starts = starts_everywhere(g, 10);
  auto const from = on_gpu(starts, exec);
  walk_params const params{.length = 21, .stop_prob = 0.05, .seed = 3};
  rows const expected = copied_rows(walker(g, params, with_tables).run(starts, first_id));
  in_every_way(g, [&](graph const& there) {
    rows const got =
        copied_rows(walker(there, params, with_tables, exec).run(from.span(), first_id, exec, walk_order::step_major));
    ASSERT_EQ(got.lengths, expected.lengths);
    std::size_t const n = starts.size();
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t t = 0; t < 22; ++t) {
        ASSERT_EQ(got.vertices[t * n + i], expected.vertices[i * 22 + t]) << "walk " << i << ", step " << t;
      }
    }
  });
}

TEST_F(PlacedTogether, WalksWithoutLengthsAreTheSame)
{
  graph const g = skewed();
  auto const starts = starts_everywhere(g, 3);
  auto const from = on_gpu(starts, exec);
  walk_params const params{.length = 9, .seed = 3};
  walker const walk(placed(g, 0.5, work_share::both), params, with_tables, exec);
  buffer<vertex_id> out(std::ssize(starts) * 10, memory_of(exec));
  walk.run_into(from.span(), first_id, out.data(), nullptr, exec);
  EXPECT_EQ(copied(out), copied_rows(walker(g, params, with_tables).run(starts, first_id)).vertices);
}

TEST_F(PlacedTogether, StreamsAreTheCpus)
{
  graph const g = skewed();
  auto const starts = starts_everywhere(g, 10);
  walk_params const params{.length = 20, .stop_prob = 0.05, .seed = 3};
  rows const expected = copied_rows(walker(g, params, with_tables).run(starts, first_id));
  in_every_way(g, [&](graph const& there) {
    walker const walk(there, params, with_tables, exec);
    collected_walks rows;
    walk_stream_job job{.num_walks = std::ssize(starts), .first_walk = first_id, .starts = starts_from(starts)};
    job.sink = rows.sink();
    job.batch_bytes = 4'000'000;
    (void)stream_walks(walk, job, exec);
    EXPECT_EQ(rows.vertices, expected.vertices);
    EXPECT_EQ(rows.lengths, expected.lengths);
    collected_ragged ragged;
    job.sink = {};
    job.ragged_sink = ragged.sink();
    (void)stream_walks(walk, job, exec);
    EXPECT_EQ(ragged.walks, cut(expected));
  });
}

TEST_F(PlacedTogether, MultidimensionalWalksAreTheCpus)
{
  graph const g = skewed();
  in_every_way(g, [&](graph const& there) {
    for (std::int64_t const num_roots : {1, 7, 64}) {
      auto const roots = random_roots(g, 3000 * num_roots);
      auto const from = on_gpu(roots, exec);
      for (auto const choose : {root_choice::by_degree, root_choice::uniform}) {
        multidim_params const params{.length = 30, .choose = choose, .seed = 77};
        auto const expected = multidim_walk(g, roots, num_roots, params, cpu_exec{}, first_id);
        auto const got = multidim_walk(there, from.span(), num_roots, params, exec, first_id);
        EXPECT_EQ(copied(got.vertices), copied(expected.vertices));
        EXPECT_EQ(copied(got.slots), copied(expected.slots));
        EXPECT_EQ(copied(got.lengths), copied(expected.lengths));
      }
    }
  });
}

TEST_F(PlacedTogether, TreesAreTheCpus)
{
  graph const g = skewed();
  auto const seeds = random_roots(g, 5000);
  auto const from = on_gpu(seeds, exec);
  in_every_way(g, [&](graph const& there) {
    for (auto const& fanouts : std::vector<std::vector<std::int64_t>>{{25, 10}, {3}, {2, 3, 2}, {5, -1}}) {
      for (bool const weighted : {false, true}) {
        for (bool const replace : {false, true}) {
          khop_params const params{.fanouts = fanouts, .replace = replace, .weighted = weighted, .seed = 5};
          for (bool const with_edges : {false, true}) {
            auto const expected = khop_sample(g, seeds, params, cpu_exec{}, first_id, with_edges);
            auto const got = khop_sample(there, from.span(), params, exec, first_id, with_edges);
            ASSERT_EQ(got.hops.size(), expected.hops.size());
            for (std::size_t h = 0; h < got.hops.size(); ++h) {
              SCOPED_TRACE(h);
              EXPECT_EQ(got.hops[h].fanout, expected.hops[h].fanout);
              ASSERT_TRUE(copied(got.hops[h].vertices) == copied(expected.hops[h].vertices));
              ASSERT_TRUE(copied(got.hops[h].edges) == copied(expected.hops[h].edges));
              ASSERT_TRUE(copied(got.hops[h].offsets) == copied(expected.hops[h].offsets));
            }
          }
        }
      }
    }
  });
}

TEST_F(PlacedTogether, BatchesAreTheCpus)
{
  graph const g = skewed();
  auto const seeds = random_roots(g, 1500);
  auto const from = on_gpu(seeds, exec);
  std::vector<minibatch_params> const kinds{{.num_neighbors = {5, 4, 3}, .seed = 6},
                                            {.num_neighbors = {5, 4}, .disjoint = true, .seed = 6},
                                            {.num_neighbors = {3, -1}, .seed = 6},
                                            {.num_neighbors = {5, 4}, .replace = true, .weighted = true, .seed = 6},
                                            {.num_neighbors = {4, 4}, .subgraph = subgraph_type::induced, .seed = 6},
                                            {.num_neighbors = {5, 5}, .choice = neighbor_choice::labor, .seed = 6}};
  in_every_way(g, [&](graph const& there) {
    for (minibatch_params const& params : kinds) {
      SCOPED_TRACE(name_of(params));
      minibatch_sampler cpu(hetero_graph(g), params);
      batch_numbers const numbers{.first = 11, .step = 3};
      auto const expected = copied_lists(cpu.sample_batches(0, seeds, 64, numbers));
      minibatch_sampler sampler(hetero_graph(there), params, exec);
      for (int time = 0; time < 2; ++time) {
        EXPECT_EQ(difference(expected, copied_lists(sampler.sample_batches(0, from.span(), 64, numbers))), "");
      }
    }
  });
}

TEST_F(PlacedTogether, LayersAreTheCpus)
{
  graph const g = skewed();
  auto const roots = random_roots(g, 4 * 2000);
  auto const from = on_gpu(roots, exec);
  in_every_way(g, [&](graph const& there) {
    for (bool const unique : {false, true}) {
      layer_params const params{.layer_size = 6, .max_size = 30, .unique = unique, .seed = 4};
      expect_same_samples(layer_sample(g, roots, 4, params, cpu_exec{}, first_id),
                          layer_sample(there, from.span(), 4, params, exec, first_id), &exec);
    }
  });
}

TEST_F(PlacedTogether, BadVerticesAreNamedByTheirPlace)
{
  graph const g = skewed();
  auto seeds = random_roots(g, 5000);
  seeds[4321] = 99'999;
  seeds[4999] = 88'888;
  auto const from = on_gpu(seeds, exec);
  for (work_share const share : {work_share::both, work_share::cpu, work_share::gpu}) {
    graph const there = placed(g, 0.5, share);
    auto const line = [](char const* what) {
      return std::string(what) + " 4321: vertex 99999 is out of range, the graph has 4096 vertices";
    };
    walker const walk(there, {.length = 10}, with_tables, exec);
    EXPECT_EQ(message_of<argument_error>([&] { (void)walk.run(from.span(), 0, exec); }), line("start"));
    EXPECT_EQ(message_of<argument_error>([&] { (void)walk.run_ragged(from.span(), 0, exec); }), line("start"));
    EXPECT_EQ(message_of<argument_error>([&] { (void)khop_sample(there, from.span(), {}, exec); }), line("seed"));
    EXPECT_EQ(message_of<argument_error>([&] { (void)multidim_walk(there, from.span(), 1, {.length = 5}, exec); }),
              line("root"));
    minibatch_sampler sampler(hetero_graph(there), {.num_neighbors = {5, 4}}, exec);
    std::string const batches = message_of<argument_error>([&] { (void)sampler.sample_batches(0, from.span(), 100); });
    EXPECT_NE(batches.find("4321"), std::string::npos) << batches;
    EXPECT_NE(batches.find("99999"), std::string::npos) << batches;
  }
}

TEST_F(PlacedTogether, AnErrorOfTheGpuEndsTheCall)
{
  graph const g = skewed();
  graph const there = placed(g, 0.5, work_share::both);
  auto const starts = starts_everywhere(g, 10);
  auto const from = on_gpu(starts, exec);
  walk_params const params{.length = 20, .seed = 3};
  walker const walk(there, params, with_tables, exec);
  short_memory memory(2);  // the result; the turn of the GPU fails
  gpu_exec const poor(0, nullptr, &memory);
  EXPECT_EQ(message_of<memory_error>([&] { (void)walk.run(from.span(), 0, poor, walk_order::step_major); }),
            "out of memory: planted");
  EXPECT_EQ(copied_rows(walk.run(from.span(), 0, exec)), copied_rows(walker(g, params, with_tables).run(starts, 0)));
}

TEST(SharedJob, BeginsInBulkWhereThatPays)
{
  // 100 items of the CPU a second, 1,000 of the GPU after half a second: 1,000 items take 1,500 / 1,100 s.
  EXPECT_EQ(gpu::bulk_items({0.5, 100}, 1000, 1000, 100), 863);
  EXPECT_EQ(gpu::bulk_items({0.5, 900}, 1000, 1000, 100), 0);
  EXPECT_EQ(gpu::bulk_items({20, 100}, 1000, 1000, 100), 0);
  EXPECT_EQ(gpu::bulk_items({0, 100}, 1000, 1000, 0), 1000);
  EXPECT_EQ(gpu::bulk_items({}, 1000, 1000, 100), 0);
}

TEST_F(PlacedTogether, LanesCopyWhatIsLargerThanTheirMemory)
{
  gpu::lanes own(0, 1);
  gpu::lane& mine = own.of(0);
  std::vector<std::uint32_t> from(3'000'001);
  for (std::size_t i = 0; i < from.size(); ++i) { from[i] = static_cast<std::uint32_t>(i * 2654435761U); }
  {
    buffer<std::uint32_t> there(std::ssize(from), mine.gpu_memory_of(0));
    for (int time = 0; time < 2; ++time) {
      mine.begin_part();
      mine.upload(there.data(), from.data(), std::ssize(from));
      mine.end_part();
    }
    own.finish();
    EXPECT_EQ(copied(there), from);
  }
  mine.begin_part();
  auto const part = mine.take<vertex_id>(1000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(part.data()) % 64, 0U);
  EXPECT_EQ(mine.take<vertex_id>(5'000'000).size(), 5'000'000U);
  mine.end_part();
}

}  // namespace
}  // namespace tendril::test
