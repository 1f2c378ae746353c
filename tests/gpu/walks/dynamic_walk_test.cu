// Dynamic walks on the GPU are the CPU's, to the byte: users' structs and the library's, by races and by rejection, for
// every shape of the grid and every way of sharing long neighbourhoods.

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <tendril/engine/walks/cpu.hpp>
#include <tendril/engine/walks/gpu.cuh>
#include <tendril/error.hpp>
#include <tendril/generate.hpp>

#include "cpu/walks/dynamic_walks.hpp"
#include "cpu/walks/scan_engine.hpp"
#include "gpu/device/side_stream.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"
#include "support/graph_forms.hpp"
#include "support/small_graphs.hpp"
#include "support/walk_rows.hpp"

namespace tendril::test {
namespace {

using engine::dynamic_tuning;

/// Grids from one warp to many, small and whole turns, nothing shared and everything, chunks of all sizes.
std::vector<dynamic_tuning> all_tunings()
{
  return {{},
          {.block_threads = 32, .num_blocks = 1},
          {.block_threads = 32, .num_blocks = 700, .walks_a_turn = 1, .share_from = 1, .share_chunk = 128},
          {.block_threads = 256, .num_blocks = 3, .walks_a_turn = 7, .share_from = 1, .share_chunk = 256},
          {.block_threads = 128, .share_from = 300, .share_chunk = 384},
          {.block_threads = 64, .walks_a_turn = 1, .share_from = 4096, .share_chunk = 65536},
          {.block_threads = 96, .share_from = 0xffffffffU}};
}

/// A star of 2^20 edges whose weights span 12 orders of magnitude, zeros among them, and whose rim leads back.
graph make_hub()
{
  std::vector<test_edge> edges;
  std::uint64_t state = 1;
  for (vertex_id v = 1; v <= 1U << 20U; ++v) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    auto const order = static_cast<double>(state >> 40U) / (1 << 24) * 12 - 6;
    edges.push_back({0, v, v % 9 == 0 ? 0.0F : static_cast<float>(std::pow(10.0, order))});
    if (v % 3 != 0) { edges.push_back({v, 0}); }
  }
  return make_graph((1 << 20U) + 1, edges, {.labels = false});
}

class DynamicWalkOnGpu : public gpu_test {
 protected:
  template <class W>
  rows run(graph const& there, W const& walk, std::vector<vertex_id> const& starts, dynamic_walk_params const& params,
           dynamic_tuning const& tuning = {}, std::int64_t first_walk = 5)
  {
    auto const from = on_gpu(starts, exec);
    return copied_rows(run_dynamic_walk(there, walk, from.span(), params, exec, first_walk, tuning));
  }

  template <class W>
  void compare(char const* name, graph const& g, graph const& there, W const& walk,
               std::vector<vertex_id> const& starts, dynamic_walk_params const& params)
  {
    rows const expected = copied_rows(run_dynamic_walk(g, walk, starts, params, cpu_exec{}, 5));
    for (std::size_t t = 0; t < all_tunings().size(); ++t) {
      rows const got = run(there, walk, starts, params, all_tunings()[t]);
      ASSERT_EQ(got.lengths, expected.lengths) << name << ", tuning " << t;
      ASSERT_TRUE(got.vertices == expected.vertices) << name << ", tuning " << t;
    }
  }

  void compare_all(graph const& g, std::vector<vertex_id> const& starts, dynamic_walk_params const& params)
  {
    for (graph const& form : in_all_forms(g)) { compare_on(g, to_gpu(form, exec), starts, params); }
  }

  /// `there` is the same graph, in any form.
  void compare_on(graph const& g, graph const& there, std::vector<vertex_id> const& starts, dynamic_walk_params params)
  {
    compare("moody", g, there, moody_walk{}, starts, params);
    compare("bounded", g, there, bounded_moody_walk{}, starts, params);
    compare("edge bounded", g, there, edge_bounded_moody_walk{}, starts, params);
    compare("weighted", g, there, weighted_walk{}, starts, params);
    params.dead_ends = dead_end::repeat;
    compare("ending", g, there, ending_walk{}, starts, params);
    params.rule = sampling_rule::scan;
    params.stop_prob = 0.1;
    params.restart_prob = 0.2;
    compare("bounded, scanned", g, there, bounded_moody_walk{}, starts, params);
    compare("weighted, scanned", g, there, weighted_walk{}, starts, params);
  }

  /// What a call complains about.
  template <class Call>
  static std::string complaint(Call call)
  {
    try {
      call();
    } catch (argument_error const& e) {
      return e.what();
    }
    return {};
  }
};

TEST_F(DynamicWalkOnGpu, IsTheCpusOnTheZoo)
{
  graph const g = make_zoo(11);
  compare_all(g, starts_everywhere(g, 31), {.length = 14, .seed = 77});
}

TEST_F(DynamicWalkOnGpu, IsTheCpusOnASkewedGraph)
{
  edge_attributes const extra{.has_weights = true, .weight_sigma = 3};
  graph const g = generate_rmat({.scale = 11, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, extra);
  compare_all(g, starts_everywhere(g, 1), {.length = 20, .seed = 77});
}

TEST_F(DynamicWalkOnGpu, IsTheCpusFromAHubOfAMillion)
{
  compare_all(make_hub(), std::vector<vertex_id>(9, 0), {.length = 3, .seed = 77});
}

// Kernels of several calls that fill the GPU, each of them in part: none may hold its part until the rest of it has room.
TEST_F(DynamicWalkOnGpu, CallsOnSeveralStreamsDontWaitForEachOther)
{
  graph const g = make_zoo(11);
  graph const there = to_gpu(g, exec);
  auto const starts = starts_everywhere(g, 31);
  dynamic_walk_params const params{.length = 14, .seed = 77};
  auto const expected = copied_rows(run_dynamic_walk(g, moody_walk{}, starts, params, cpu_exec{}, 5));
  auto const from = on_gpu(starts, exec);
  std::array<int, 8> wrong{};
  std::vector<std::thread> callers;
  for (int& count : wrong) {
    callers.emplace_back([&] {
      gpu::side_stream const stream;
      gpu_exec const own{exec.device, stream.get(), nullptr};
      for (int call = 0; call < 50; ++call) {
        walks const made = run_dynamic_walk(there, moody_walk{}, from.span(), params, own, 5);
        stream.wait();
        if (copied(made.vertices) != expected.vertices) { ++count; }
      }
    });
  }
  for (std::thread& caller : callers) { caller.join(); }
  EXPECT_EQ(wrong, (std::array<int, 8>{}));
  EXPECT_EQ(run(there, moody_walk{}, starts, params, {.block_threads = 32, .num_blocks = 20'000}), expected);
}

TEST_F(DynamicWalkOnGpu, RunsTheLibrarysWalks)
{
  edge_attributes const extra{.has_weights = true, .weight_sigma = 2, .num_labels = 3, .num_node_types = 3};
  graph const skewed = generate_rmat({.scale = 10, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, extra);
  int compared = 0;
  for (graph const& g : {make_zoo(11), skewed}) {
    graph const there = to_gpu(g, exec);
    graph const packed_there = to_gpu(compress(g, graph_form::best), exec);
    auto const starts = starts_everywhere(g, 2);
    auto const from = on_gpu(starts, exec);
    auto const n = static_cast<std::int64_t>(starts.size());
    for (auto const& app : all_applications(14)) {
      if (app.params.rule != sampling_rule::scan) { continue; }
      rows const expected = copied_rows(random_walk(g, starts, app.params, cpu_exec{}, 5));
      auto const schema = on_gpu(app.params.metapath, exec);
      core::walk_choice choice = scan_choice(app.params);
      choice.schema = schema.data();  // null without a metapath
      std::size_t const t = static_cast<std::size_t>(compared) % all_tunings().size();
      core::with_walk(choice, [&](auto const& walk) {
        buffer<vertex_id> vertices(n * (app.params.length + 1), memory_of(exec));
        buffer<std::int32_t> lengths(n, memory_of(exec));
        engine::dynamic_batch const batch{from.data(), n, 5, vertices.data(), app.params.length + 1, 1, lengths.data()};
        for (graph const& form : {there, packed_there}) {
          auto const space = engine::enqueue_dynamic_walk(walk, scan_setup(form.view(), app.params), false, batch,
                                                          all_tunings()[t], exec);
          space.rethrow(g.num_vertices());
          ASSERT_EQ(copied(lengths), expected.lengths) << app.name << ", tuning " << t;
          ASSERT_TRUE(copied(vertices) == expected.vertices) << app.name << ", tuning " << t;
        }
      });
      ++compared;
    }
  }
  EXPECT_GE(compared, 30);
}

TEST_F(DynamicWalkOnGpu, BatchesAndOrderDontChangeAWalk)
{
  graph const g = make_zoo(3);
  graph const there = to_gpu(g, exec);
  auto const starts = starts_everywhere(g, 3);
  dynamic_walk_params const params{.length = 12, .stop_prob = 0.05, .seed = 4};
  rows const whole = run(there, moody_walk{}, starts, params);
  rows parts;
  for (std::size_t begin = 0; begin < starts.size(); begin += 50) {
    std::vector<vertex_id> const part(
        starts.begin() + static_cast<std::ptrdiff_t>(begin),
        starts.begin() + static_cast<std::ptrdiff_t>(std::min(begin + 50, starts.size())));
    rows const r = run(there, moody_walk{}, part, params, {}, 5 + static_cast<std::int64_t>(begin));
    parts.vertices.insert(parts.vertices.end(), r.vertices.begin(), r.vertices.end());
    parts.lengths.insert(parts.lengths.end(), r.lengths.begin(), r.lengths.end());
  }
  EXPECT_EQ(parts, whole);
  EXPECT_TRUE(run(there, moody_walk{}, {}, params).lengths.empty());
}

TEST_F(DynamicWalkOnGpu, NamesTheSameWrongWeightAsTheCpu)
{
  graph const g = generate_regular(regular_graph::complete, 300);
  graph const there = to_gpu(g, exec);
  std::vector<vertex_id> const starts(60, 0);
  float const nan = std::numeric_limits<float>::quiet_NaN();
  float const infinity = std::numeric_limits<float>::infinity();
  auto const expect_same = [&](auto const& walk) {
    dynamic_walk_params const params{.length = 8};
    std::string const expected =
        complaint([&] { (void)run_dynamic_walk(g, walk, starts, params, cpu_exec{.num_threads = 1}, 5); });
    ASSERT_NE(expected.find("at walk 44, step 3"), std::string::npos) << expected;
    for (auto const& tuning : all_tunings()) {
      EXPECT_EQ(complaint([&] { (void)run(there, walk, starts, params, tuning); }), expected);
    }
  };
  for (float const value : {nan, infinity, -1.0F}) {
    expect_same(wrong_walk{44, 3, 201, value});
    expect_same(wrong_bounded_walk{{44, 3, 0, value}, 2});
  }
  expect_same(wrong_bounded_walk{{44, 3, 0, 3}, 2});
  EXPECT_NE(complaint([&] {
              (void)run(there, wrong_edge_bounded_walk{{44, 3, 0, 3}}, starts, {.length = 8});
            }).find("weight: 3 at walk 44"),
            std::string::npos);
  compare("after errors", g, there, moody_walk{}, starts, {.length = 8});
}

TEST_F(DynamicWalkOnGpu, NamesWrongArguments)
{
  graph const g = make_zoo(3);
  graph const there = to_gpu(g, exec);
  EXPECT_NE(complaint([&] {
              (void)run(there, moody_walk{}, {0, 64, 1}, {});
            }).find("vertex 64 of walk 6"),
            std::string::npos);
  EXPECT_NE(complaint([&] {
              (void)run(there, bounded_moody_walk{}, {0, 64, 1}, {});
            }).find("vertex 64 of walk 6"),
            std::string::npos);
  EXPECT_NE(complaint([&] { (void)run(g, moody_walk{}, {0}, {}); }).find("in host memory"), std::string::npos);
  EXPECT_NE(complaint([&] { (void)run(there, moody_walk{}, {0}, {.length = 0}); }).find("length: 0"),
            std::string::npos);
  EXPECT_NE(complaint([&] { (void)run(there, moody_walk{}, {0}, {}, {.block_threads = 48}); }).find("block_threads"),
            std::string::npos);
}

}  // namespace
}  // namespace tendril::test
