// Walks that are counted on GPUs, of one process and of ranks with a part each, are those of the rows that the CPU makes. CPU twins:
// tests/cpu/walks/walk_counts_test.cpp, tests/dist/counted_walks_test.cpp.

#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/custom_walk.hpp>
#include <tendril/engine/walks/cpu.hpp>
#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/gpu.hpp>
#include <tendril/several_gpus.hpp>

#include "gpu/device/check.hpp"
#include "gpu/walks/counts.hpp"
#include "support/any_lists.hpp"
#include "support/custom_walks.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"
#include "support/messages.hpp"
#include "support/nvrtc_test.hpp"
#include "support/scoped_variable.hpp"
#include "support/small_graphs.hpp"
#include "support/table_limits.hpp"
#include "support/walk_counts.hpp"

namespace tendril::test {
namespace {

constexpr std::int64_t first = 0xfffffff0LL;  // logical ids cross 2^32

graph skewed_graph()
{
  edge_attributes const extra{.has_weights = true, .weight_sigma = 3, .num_labels = 3, .num_node_types = 3};
  return generate_rmat({.scale = 12, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, extra);
}

gpu_exec exec_of(transport const& ranks) { return gpu_exec(ranks.rank() % num_gpus()); }

class GpuWalkCounts : public gpu_test {};

TEST_F(GpuWalkCounts, AreThoseOfRows)
{
  for (graph const& g : {make_zoo(1), skewed_graph()}) {
    auto const starts = starts_everywhere(g, 3);
    for (auto const& app : all_applications(37)) {
      walker const here(g, app.params, with_tables);
      counted_walks const expected = counts_of(rows_of(here.run(starts, first)), g.num_vertices());
      std::vector<graph> const copies = to_gpus(g, all_gpus());
      std::vector<walker> there;
      for (graph const& copy : copies) { there.emplace_back(copy, app.params, with_tables, gpu_exec(copy.device())); }
      for (std::int64_t const bytes : {400'000L, 0L}) {
        counted_walks one(g.num_vertices()), all(g.num_vertices());
        walk_stream_job job = counting_job(starts, first, one.all());
        job.batch_bytes = bytes;
        auto const report = stream_walks(there[0], job, gpu_exec(0));
        EXPECT_EQ(one, expected) << app.name;
        EXPECT_EQ(report.copied_bytes, 0);
        EXPECT_EQ(std::accumulate(one.visits.begin(), one.visits.end(), std::int64_t{0}),
                  report.steps + report.num_walks);
        job.counts = all.all();
        EXPECT_EQ(stream_walks(there, job).steps, report.steps);
        EXPECT_EQ(all, expected) << app.name << " on all GPUs";
      }
    }
  }
}

TEST_F(GpuWalkCounts, MayBeOfOneKindAndAreAdded)
{
  graph const g = make_zoo(2);
  auto const starts = starts_everywhere(g, 2);
  counted_walks const expected = counts_of(rows_of(random_walk(g, starts, {.length = 9})), g.num_vertices());
  walker const walk(to_gpu(g, gpu_exec(0)), {.length = 9}, 1, gpu_exec(0));
  counted_walks made(g.num_vertices());
  auto const stream = [&](walk_counts const& counts) {
    (void)stream_walks(walk, counting_job(starts, 0, counts), gpu_exec(0));
  };
  stream({.visits = made.visits});
  EXPECT_EQ(made.visits, expected.visits);
  stream({.ends = made.ends});
  EXPECT_EQ(made, expected);
  stream(made.all());
  for (std::size_t v = 0; v < made.visits.size(); ++v) { ASSERT_EQ(made.visits[v], 2 * expected.visits[v]); }
  std::vector<std::int64_t> few(3);
  EXPECT_EQ(message_of<argument_error>([&] { stream({.visits = few}); }),
            "visits: 3 counts, expected " + std::to_string(g.num_vertices()) + ", one a vertex");
}

/// Few vertices that all lead to each other: their counters, which share words, run over all the time.
graph small_and_busy(vertex_id num_vertices)
{
  std::vector<std::vector<vertex_id>> lists(num_vertices);
  for (vertex_id v = 0; v < num_vertices; ++v) {
    for (vertex_id x = 0; x < num_vertices; ++x) { lists[v].push_back(x); }
  }
  return from_lists(lists);
}

TEST_F(GpuWalkCounts, CarryWhatRunsOver)
{
  for (vertex_id const n : {1U, 2U, 3U, 4U, 5U, 9U}) {
    graph const g = small_and_busy(n);
    auto const starts = starts_everywhere(g, 20'000);
    gpu_exec const exec(0);
    walker const walk(to_gpu(g, exec), {.length = 9}, 1, exec);
    walks const made = walk.run(on_gpu(starts, exec).span(), 0, exec);
    counted_walks const expected = counts_of(copied_rows(made), g.num_vertices());
    counted_walks counted(g.num_vertices());
    gpu::vertex_counts counts(counted.all(), 0, g.num_vertices(), exec);
    for (int k = 0; k < 3; ++k) {
      counts.add_rows(made.vertices.data(), made.lengths.data(), made.num_walks, made.length + 1);
    }
    std::int64_t const steps = counts.add_to(counted.all());
    EXPECT_EQ(steps, 3 * 9 * made.num_walks);
    for (std::size_t v = 0; v < n; ++v) {
      ASSERT_EQ(counted.visits[v], 3 * expected.visits[v]) << n << " vertices";
      ASSERT_EQ(counted.ends[v], 3 * expected.ends[v]) << n << " vertices";
    }
  }
}

class CountedPartWalk : public gpu_test {
 protected:
  static void compare(graph const& g, int times, std::int64_t length, std::int64_t expected_walks,
                      std::vector<int> const& rank_counts)
  {
    auto const starts = starts_everywhere(g, times);
    for (auto const& app : all_applications(length)) {
      walker const whole(g, app.params, with_tables);
      counted_walks const expected = counts_of(rows_of(whole.run(starts, first)), g.num_vertices());
      for (int const n : rank_counts) {
        auto const make = [&](graph_part part, transport& ranks) {
          return sharded_walker(std::move(part), app.params, expected_walks, ranks, exec_of(ranks));
        };
        ASSERT_EQ(counts_of_ranks(g, n, starts, first, make), expected) << app.name << " on " << n << " ranks";
      }
    }
  }
};

TEST_F(CountedPartWalk, IsThatOfRowsOnTheZoo) { compare(make_zoo(11), 2, 12, with_tables, {1, 2, 3, 7}); }

TEST_F(CountedPartWalk, IsThatOfRowsWithoutTables) { compare(make_zoo(11), 1, 9, without_tables, {2, 4}); }

TEST_F(CountedPartWalk, IsThatOfRowsOnASkewedGraph) { compare(skewed_graph(), 1, 40, with_tables, {2, 3}); }

TEST_F(CountedPartWalk, CarriesWhatRunsOver)
{
  graph const g = small_and_busy(7);
  auto const starts = starts_everywhere(g, 3000);
  for (auto const& params : {walk_params{.length = 9}, walk_params{.length = 9, .p = 2, .q = 0.5}}) {
    walker const whole(g, params, with_tables);
    counted_walks const expected = counts_of(rows_of(whole.run(starts, first)), g.num_vertices());
    for (int const n : {1, 2, 3}) {
      auto const make = [&](graph_part part, transport& ranks) {
        return sharded_walker(std::move(part), params, with_tables, ranks, exec_of(ranks));
      };
      EXPECT_EQ(counts_of_ranks(g, n, starts, first, make), expected) << n << " ranks";
    }
  }
}

TEST_F(CountedPartWalk, GoesAnyWayAndSendsWalkersAlone)
{
  graph const g = skewed_graph();
  walk_params const params{.length = 40};
  auto const starts = starts_everywhere(g, 20);
  counted_walks const expected = counts_of(rows_of(random_walk(g, starts, params)), g.num_vertices());
  for (std::string const way : {"host", "nccl", "peers"}) {
    scoped_variable const wanted("TENDRIL_GPU_MESSAGES", way);
    counted_walks made(g.num_vertices());
    run_ranks(2, [&](transport& ranks) {
      gpu_exec const here = exec_of(ranks);
      gpu::device_guard const guard(here.device);
      graph_part part = part_of(g, {.num_parts = 2}, ranks.rank());
      walk_counts const own = made.of(part.first_vertex(), part.num_vertices());
      sharded_walker walk(std::move(part), params, with_tables, ranks, here);
      auto const half = static_cast<std::int64_t>(starts.size() / 2);
      auto const mine =
          std::span(starts).subspan(static_cast<std::size_t>(ranks.rank() * half), static_cast<std::size_t>(half));
      sharded_walk_report const report = walk.stream(counting_job(mine, ranks.rank() * half, own));
      EXPECT_GT(report.moved, report.steps_here / 8);
      EXPECT_EQ(report.moved_bytes, 8 * report.moved);
      EXPECT_EQ(report.supersteps % 41, 0) << "a step more than walks have, to be counted";
    });
    EXPECT_EQ(made, expected) << way;
  }
}

class CountedCustomPartWalk : public nvrtc_gpu_test {};

TEST_F(CountedCustomPartWalk, IsThatOfRows)
{
  graph const g = skewed_graph();
  auto const starts = starts_everywhere(g, 1);
  for (auto const dead : {dead_end::stop, dead_end::repeat}) {
    custom_walk const walk(rejecting_walk_text, "", {{"low", 0.5}}, options);
    dynamic_walk_params const params{.length = 12, .stop_prob = 0.05, .restart_prob = 0.1, .dead_ends = dead};
    counted_walks const expected = counts_of(
        rows_of(run_dynamic_walk(g, rejecting_walk{0.5F}, starts, params, cpu_exec{}, first)), g.num_vertices());
    for (int const n : {1, 2, 3}) {
      auto const make = [&](graph_part part, transport& ranks) {
        return sharded_walker(std::move(part), walk, params, ranks, exec_of(ranks));
      };
      EXPECT_EQ(counts_of_ranks(g, n, starts, first, make), expected) << n << " ranks";
    }
  }
}

}  // namespace
}  // namespace tendril::test
