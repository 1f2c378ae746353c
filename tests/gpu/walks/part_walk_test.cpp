// Walks of ranks whose parts lie on GPUs are those of one process, to the byte: for every application that GPUs of ranks take,
// however many ranks there are and wherever batches are cut. Ranks are threads here; they share GPUs where there are
// fewer, and then records go by way of host memory. With a GPU for each of two ranks, they go by the best way there is.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/gpu.hpp>
#include <tendril/sharded_walk.hpp>
#include <tendril/walk_parts.hpp>

#include "dist/failure_of.hpp"
#include "dist/refusal.hpp"
#include "gpu/device/check.hpp"
#include "gpu/ranks/messages.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"
#include "support/graph_forms.hpp"
#include "support/scoped_variable.hpp"
#include "support/small_graphs.hpp"
#include "support/table_limits.hpp"
#include "support/walk_rows.hpp"

namespace tendril::test {
namespace {

bool is_second_order(walk_params const& p) { return p.p != 1 || p.q != 1 || p.second_order; }

class PartWalk : public gpu_test {
 protected:
  /// The GPU of a rank.
  static gpu_exec exec_of(transport const& ranks) { return gpu_exec(ranks.rank() % num_gpus()); }

  /// All walks of a job, of which each rank asks for a part; on the GPUs, and batch by batch to the host.
  static std::vector<rows> walk_on_ranks(graph const& g, int num_ranks, walk_params const& params,
                                         std::vector<vertex_id> const& starts, std::int64_t first_walk,
                                         std::int64_t expected_walks)
  {
    auto const width = static_cast<std::size_t>(params.length) + 1;
    rows const empty{std::vector<vertex_id>(starts.size() * width), std::vector<std::int32_t>(starts.size())};
    std::vector<rows> out{empty, empty};
    run_ranks(
        num_ranks,
        [&](transport& ranks) {
          gpu_exec const exec = exec_of(ranks);
          gpu::device_guard const guard(exec.device);
          sharded_walker walk(part_of(g, {.num_parts = num_ranks}, ranks.rank()), params, expected_walks, ranks, exec);
          walk_range const mine = walks_of({ranks.rank(), num_ranks}, std::ssize(starts));
          auto const put = [&](rows& to, std::int64_t first, auto const& vertices, auto const& lengths) {
            std::copy(vertices.begin(), vertices.end(),
                      to.vertices.begin() + static_cast<std::ptrdiff_t>(width) * (mine.first + first));
            std::copy(lengths.begin(), lengths.end(), to.lengths.begin() + mine.first + first);
          };
          std::vector<vertex_id> const own(starts.begin() + mine.first, starts.begin() + mine.first + mine.size);
          walks const made = walk.run(on_gpu(own, exec).span(), first_walk + mine.first, exec);
          put(out[0], 0, copied(made.vertices), copied(made.lengths));

          walk_stream_job job;
          job.num_walks = mine.size;
          job.first_walk = first_walk + mine.first;
          job.batch_bytes = static_cast<std::int64_t>(2 * 97 * (4 * width + 4));  // several rounds
          job.starts = [&](std::int64_t first, std::span<vertex_id> into) {
            std::copy_n(own.begin() + first, into.size(), into.begin());
          };
          std::int64_t next = 0;
          job.sink = [&](walk_rows const& r) {
            EXPECT_EQ(r.first, next) << "batches come in order";
            next += std::ssize(r.lengths);
            put(out[1], r.first, r.vertices, r.lengths);
          };
          sharded_walk_report const report = walk.stream(job);
          EXPECT_EQ(next, mine.size);
          EXPECT_EQ(report.moved_bytes, (is_second_order(params) ? 16 : 8) * report.moved);
          if (!is_second_order(params) || num_ranks == 1) { EXPECT_EQ(report.questions, 0); }
          std::int64_t const here = ranks.all_reduce("steps here", report.steps_here, reduction::sum);
          EXPECT_EQ(here, ranks.all_reduce("steps", report.steps, reduction::sum));
          if (num_ranks == 1) { EXPECT_EQ(report.sent_bytes, 0); }
        },
        transport::seconds(60));
    return out;
  }

  /// Walks by every application, on one process and on ranks.
  void compare(graph const& g, std::vector<vertex_id> const& starts, std::int64_t length, std::int64_t expected_walks,
               std::vector<int> const& rank_counts)
  {
    std::int64_t const first = 0xfffffff0LL;  // logical ids cross 2^32
    for (auto app : all_applications(length)) {
      app.params.seed = 77;
      rows const expected = copied_rows(walker(g, app.params, with_tables).run(starts, first));
      for (int const num_ranks : rank_counts) {
        SCOPED_TRACE(app.name + " on " + std::to_string(num_ranks) + " ranks");
        for (rows const& r : walk_on_ranks(g, num_ranks, app.params, starts, first, expected_walks)) {
          ASSERT_EQ(r.lengths, expected.lengths);
          ASSERT_EQ(r.vertices, expected.vertices);
        }
      }
    }
  }
};

TEST_F(PartWalk, IsThatOfOneProcessOnTheZoo)
{
  graph const g = make_zoo(11);
  compare(g, starts_everywhere(g, 2), 12, with_tables, {1, 2, 3, 7});
}

TEST_F(PartWalk, IsThatOfOneProcessWithoutTables)
{
  graph const g = make_zoo(11);
  compare(g, starts_everywhere(g, 1), 9, without_tables, {2, 4});
}

TEST_F(PartWalk, IsThatOfOneProcessOnASkewedGraph)
{
  edge_attributes const extra{.has_weights = true, .weight_sigma = 3, .num_labels = 3, .num_node_types = 3};
  graph const g = generate_rmat({.scale = 12, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, extra);
  compare(g, starts_everywhere(g, 1), 40, with_tables, {2, 3});
}

TEST_F(PartWalk, IsThatOfOneProcessOnCompressedParts)
{
  edge_attributes const extra{.has_weights = true, .weight_sigma = 3, .num_labels = 3, .num_node_types = 3};
  graph const skewed = generate_rmat({.scale = 12, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, extra);
  for (graph const& g : in_compressed_forms(make_zoo(11))) {
    compare(g, starts_everywhere(g, 1), 12, with_tables, {1, 3});
    compare(g, starts_everywhere(g, 1), 9, without_tables, {2});
  }
  graph const small = compress(skewed, graph_form::best);
  compare(small, starts_everywhere(small, 1), 15, with_tables, {2});
}

TEST_F(PartWalk, SettlesByRacesWhatTrialsDont)
{
  // All know each other, so that a walker away from the vertex before has nowhere to go, whatever it is worth: trials run out.
  edge_attributes const extra{.has_weights = true, .weight_sigma = 2};
  graph const g = generate_regular(regular_graph::complete, 24, {}, extra);
  for (bool const weighted : {false, true}) {
    walk_params const params{
        .length = 4, .weighted = weighted, .p = 1, .q = 1e-7, .rule = sampling_rule::reject, .seed = 5};
    auto const starts = starts_everywhere(g, 3);
    rows const expected = copied_rows(walker(g, params, with_tables).run(starts, 9));
    for (int const num_ranks : {1, 2, 3}) {
      for (rows const& r : walk_on_ranks(g, num_ranks, params, starts, 9, with_tables)) {
        ASSERT_EQ(r.vertices, expected.vertices) << num_ranks << " ranks" << (weighted ? ", weighted" : "");
      }
    }
  }
}

TEST_F(PartWalk, CountsWhatSecondOrderWalkersAsk)
{
  graph const g = generate_rmat({.scale = 10, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, {});
  run_ranks(2, [&](transport& ranks) {
    walk_params const params{.length = 20, .p = 2, .q = 0.5};
    sharded_walker walk(part_of(g, {.num_parts = 2}, ranks.rank()), params, 1000, ranks, exec_of(ranks));
    walk_stream_job job;
    job.num_walks = 1000;
    job.starts = [&](std::int64_t, std::span<vertex_id> into) { std::fill(into.begin(), into.end(), vertex_id{3}); };
    sharded_walk_report const report = walk.stream(job);
    EXPECT_GT(report.questions, 0);
    EXPECT_LT(report.questions, report.steps_here);
    EXPECT_GT(report.sent_bytes, report.moved_bytes + 24 * report.questions);
  });
}

TEST_F(PartWalk, TellsWhichWayWalkersGoAndGoesAnyAlike)
{
  graph const g = generate_rmat({.scale = 10, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, {});
  auto const starts = starts_everywhere(g, 2);
  for (walk_params const& params : {walk_params{.length = 12}, walk_params{.length = 12, .p = 2, .q = 0.5}}) {
    std::vector<rows> all;
    for (std::string const way : {"host", "nccl", "peers"}) {
      scoped_variable const wanted("TENDRIL_GPU_MESSAGES", way);
      all.push_back(walk_on_ranks(g, 2, params, starts, 0, with_tables).front());
      EXPECT_EQ(all.back(), all.front()) << way;
      run_ranks(2, [&](transport& ranks) {
        gpu_exec const exec = exec_of(ranks);
        gpu::device_guard const guard(exec.device);
        sharded_walker const walk(part_of(g, {.num_parts = 2}, ranks.rank()), params, 100, ranks, exec);
        std::string const name = gpu::connect_gpus(ranks, exec.device)->name();
        EXPECT_EQ(walk.plan().reasons.back(), "walkers go to the GPU that has their vertex, " +
                                                  std::string(is_second_order(params) ? "16" : "8") +
                                                  " bytes each, by " + name);
      });
    }
  }
}

TEST_F(PartWalk, AsksForParallelEdgesOnce)
{
  // Of three edges to a vertex, each enters a race; a rank that is asked for one of them answers for all.
  std::vector<test_edge> edges;
  for (vertex_id u = 0; u < 40; ++u) {
    for (vertex_id const step : {1U, 2U, 5U, 9U, 14U}) {
      for (float const weight : {1.0F, 0.25F, 3.0F}) { edges.push_back({u, (u + step) % 40, weight}); }
    }
  }
  graph const g = make_graph(40, edges, {});
  for (double const q : {0.25, 2.0}) {
    for (bool const weighted : {false, true}) {
      walk_params const params{
          .length = 12, .weighted = weighted, .p = 0.5, .q = q, .rule = sampling_rule::scan, .seed = 5};
      auto const starts = starts_everywhere(g, 20);
      rows const expected = copied_rows(walker(g, params, with_tables).run(starts, 9));
      for (rows const& r : walk_on_ranks(g, 3, params, starts, 9, with_tables)) {
        ASSERT_EQ(r.vertices, expected.vertices) << "q " << q << (weighted ? ", weighted" : "");
      }
    }
  }
}

TEST_F(PartWalk, TellsStopsFromDeadEndsWhereItReadsRows)
{
  // A start of another type is a dead end before anything is drawn, and rows repeat it; one of the right type may be told to stop.
  graph const g = make_zoo(11);
  for (double const stop_prob : {0.0, 0.5}) {
    walk_params const params{.length = 6,
                             .stop_prob = stop_prob,
                             .metapath = {0, 1},
                             .metapath_of = metapath_kind::vertex_types,
                             .dead_ends = dead_end::repeat,
                             .seed = 4};
    auto const starts = starts_everywhere(g, 3);
    rows const expected = copied_rows(walker(g, params, with_tables).run(starts, 5));
    ASSERT_NE(std::count(expected.lengths.begin(), expected.lengths.end(), 0), 0);
    for (int const num_ranks : {1, 3}) {
      for (rows const& r : walk_on_ranks(g, num_ranks, params, starts, 5, with_tables)) {
        ASSERT_EQ(r.lengths, expected.lengths);
        ASSERT_EQ(r.vertices, expected.vertices) << num_ranks << " ranks, stopping with " << stop_prob;
      }
    }
  }
}

TEST_F(PartWalk, SharesTheRowsOfHubsByScans)
{
  // Rows so long that warps without walkers help, of few walkers and of many.
  std::int64_t const leaves = 40'000;
  graph const star = generate_regular(regular_graph::star, leaves + 1, {}, {.has_weights = true, .weight_sigma = 2});
  for (bool const second_order : {false, true}) {
    walk_params params{.length = 5, .weighted = true, .rule = sampling_rule::scan, .seed = 3};
    if (second_order) { params.p = 4; }
    std::vector<vertex_id> const starts(200, 0);
    rows const expected = copied_rows(walker(star, params, with_tables).run(starts, 1));
    for (rows const& r : walk_on_ranks(star, 2, params, starts, 1, with_tables)) {
      ASSERT_EQ(r.vertices, expected.vertices) << (second_order ? "second order" : "first order");
    }
  }
}

TEST_F(PartWalk, GoesThroughAHubOfMillions)
{
  // Every second step chooses among three million neighbours, and second-order ones ask the hub for edges.
  std::int64_t const leaves = 3'000'000;
  graph const star = generate_regular(regular_graph::star, leaves + 1, {}, {});
  std::vector<vertex_id> starts(2000, 0);
  for (std::size_t i = 1; i < starts.size(); i += 2) { starts[i] = static_cast<vertex_id>(i * 1499); }
  for (walk_params const& params : {walk_params{.length = 6, .seed = 3}, walk_params{.length = 6, .p = 4, .q = 0.5}}) {
    rows const expected = copied_rows(walker(star, params, with_tables).run(starts, 1));
    for (rows const& r : walk_on_ranks(star, 2, params, starts, 1, with_tables)) {
      ASSERT_EQ(r.vertices, expected.vertices) << (is_second_order(params) ? "second order" : "first order");
    }
  }
}

TEST_F(PartWalk, AWrongStartEndsTheCallAlone)
{
  graph const g = generate_rmat({.scale = 8, .edge_factor = 8, .seed = 2}, {.symmetrize = true}, {});
  for (walk_params const& params : {walk_params{.length = 6}, walk_params{.length = 6, .p = 2, .q = 0.5}}) {
    run_ranks(3, [&](transport& ranks) {
      gpu_exec const exec = exec_of(ranks);
      gpu::device_guard const guard(exec.device);
      sharded_walker walk(part_of(g, {.num_parts = 3}, ranks.rank()), params, 9, ranks, exec);
      auto const run = [&](std::vector<vertex_id> const& starts, std::int64_t first) {
        return walk.run(on_gpu(starts, exec).span(), first, exec);
      };
      for (int const bad : {0, 2}) {
        bool const wrong = ranks.rank() == bad;
        expect_refusal(ranks, bad, "start 1: vertex 256 is out of range, the graph has 256 vertices", [&] {
          (void)run({1, wrong ? 256U : 2U}, 0);
        });
        expect_refusal(ranks, bad, "first_walk: -1, expected 0 or more", [&] { (void)run({1}, wrong ? -1 : 0); });
        expect_refusal(ranks, bad, "-1 walks from id 0 on, expected neither to be negative",
                       [&] { (void)walk.stream({.num_walks = wrong ? -1 : 1, .starts = every_vertex()}); });
        std::vector<vertex_id> const starts{5, static_cast<vertex_id>(ranks.rank())};
        EXPECT_EQ(copied_rows(run(starts, 7)), rows_of(random_walk(g, starts, params, {}, 7)));
      }
    });
  }
}

TEST_F(PartWalk, AWrongStartOfAStreamIsToldAtOnce)
{
  graph const g = generate_rmat({.scale = 8, .edge_factor = 8, .seed = 2}, {.symmetrize = true}, {});
  run_ranks(2, [&](transport& ranks) {
    sharded_walker walk(part_of(g, {.num_parts = 2}, ranks.rank()), {.length = 6}, 9, ranks, exec_of(ranks));
    walk_stream_job job;
    job.num_walks = 5000;
    job.batch_bytes = 100'000;
    job.starts = [&](std::int64_t first, std::span<vertex_id> into) {
      std::fill(into.begin(), into.end(), ranks.rank() == 1 && first > 1000 ? 256U : 3U);
    };
    expect_refusal(ranks, 1, "start 1562: vertex 256 is out of range, the graph has 256 vertices",
                   [&] { (void)walk.stream(job); });
    EXPECT_THROW(ranks.barrier("next"), rank_error) << "a stream that has begun can't go on";
  });
}

TEST_F(PartWalk, NamesTheFirstBadStartAndTheOtherExecutor)
{
  graph const g = generate_rmat({.scale = 8, .edge_factor = 8, .seed = 2}, {.symmetrize = true}, {});
  EXPECT_NE(failure_of(2,
                       [&](transport& ranks) {
                         gpu_exec const exec = exec_of(ranks);
                         gpu::device_guard const guard(exec.device);
                         sharded_walker walk(part_of(g, {.num_parts = 2}, ranks.rank()), {.length = 4}, 9, ranks, exec);
                         (void)walk.run(on_gpu(std::vector<vertex_id>{1, 256}, exec).span(), 0, exec);
                       })
                .find("start 1: vertex 256 is out of range"),
            std::string::npos);
  EXPECT_NE(failure_of(2,
                       [&](transport& ranks) {
                         sharded_walker walk(part_of(g, {.num_parts = 2}, ranks.rank()), {.length = 4}, 9, ranks,
                                             exec_of(ranks));
                         (void)walk.run(std::vector<vertex_id>{1}, 0);
                       })
                .find("it was made for a GPU, expected a gpu_exec"),
            std::string::npos);
}

TEST_F(PartWalk, WhoeverIsDoneWaitsForNobody)
{
  graph const g = generate_rmat({.scale = 8, .edge_factor = 8, .seed = 2}, {.symmetrize = true}, {});
  run_ranks(
      2,
      [&](transport& ranks) {
        gpu_exec const exec = exec_of(ranks);
        gpu::device_guard const guard(exec.device);
        std::optional<sharded_walker> walk(std::in_place, part_of(g, {.num_parts = 2}, ranks.rank()),
                                           walk_params{.length = 4}, 9, ranks, exec);
        (void)walk->run(on_gpu(std::vector<vertex_id>{1}, exec).span(), 0, exec);
        if (ranks.rank() == 0) { walk.reset(); }
        ranks.barrier("one rank has no walker any more");
      },
      transport::seconds(20));
}

TEST_F(PartWalk, EndsWhereARankFails)
{
  graph const g = generate_rmat({.scale = 8, .edge_factor = 8, .seed = 2}, {.symmetrize = true}, {});
  EXPECT_EQ(failure_of(2,
                       [&](transport& ranks) {
                         sharded_walker walk(part_of(g, {.num_parts = 2}, ranks.rank()), {.length = 40}, 9, ranks,
                                             exec_of(ranks));
                         walk_stream_job job;
                         job.num_walks = 5000;
                         job.batch_bytes = 100'000;
                         job.starts = [&](std::int64_t first, std::span<vertex_id> into) {
                           if (ranks.rank() == 1 && first > 1000) { throw io_error("no more starts"); }
                           std::fill(into.begin(), into.end(), vertex_id{3});
                         };
                         (void)walk.stream(job);
                       }),
            "no more starts");
}

}  // namespace
}  // namespace tendril::test
