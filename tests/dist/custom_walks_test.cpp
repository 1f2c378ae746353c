// Walks that came as text, on a graph in parts: those of the whole graph, to the byte, whatever the ranks; what reads more than
// the edges of the walker's own vertex is refused.

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/custom_walk.hpp>
#include <tendril/generate.hpp>
#include <tendril/sharded_walk.hpp>
#include <tendril/walk_parts.hpp>

#include "dist/failure_of.hpp"
#include "dist/restless_engine.hpp"
#include "support/custom_code.hpp"
#include "support/custom_walks.hpp"
#include "support/graph_forms.hpp"
#include "support/small_graphs.hpp"
#include "support/walk_rows.hpp"

namespace tendril::test {
namespace {

class CustomWalksOfRanks : public custom_code_test<custom_walk> {
 protected:
  /// Walks of all ranks, each asking for a part of them.
  rows on_ranks(graph const& g, int num_ranks, custom_walk const& walk, dynamic_walk_params const& params,
                std::vector<vertex_id> const& starts, std::int64_t first_walk, bool is_restless = false)
  {
    std::size_t const width = static_cast<std::size_t>(params.length) + 1;
    rows out{std::vector<vertex_id>(starts.size() * width), std::vector<std::int32_t>(starts.size())};
    auto const work = [&](transport& ranks) {
      graph_part part = part_of(g, {.num_parts = num_ranks}, ranks.rank());
      cpu_exec exec;
      exec.num_threads = 1 + ranks.rank() % 2;
      sharded_walker sharded(std::move(part), walk, params, ranks, exec);
      walk_range const mine = walks_of({ranks.rank(), num_ranks}, std::ssize(starts));
      walks const made = sharded.run(
          std::span(starts).subspan(static_cast<std::size_t>(mine.first), static_cast<std::size_t>(mine.size)),
          first_walk + mine.first, exec);
      std::copy(made.vertices.begin(), made.vertices.end(),
                out.vertices.begin() + static_cast<std::ptrdiff_t>(width) * mine.first);
      std::copy(made.lengths.begin(), made.lengths.end(), out.lengths.begin() + mine.first);
    };
    std::function<std::unique_ptr<message_engine>(std::unique_ptr<message_engine>)> wrap;
    if (is_restless) { wrap = restless(7); }
    run_ranks(num_ranks, work, transport::seconds(60), wrap);
    return out;
  }

  void compare(graph const& g, custom_walk const& walk, dynamic_walk_params const& params)
  {
    auto const starts = starts_everywhere(g, 2);
    walks const expected = walk.run(g, starts, params, {}, 0xfffffff0LL);
    for (int const n : {1, 2, 3, 4, 7}) {
      rows const made = on_ranks(g, n, walk, params, starts, 0xfffffff0LL, n == 3);
      ASSERT_TRUE(std::ranges::equal(made.lengths, expected.lengths)) << n << " ranks";
      ASSERT_TRUE(std::ranges::equal(made.vertices, expected.vertices)) << n << " ranks";
    }
    for (graph const& parts : in_compressed_forms(g)) {
      rows const made = on_ranks(parts, 3, walk, params, starts, 0xfffffff0LL);
      ASSERT_TRUE(std::ranges::equal(made.lengths, expected.lengths)) << to_string(parts.form());
      ASSERT_TRUE(std::ranges::equal(made.vertices, expected.vertices)) << to_string(parts.form());
    }
  }
};

TEST_F(CustomWalksOfRanks, AreThoseOfTheWholeGraph)
{
  graph const g = make_zoo(3);
  compare(g, custom_walk(small_weights_walk_text, "", {}, options), {.length = 12});
  compare(g, custom_walk(edge_bound_walk_text, "", {}, options),
          {.length = 12, .dead_ends = dead_end::repeat, .seed = 5});
  custom_walk const rejecting(rejecting_walk_text, "", {{"low", 0.5}}, options);
  for (auto const rule : {sampling_rule::automatic, sampling_rule::scan}) {
    compare(g, rejecting, {.length = 15, .stop_prob = 0.05, .restart_prob = 0.2, .rule = rule});
    compare(g, rejecting, {.length = 9, .dead_ends = dead_end::repeat, .rule = rule});
  }
  compare(g, custom_walk(all_of_state_walk_text, "", {}, options), {.length = 20, .restart_prob = 0.1, .seed = 9});
}

TEST_F(CustomWalksOfRanks, AreSaidByTheirReport)
{
  graph const g = generate_rmat({.scale = 8, .edge_factor = 8}, {.symmetrize = true}, {.has_weights = true});
  custom_walk const walk(rejecting_walk_text, "", {{"low", 0.5}}, options);
  run_ranks(2, [&](transport& ranks) {
    sharded_walker sharded(part_of(g, {.num_parts = 2}, ranks.rank()), walk, {.length = 10}, ranks);
    EXPECT_EQ(sharded.plan().rule, sampling_rule::reject);
    auto const report = sharded.stream({.num_walks = 100, .starts = every_vertex(1), .sink = [](walk_rows const&) {}});
    EXPECT_EQ(report.moved_bytes, 16 * report.moved);
    EXPECT_GT(report.moved, 0);
  });
}

TEST_F(CustomWalksOfRanks, RefuseWhatReadsOtherVertices)
{
  graph const g = generate_rmat({.scale = 6, .edge_factor = 8}, {.symmetrize = true}, {.has_weights = true});
  std::string const head = "on parts of a graph, where a walk reads the edges of the walker's own vertex alone: ";
  for (std::string const read : {"s.graph.has_edge(s.previous, e.target())", "s.graph.degree(e.target())",
                                 "s.previous_weight()", "s.previous_edge"}) {
    std::string const text = "struct w { float weight(walk_state const& s, walk_edge const& e) const { return float(" +
                             read + ") + e.weight(); } };";
    custom_walk const walk(text, "", {}, options);
    walk.compile();  // on a whole graph it may
    std::string const said = failure_of(2, [&](transport& ranks) {
      sharded_walker const sharded(part_of(g, {.num_parts = 2}, ranks.rank()), walk, {.length = 4}, ranks);
    });
    EXPECT_NE(said.find(head), std::string::npos) << read << ": " << said;
    EXPECT_NE(said.find("transit_view"), std::string::npos) << read << ": " << said;
  }
}

TEST_F(CustomWalksOfRanks, NameWhatIsWrong)
{
  graph const g = generate_rmat({.scale = 6, .edge_factor = 8}, {.symmetrize = true}, {.has_weights = true});
  auto const said = [&](auto walk_of, dynamic_walk_params const& params) {
    return failure_of(3, [&](transport& ranks) {
      sharded_walker sharded(part_of(g, {.num_parts = 3}, ranks.rank()), walk_of(ranks.rank()), params, ranks);
      std::vector<vertex_id> const starts = {1, 2, 3};
      (void)sharded.run(starts, 0);
    });
  };
  std::string const other = said(
      [&](int rank) {
        return custom_walk(rejecting_walk_text, "", {{"low", rank == 2 ? 0.25 : 0.5}}, options);
      },
      {.length = 4});
  EXPECT_NE(other.find("rank 2"), std::string::npos) << other;
  EXPECT_NE(other.find("low=0.25"), std::string::npos) << other;
  std::string const negative = said(
      [&](int) {
        return custom_walk(signed_walk_text, "", {{"sign", -1.0}}, options);
      },
      {.length = 4});
  EXPECT_NE(negative.find("weight: -"), std::string::npos) << negative;
  EXPECT_NE(negative.find("expected a finite number, 0 or more"), std::string::npos) << negative;
  std::string const rule = said([&](int) { return custom_walk(small_weights_walk_text, "", {}, options); },
                                {.length = 4, .rule = sampling_rule::reject});
  EXPECT_NE(rule.find("reject"), std::string::npos) << rule;
}

}  // namespace
}  // namespace tendril::test
