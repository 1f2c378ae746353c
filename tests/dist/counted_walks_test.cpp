// Walks that ranks count are those of the rows that they would have made, however many ranks there are; a vertex counts at its rank.

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/custom_walk.hpp>
#include <tendril/generate.hpp>
#include <tendril/sharded_walk.hpp>

#include "dist/failure_of.hpp"
#include "dist/restless_engine.hpp"
#include "support/custom_code.hpp"
#include "support/custom_walks.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"
#include "support/walk_counts.hpp"

namespace tendril::test {
namespace {

class CountedWalksOfRanks : public custom_code_test<custom_walk> {
 protected:
  static void compare(graph const& g, std::vector<vertex_id> const& starts, walk_params const& params,
                      std::string const& name)
  {
    counted_walks const expected = counts_of(rows_of(random_walk(g, starts, params, {}, 1000)), g.num_vertices());
    for (int const n : is_sanitized ? std::vector{1, 3} : std::vector{1, 2, 3, 4, 7}) {
      auto const make = [&](graph_part part, transport& ranks) {
        return sharded_walker(std::move(part), params, std::ssize(starts), ranks);
      };
      cpu_exec exec;
      exec.num_threads = n == 2 ? 3 : 1;
      engine_wrapper const wrap = n == 3 ? restless(7) : engine_wrapper{};
      EXPECT_EQ(counts_of_ranks(g, n, starts, 1000, make, wrap, exec), expected) << name << " on " << n << " ranks";
    }
  }
};

TEST_F(CountedWalksOfRanks, AreThoseOfRows)
{
  graph const g = make_zoo(3);
  for (auto const& app : all_applications(23)) { compare(g, starts_everywhere(g, 2), app.params, app.name); }
}

TEST_F(CountedWalksOfRanks, ByStructsOfUsers)
{
  graph const g = make_zoo(3);
  auto const starts = starts_everywhere(g, 2);
  for (auto const dead : {dead_end::stop, dead_end::repeat}) {
    custom_walk const walk(small_weights_walk_text, "", {}, options);
    dynamic_walk_params const params{.length = 12, .stop_prob = 0.05, .restart_prob = 0.1, .dead_ends = dead};
    counted_walks const expected = counts_of(rows_of(walk.run(g, starts, params, {}, 77)), g.num_vertices());
    for (int const n : {1, 2, 3}) {
      auto const make = [&](graph_part part, transport& ranks) {
        return sharded_walker(std::move(part), walk, params, ranks);
      };
      EXPECT_EQ(counts_of_ranks(g, n, starts, 77, make), expected) << n << " ranks";
    }
  }
}

TEST_F(CountedWalksOfRanks, SendWalkersAlone)
{
  graph const g = generate_rmat({.scale = 10, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, {});
  run_ranks(2, [&](transport& ranks) {
    graph_part part = part_of(g, {.num_parts = 2}, ranks.rank());
    std::int64_t const size = part.num_vertices();
    sharded_walker walk(std::move(part), {.length = 40}, 200'000, ranks);
    counted_walks made(size);
    walk_stream_job job{.num_walks = 100'000, .first_walk = ranks.rank() * 100'000, .starts = every_vertex(100)};
    job.counts = made.all();
    sharded_walk_report const report = walk.stream(job);
    EXPECT_GT(report.moved, report.steps_here / 4);
    EXPECT_EQ(report.moved_bytes, 8 * report.moved);
    EXPECT_LT(static_cast<double>(report.sent_bytes), 1.1 * static_cast<double>(report.moved_bytes))
        << "vertices went home";
  });
}

TEST_F(CountedWalksOfRanks, AreCountedByAllOrNone)
{
  graph const g = make_zoo(3);
  std::string const said = failure_of(2, [&](transport& ranks) {
    graph_part part = part_of(g, {.num_parts = 2}, ranks.rank());
    counted_walks made(part.num_vertices());
    sharded_walker walk(std::move(part), {.length = 4}, 10, ranks);
    walk_stream_job job{.num_walks = 5, .starts = every_vertex(1)};
    if (ranks.rank() == 0) {
      job.sink = [](walk_rows const&) {};
    } else {
      job.counts = made.all();
    }
    (void)walk.stream(job);
  });
  EXPECT_NE(said.find("rank 1 of 2 keeps counts of walks"), std::string::npos) << said;
  EXPECT_NE(said.find("rows of walks"), std::string::npos) << said;
}

TEST_F(CountedWalksOfRanks, NameCountsOfAnotherSize)
{
  graph const g = make_zoo(3);
  std::string const said = failure_of(1, [&](transport& ranks) {
    counted_walks made(3);
    sharded_walker walk(part_of(g, {.num_parts = 1}, 0), {.length = 4}, 10, ranks);
    walk_stream_job job{.num_walks = 5, .starts = every_vertex(1)};
    job.counts = made.all();
    (void)walk.stream(job);
  });
  EXPECT_NE(said.find("visits: 3 counts, expected " + std::to_string(g.num_vertices()) + ", one a vertex"),
            std::string::npos)
      << said;
}

}  // namespace
}  // namespace tendril::test
