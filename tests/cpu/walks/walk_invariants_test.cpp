// Every walk of every application obeys the graph and the parameters.

#include <gtest/gtest.h>

#include <tendril/generate.hpp>
#include <tendril/walk.hpp>

#include "cpu/walks/walk_verifier.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

/// Walks without tables, and with all the tables that a large job has.
void expect_valid(graph const& graph, application const& app, std::vector<vertex_id> const& starts)
{
  SCOPED_TRACE(app.name);
  walk_verifier const verify(graph, app.params);
  for (std::int64_t const expected : {std::int64_t{0}, std::int64_t{1} << 40U}) {
    graph.drop_derived();
    walker const walk(graph, app.params, expected);
    EXPECT_EQ(verify(starts, walk.run(starts, 0)), "") << to_string(walk.plan().layout);
  }
}

TEST(WalkInvariants, HoldForEveryApplicationOnGraphsWithEveryOddity)
{
  for (std::uint64_t const seed : {1U, 2U, 3U}) {
    graph const g = make_zoo(seed);
    for (auto app : all_applications(12)) {
      app.params.seed = seed;
      expect_valid(g, app, starts_everywhere(g, 6));
    }
  }
}

TEST(WalkInvariants, HoldOnAHeavyTail)
{
  edge_attributes extra;
  extra.has_weights = true;
  extra.weight_sigma = 3;
  extra.num_labels = 3;
  extra.num_node_types = 3;
  build_options build;
  build.symmetrize = true;
  graph const g = generate_rmat({.scale = 8, .edge_factor = 8, .seed = 5}, build, extra);
  for (auto const& app : all_applications(15)) { expect_valid(g, app, starts_everywhere(g, 1)); }
}

TEST(WalkInvariants, WalksOfOneStepAndLongOnes)
{
  graph const g = make_zoo(4);
  auto const starts = starts_everywhere(g, 2);
  for (auto const& app : all_applications(1)) { expect_valid(g, app, starts); }
  for (auto const& app : all_applications(1000)) { expect_valid(g, app, starts); }
}

TEST(WalkInvariants, NoStartsGiveNoWalks)
{
  graph const g = make_zoo(5);
  walks const out = random_walk(g, {}, {});
  EXPECT_EQ(out.num_walks, 0);
  EXPECT_EQ(out.vertices.size(), 0);
  EXPECT_EQ(out.lengths.size(), 0);
}

TEST(WalkInvariants, AWalkThatAlwaysRestartsStaysAtItsStart)
{
  graph const g = make_zoo(6);
  auto const starts = starts_everywhere(g, 1);
  walks const out = random_walk(g, starts, {.length = 9, .restart_prob = 1});
  for (std::int64_t i = 0; i < out.num_walks; ++i) {
    EXPECT_EQ(out.lengths[i], 9);
    for (std::int64_t t = 0; t <= 9; ++t) { EXPECT_EQ(out.vertices[i * 10 + t], starts[static_cast<std::size_t>(i)]); }
  }
}

TEST(WalkInvariants, AWalkThatAlwaysStopsTakesNoStep)
{
  graph const g = make_zoo(7);
  auto const starts = starts_everywhere(g, 1);
  walks const out = random_walk(g, starts, {.length = 3, .stop_prob = 1, .dead_ends = dead_end::repeat});
  for (std::int64_t i = 0; i < out.num_walks; ++i) {
    EXPECT_EQ(out.lengths[i], 0);
    EXPECT_EQ(out.vertices[i * 4], starts[static_cast<std::size_t>(i)]);
    EXPECT_EQ(out.vertices[i * 4 + 1], no_vertex);  // told to stop: not a dead end, so nothing repeats
  }
}

TEST(WalkInvariants, RepeatingADeadEndKeepsTheLength)
{
  graph const g = make_graph(3, {{0, 1}, {1, 2}});
  walks const out = random_walk(g, std::vector<vertex_id>{0}, {.length = 5, .dead_ends = dead_end::repeat});
  EXPECT_EQ(std::vector(out.vertices.begin(), out.vertices.end()), (std::vector<vertex_id>{0, 1, 2, 2, 2, 2}));
  EXPECT_EQ(out.lengths[0], 2);
}

// The verifier itself must be able to fail.
class WalkVerifier : public ::testing::Test {
 protected:
  [[nodiscard]] std::string after(std::int64_t position, vertex_id value, std::int32_t length) const
  {
    graph const g = make_graph(4, {{0, 1, 1, 0}, {1, 2, 1, 1}, {2, 0, 0, 0}, {2, 1, 1, 1}});
    walk_params const params{.length = 4, .weighted = true};
    walks out = random_walk(g, starts, params);
    EXPECT_EQ(walk_verifier(g, params)(starts, out), "");
    out.vertices[position] = value;
    out.lengths[0] = length;
    return walk_verifier(g, params)(starts, out);
  }

  std::vector<vertex_id> starts = {0};  // walks 0 1 2 1 2
};

TEST_F(WalkVerifier, FindsAWrongStart) { EXPECT_EQ(after(0, 1, 4), "walk 0: starts at 1 instead of 0"); }
TEST_F(WalkVerifier, FindsAMissingEdge) { EXPECT_EQ(after(1, 2, 4), "walk 0: step 0: 0 -> 2 is not allowed"); }
TEST_F(WalkVerifier, FindsAWeightOfZero) { EXPECT_EQ(after(3, 0, 4), "walk 0: step 2: 2 -> 0 is not allowed"); }
TEST_F(WalkVerifier, FindsAnEarlyEnd)
{
  EXPECT_EQ(after(4, no_vertex, 3), "walk 0: ends at 1 after 3 steps, but could go on");
}
TEST_F(WalkVerifier, FindsAWrongLength)
{
  EXPECT_EQ(after(4, no_vertex, 4), "walk 0: step 3: 1 -> 4294967295 is not allowed");
}

}  // namespace
}  // namespace tendril::test
