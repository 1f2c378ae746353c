// One sample everywhere: threads, batches, tables and executors never change a walk, and the walk is the one that the
// contract describes.

#include <gtest/gtest.h>

#include <tendril/generate.hpp>
#include <tendril/walk.hpp>

#include "cpu/walks/reference_walk.hpp"
#include "cpu/walks/scalar_walk.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"
#include "support/table_limits.hpp"
#include "support/walk_rows.hpp"

namespace tendril::test {
namespace {

class WalkEquivalence : public ::testing::Test {
 protected:
  graph g = make_zoo(11);
  std::vector<vertex_id> starts = starts_everywhere(g, 6);  // more than one run of the work source
  std::vector<application> applications = all_applications(14);
};

TEST_F(WalkEquivalence, ThreadsDontChangeAWalk)
{
  for (auto const& app : applications) {
    walker const walk(g, app.params, with_tables);
    rows const one = rows_of(walk.run(starts, 3, {.num_threads = 1}));
    for (int const threads : {2, 4}) {
      EXPECT_EQ(rows_of(walk.run(starts, 3, {.num_threads = threads})), one) << app.name << ", " << threads;
    }
  }
}

TEST_F(WalkEquivalence, BatchesDontChangeAWalk)
{
  for (auto const& app : applications) {
    for (std::int64_t const size : {without_tables, with_tables}) {
      g.drop_derived();
      walker const walk(g, app.params, size);
      rows const whole = rows_of(walk.run(starts, 1'000'000'007'000));
      rows parts;
      std::size_t begin = 0;
      for (std::size_t batch = 1; begin < starts.size(); batch = batch * 3 % 701 + 1) {
        std::size_t const count = std::min(batch, starts.size() - begin);
        rows const part = rows_of(
            walk.run(std::span(starts).subspan(begin, count), 1'000'000'007'000 + static_cast<std::int64_t>(begin)));
        parts.vertices.insert(parts.vertices.end(), part.vertices.begin(), part.vertices.end());
        parts.lengths.insert(parts.lengths.end(), part.lengths.begin(), part.lengths.end());
        begin += count;
      }
      EXPECT_EQ(parts, whole) << app.name;
    }
  }
}

TEST_F(WalkEquivalence, TablesDontChangeAWalk)
{
  for (auto const& app : applications) {
    g.drop_derived();
    walker const small(g, app.params, without_tables);
    rows const plain = rows_of(small.run(starts, 0));
    walker const large(g, app.params, with_tables);
    EXPECT_EQ(rows_of(large.run(starts, 0)), plain) << app.name;
    bool const has_tables = app.params.metapath.empty()
                                ? app.params.weighted && small.plan().rule != sampling_rule::scan
                                : small.plan().rule != sampling_rule::scan;
    EXPECT_EQ(small.plan().layout != large.plan().layout, has_tables) << app.name;
    g.drop_derived();  // a walker keeps its tables
    EXPECT_EQ(rows_of(large.run(starts, 0)), plain) << app.name;
    EXPECT_EQ(rows_of(random_walk(g, starts, app.params)), plain) << app.name;
  }
}

/// What walker hands to its executors, without any table.
rows plain_loop(graph const& g, application const& app, sampling_rule rule, std::vector<vertex_id> const& starts)
{
  sampling_plan const plan{.rule = rule, .layout = table_layout::online, .reasons = {}};
  plan::walk_tables const tables;
  bool const second_order = plan::is_second_order(app.params);
  auto const which = !app.params.metapath.empty() ? core::domain::metapath_walk
                     : second_order               ? core::domain::second_order_walk
                                                  : core::domain::first_order_walk;
  cpu::walk_job const job{g.view(),
                          &app.params,
                          &plan,
                          &tables,
                          second_order,
                          core::node2vec_bias::of(app.params.p, app.params.q),
                          core::make_key(app.params.seed, which),
                          core::walk_ends::of(app.params.seed, app.params.stop_prob, app.params.restart_prob)};
  rows out;
  out.vertices.resize(starts.size() * (static_cast<std::size_t>(app.params.length) + 1));
  out.lengths.resize(starts.size());
  cpu::walk_source::shared_state shared;
  shared.size = static_cast<std::int64_t>(starts.size());
  cpu_exec const quiet;
  cpu::walk_source source(shared, quiet, false);
  cpu::scalar_walk(job, {starts, 0, out.vertices.data(), out.lengths.data()}, source);
  return out;
}

TEST_F(WalkEquivalence, InterleavedWalkersDoWhatThePlainLoopDoes)
{
  edge_attributes const extra{.has_weights = true, .weight_sigma = 2, .num_labels = 3, .num_node_types = 3};
  graph const tail = generate_rmat({.scale = 8, .edge_factor = 8, .seed = 2}, {.symmetrize = true}, extra);
  for (graph const& input : {g, tail}) {
    auto const from = starts_everywhere(input, 2);
    for (auto const& app : applications) {
      walker const walk(input, app.params, with_tables);
      EXPECT_EQ(rows_of(walk.run(from, 0)), plain_loop(input, app, walk.plan().rule, from)) << app.name;
    }
  }
}

TEST_F(WalkEquivalence, TheContractGivesTheSameWalks)
{
  int compared = 0;
  for (auto app : applications) {
    app.params.seed = 0x123456789abcdefULL;
    walker const walk(g, app.params, with_tables);
    if (walk.plan().rule == sampling_rule::alias) { continue; }
    std::uint64_t const first = 0xfffffff0U;  // logical ids cross 2^32
    walks const out = walk.run(starts, static_cast<std::int64_t>(first));
    reference_walk const expected(g, app.params, walk.plan().rule);
    for (std::int64_t i = 0; i < out.num_walks; ++i) {
      std::int32_t steps = -1;
      auto const row = expected(starts[static_cast<std::size_t>(i)], first + static_cast<std::uint64_t>(i), steps);
      vertex_id const* const got = out.vertices.data() + i * (out.length + 1);
      ASSERT_EQ(std::vector(got, got + out.length + 1), row) << app.name << ", walk " << i;
      ASSERT_EQ(out.lengths[i], steps) << app.name << ", walk " << i;
    }
    ++compared;
  }
  EXPECT_GT(compared, 40);
}

// Millions of candidates leave the winner of a race to the last bits of its exponential.
TEST_F(WalkEquivalence, TheContractGivesTheSameWalksFromAHub)
{
  std::vector<float> weights(std::size_t{1} << unless_sanitized(22U, 19U));
  for (std::size_t i = 0; i < weights.size(); ++i) { weights[i] = static_cast<float>(1 + i % 5); }
  graph const hub = make_star(weights);
  for (bool const weighted : {false, true}) {
    walk_params const params{.length = 1, .weighted = weighted, .rule = sampling_rule::scan};
    walks const out = random_walk(hub, std::vector<vertex_id>(weighted ? 2 : 1, 0), params);
    reference_walk const expected(hub, params, params.rule);
    for (std::int64_t i = 0; i < out.num_walks; ++i) {
      std::int32_t steps = 0;
      EXPECT_EQ(out.vertices[2 * i + 1], expected(0, static_cast<std::uint64_t>(i), steps)[1]);
    }
  }
}

// The contract for alias tables: which bucket, then which of its two.
TEST_F(WalkEquivalence, TheContractGivesTheSameAliasChoice)
{
  graph const two = make_graph(3, {{0, 1, 1}, {0, 2, 3}});  // buckets: {1 with 1/2, else 2}, {2}
  walk_params const params{.length = 1, .weighted = true, .rule = sampling_rule::alias, .seed = 9};
  rng_key const key = core::make_key(9, core::domain::first_order_walk);
  std::vector<vertex_id> const zeros(500, 0);
  walks const out = random_walk(two, zeros, params);
  for (std::uint64_t i = 0; i < zeros.size(); ++i) {
    auto const block = core::draw_block(key, i, 0, 0);
    bool const first = block.low() < (std::uint64_t{1} << 63U) && block.high() < (std::uint64_t{1} << 63U);
    EXPECT_EQ(out.vertices[static_cast<std::int64_t>(2 * i) + 1], first ? 1U : 2U);
  }
}

TEST_F(WalkEquivalence, SeedsAndLogicalIdsChangeWalks)
{
  auto const few = starts_everywhere(g, 4);
  for (auto app : applications) {
    rows const here = rows_of(random_walk(g, few, app.params));
    EXPECT_NE(rows_of(random_walk(g, few, app.params, {}, 1)), here) << app.name;
    app.params.seed = 1;
    EXPECT_NE(rows_of(random_walk(g, few, app.params)), here) << app.name;
  }
}

}  // namespace
}  // namespace tendril::test
