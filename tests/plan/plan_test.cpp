// A plan's rule follows from the graph and the parameters alone; its layout from the size of the job; it says why.

#include <utility>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/sample.hpp>
#include <tendril/walk.hpp>

#include <tendril/compress.hpp>

#include "plan/planner.hpp"
#include "support/messages.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

constexpr std::int64_t tiny_job = 0;
constexpr std::int64_t huge_job = std::int64_t{1} << 40U;

/// Vertices that each have an edge to every other; of each vertex's weights one is `largest`, the others are 1.
graph make_skewed(float largest, vertex_id num_vertices = 100)
{
  std::vector<test_edge> edges;
  for (vertex_id u = 0; u < num_vertices; ++u) {
    for (vertex_id v = 0; v < num_vertices; ++v) {
      if (u != v) {
        edges.push_back({u, v, v == (u + 1) % num_vertices ? largest : 1.0F, static_cast<std::uint8_t>(v % 2)});
      }
    }
  }
  return make_graph(num_vertices, edges, {}, std::vector<std::uint8_t>(num_vertices, 0));
}

TEST(WalkPlan, TheRuleIsTheSameForEveryJobAndEveryNumberOfThreads)
{
  for (float const largest : {1.0F, 3.0F, 1e6F}) {
    if (is_sanitized && largest != 1e6F) { continue; }  // the plan reads as much of the others
    graph const g = make_skewed(largest, unless_sanitized(100U, 12U));
    for (auto app : all_applications(10)) {
      if (!app.params.metapath.empty()) {
        app.params.metapath = app.params.metapath_of == metapath_kind::edge_labels ? std::vector<label_id>{0, 1}
                                                                                   : std::vector<label_id>{0};
      }
      SCOPED_TRACE(app.name);
      g.drop_derived();
      sampling_rule const rule = plan_walk(g, app.params, tiny_job, {.num_threads = 1}).rule;
      EXPECT_NE(rule, sampling_rule::automatic);
      for (auto const& [walks, threads] : {std::pair{tiny_job, 3}, {std::int64_t{1000}, 1}, {huge_job, 3}}) {
        EXPECT_EQ(plan_walk(g, app.params, walks, {.num_threads = threads}).rule, rule);
      }
      walker const with_tables(g, app.params, huge_job);
      EXPECT_EQ(with_tables.plan().rule, rule);
      EXPECT_EQ(plan_walk(g, app.params, tiny_job).rule, rule) << "after tables were built";
      if (app.params.rule != sampling_rule::automatic) { EXPECT_EQ(rule, app.params.rule); }
    }
  }
}

TEST(WalkPlan, TheRuleFollowsTheWeights)
{
  walk_params const weighted{.weighted = true};
  auto const even = plan_walk(make_skewed(1), weighted, 1);
  EXPECT_EQ(even.rule, sampling_rule::reject);
  EXPECT_NEAR(even.expected_trials, 1, 1e-6);
  auto const skewed = plan_walk(make_skewed(1e6F), weighted, 1);
  EXPECT_EQ(skewed.rule, sampling_rule::alias);
  EXPECT_NEAR(skewed.expected_trials, 99 * 1e6 / (1e6 + 98), 0.01);  // degree * largest / sum
  EXPECT_EQ(plan_walk(make_skewed(1), {}, 1).rule, sampling_rule::uniform);
  EXPECT_EQ(plan_walk(make_skewed(1), {.p = 2}, 1).rule, sampling_rule::reject);
  EXPECT_EQ(plan_walk(make_skewed(1), {.second_order = true}, 1).rule, sampling_rule::reject);
  EXPECT_EQ(plan_walk(make_skewed(1), {.q = 1e-3}, 1).rule, sampling_rule::scan);    // a thousand trials a step
  EXPECT_EQ(plan_walk(make_skewed(1), {.p = 1e-6}, 1).rule, sampling_rule::reject);  // the edge back is apart
  EXPECT_EQ(plan_walk(make_skewed(1e6F), {.weighted = true, .p = 2}, 1).rule, sampling_rule::alias);
}

TEST(WalkPlan, TheLayoutFollowsTheSizeOfTheJob)
{
  graph const g = make_skewed(3);
  auto const layout = [&](walk_params const& params, std::int64_t walks) {
    g.drop_derived();
    return plan_walk(g, params, walks).layout;
  };
  using enum sampling_rule;
  EXPECT_EQ(layout({}, tiny_job), table_layout::none);
  EXPECT_EQ(layout({}, huge_job), table_layout::none);
  EXPECT_EQ(layout({.weighted = true, .rule = reject}, tiny_job), table_layout::none);
  EXPECT_EQ(layout({.weighted = true, .rule = reject}, huge_job), table_layout::table);
  for (auto const rule : {alias, its}) {
    EXPECT_EQ(layout({.weighted = true, .rule = rule}, tiny_job), table_layout::online);
    EXPECT_EQ(layout({.weighted = true, .rule = rule}, huge_job), table_layout::table);
  }
  EXPECT_EQ(layout({.weighted = true, .rule = scan}, huge_job), table_layout::online);
  EXPECT_EQ(layout({.metapath = {0, 1}}, tiny_job), table_layout::online);
  EXPECT_EQ(layout({.metapath = {0, 1}}, huge_job), table_layout::table);
  g.drop_derived();
  EXPECT_FALSE(plan_walk(g, {.metapath = {0, 1}}, tiny_job).grouped_by_label);
  EXPECT_TRUE(plan_walk(g, {.metapath = {0, 1}}, huge_job).grouped_by_label);
}

TEST(WalkPlan, TablesThatAreThereAreUsedAndBilled)
{
  graph const g = make_skewed(3);
  walk_params const params{.weighted = true, .rule = sampling_rule::alias};
  auto const statistics = 4 * g.num_vertices();
  auto const before = plan_walk(g, params, huge_job);
  EXPECT_EQ(before.table_bytes, 16 * g.num_edges() + statistics);
  EXPECT_LE(before.table_bytes_built, statistics);
  walker const build(g, params, huge_job);
  auto const after = plan_walk(g, params, tiny_job);
  EXPECT_EQ(after.layout, table_layout::table);
  EXPECT_EQ(after.table_bytes_built, after.table_bytes);
  EXPECT_EQ(plan_walk(graph(g), params, tiny_job).layout, table_layout::table) << "copies share tables";
  g.drop_derived();
  EXPECT_EQ(plan_walk(g, params, tiny_job).layout, table_layout::online);
}

TEST(WalkPlan, ALimitOfNothingKeepsTheRuleAndLosesTheTables)
{
  graph const g = make_skewed(3);
  for (auto app : all_applications(10)) {
    if (!app.params.metapath.empty()) { app.params.metapath = {0}; }
    auto const with = plan_walk(g, app.params, huge_job);
    app.params.table_bytes = 0;
    auto const without = plan_walk(g, app.params, huge_job);
    EXPECT_EQ(without.rule, with.rule) << app.name;
    EXPECT_NE(without.layout, table_layout::table) << app.name;
    EXPECT_FALSE(without.grouped_by_label) << app.name;
    EXPECT_FALSE(without.weight_sums) << app.name;
    EXPECT_LE(without.table_bytes, 4 * g.num_vertices()) << app.name;  // what is known of the weights
    EXPECT_EQ(without.table_bytes_refused > 0, with.layout == table_layout::table) << app.name;
  }
  khop_params trees{.replace = true, .weighted = true};
  EXPECT_EQ(plan_khop(g, trees, huge_job).layout, table_layout::table);
  trees.table_bytes = 0;
  EXPECT_EQ(plan_khop(g, trees, huge_job).layout, table_layout::online);
}

TEST(WalkPlan, TablesTakeNoMoreThanTheLimit)
{
  graph const g = make_skewed(3);  // 100 vertices, 9,900 edges
  walk_params params{.weighted = true, .rule = sampling_rule::alias};
  for (std::int64_t const limit : {0, 400, 5'719, 5'720, 158'799, 158'800, 1'000'000}) {
    params.table_bytes = limit;
    auto const plan = plan_walk(g, params, huge_job);
    // 400 bytes are known of the weights in any case.
    EXPECT_EQ(plan.layout == table_layout::table, limit >= 400 + 158'400) << limit;
    EXPECT_EQ(plan.weight_sums, limit >= 400 + 5'320 && limit < 400 + 158'400) << limit;
    EXPECT_EQ(plan.table_bytes, plan.weight_sums ? 5'720 : plan.layout == table_layout::table ? 158'800 : 400) << limit;
    EXPECT_EQ(plan.table_bytes_refused, plan.layout == table_layout::table ? 0 : 158'400) << limit;
  }
  params.table_bytes = 6000;
  auto const reasons = plan_walk(g, params, huge_job).reasons;
  ASSERT_EQ(reasons.size(), 4U);
  EXPECT_EQ(reasons[1],
            "computed at each step, from 99 edges on average: alias table of 0.2 MB would exceed the limit of 0.0 MB "
            "for tables");
  EXPECT_EQ(reasons[2], "sums of weights: 0 MB, pays for this job");
  EXPECT_EQ(
      reasons[3],
      "other walks of the same distribution: rule reject needs 36 bytes a vertex and 3 bits an edge, and takes 2.94 "
      "trials a step, rule scan needs no table and reads 99 edges a step");
  params.table_bytes = -1;
  EXPECT_EQ(message_of<argument_error>([&] { (void)plan_walk(g, params, 1); }), "table_bytes: -1, expected 0 or more");
  EXPECT_EQ(message_of<argument_error>([&] { (void)plan_khop(g, {.table_bytes = -1}, 1); }),
            "table_bytes: -1, expected 0 or more");
}

TEST(WalkPlan, TheTablesOfACompressedGraphTakeNoMoreThanCompressionSaved)
{
  graph const g = make_skewed(3);
  walk_params const weighted{.weighted = true, .rule = sampling_rule::alias};
  for (auto const& [form, name] : enum_names<graph_form>) {
    if (form == graph_form::csr) { continue; }
    graph const small = compress(g, form);
    auto const saved =
        static_cast<std::int64_t>((g.bits_per_edge() - small.bits_per_edge()) * static_cast<double>(g.num_edges()) / 8);
    auto const plan = plan_walk(small, weighted, huge_job);
    EXPECT_EQ(plan.layout, table_layout::online) << name;
    EXPECT_TRUE(plan.weight_sums) << name;
    EXPECT_LE(plan.table_bytes, saved + 1) << name;
    EXPECT_EQ(plan.table_bytes_refused, 16 * g.num_edges()) << name;
    walk_params more = weighted;
    more.table_bytes = 1'000'000;
    EXPECT_EQ(plan_walk(small, more, huge_job).layout, table_layout::table) << name;
  }
}

/// An executor that works nothing out at the step, as a GPU, with so much memory.
plan::plan_context needing_tables(graph const& g, std::int64_t free_bytes)
{
  static cpu_exec const exec;
  plan::plan_context out = plan::context_of(g, {}, exec);
  out.needs_tables = true;
  out.costs = plan::gpu_costs;
  out.memory = "the GPU's free memory";
  out.free_bytes = [free_bytes] { return free_bytes; };
  return out;
}

TEST(WalkPlan, AnExecutorThatNeedsTablesTakesThemWhateverTheJob)
{
  graph const g = make_skewed(3);
  for (auto app : all_applications(10)) {
    if (!app.params.metapath.empty()) { app.params.metapath = {0}; }
    auto const on_cpu = plan_walk(g, app.params, tiny_job);
    sampling_plan plan;
    plan::plan_context const where = needing_tables(g, std::int64_t{1} << 40U);
    plan::walk_planning walk(where, app.params, tiny_job, plan);
    if (walk.choose_rule()) { walk.choose_weight_table(); }
    EXPECT_EQ(plan.rule, on_cpu.rule) << app.name;
    bool const by_table = plan.rule == sampling_rule::alias || plan.rule == sampling_rule::its;
    if (by_table) { EXPECT_EQ(plan.layout, table_layout::table) << app.name; }
    EXPECT_EQ(plan.layout == table_layout::online, plan.rule == sampling_rule::scan) << app.name;
    EXPECT_EQ(plan.grouped_by_label, !app.params.metapath.empty() && plan.rule != sampling_rule::scan) << app.name;
  }
}

TEST(WalkPlan, SumsStandInForATableThatIsNeededAndDoesNotFit)
{
  graph const g = make_skewed(3);  // 9,900 edges
  walk_params const params{.weighted = true, .rule = sampling_rule::alias};
  auto const plan_with = [&](std::int64_t free_bytes, table_limit limit) {
    plan::plan_context where = needing_tables(g, free_bytes);
    where.limit = plan::table_budget::of(g, limit);
    sampling_plan plan;
    plan::walk_planning walk(where, params, 1, plan);
    EXPECT_TRUE(walk.choose_rule());
    walk.choose_weight_table();
    return plan;
  };
  EXPECT_EQ(plan_with(200'000, {}).layout, table_layout::table);
  for (auto const& plan : {plan_with(100'000, {}), plan_with(200'000, 100'000), plan_with(200'000, 0)}) {
    EXPECT_EQ(plan.layout, table_layout::online);
    EXPECT_TRUE(plan.weight_sums);
    EXPECT_EQ(plan.table_bytes, 5'720);
  }
  EXPECT_EQ(plan_with(100'000, {}).reasons[1],
            "worked out at each step from sums of 64 weights: alias table of 0 MB does not fit into the GPU's free "
            "memory");
  EXPECT_EQ(message_of<memory_error>([&] { (void)plan_with(5'000, {}); }),
            "sums of weights: 0.0 MB needed, the GPU's free memory is 0.0 MB; rule scan needs no table, and the CPU "
            "works out what it would hold as it goes");
  khop_params const trees{.replace = true, .weighted = true};
  EXPECT_EQ(message_of<memory_error>(
                [&] { (void)plan::make_khop_plan(needing_tables(g, 5'000), trees, 1, plan::alias_form::records); }),
            "sums of weights: 0.0 MB needed, the GPU's free memory is 0.0 MB; the CPU works out what it would hold as "
            "it goes");
  EXPECT_TRUE(plan::make_khop_plan(needing_tables(g, 100'000), trees, 1, plan::alias_form::records).weight_sums);
  auto const fits = plan::make_khop_plan(needing_tables(g, 200'000), trees, 1, plan::alias_form::buckets);
  EXPECT_EQ(fits.layout, table_layout::table);
  EXPECT_EQ(fits.table_bytes, 16 * g.num_edges());
  EXPECT_EQ(fits.reasons.back(), "alias table: 0 MB");
}

TEST(WalkPlan, PlanningBuildsNoTable)
{
  graph const g = make_skewed(3);
  walk_params const params{.weighted = true, .rule = sampling_rule::reject};
  EXPECT_EQ(plan_walk(g, params, huge_job).layout, table_layout::table);
  EXPECT_EQ(plan_walk(g, params, tiny_job).layout, table_layout::none);
}

TEST(WalkPlan, GivesAReasonForEveryDecision)
{
  graph const g = make_skewed(3);
  for (auto app : all_applications(10)) {
    if (!app.params.metapath.empty()) { app.params.metapath = {0}; }
    for (std::int64_t const walks : {tiny_job, huge_job}) {
      auto const plan = plan_walk(g, app.params, walks);
      ASSERT_FALSE(plan.reasons.empty()) << app.name;
      EXPECT_EQ(plan.reasons[0].substr(0, plan.reasons[0].find(':')), to_string(plan.rule)) << app.name;
      for (auto const& reason : plan.reasons) { EXPECT_EQ(reason.find('\n'), std::string::npos); }
    }
  }
}

TEST(KhopPlan, RuleAndLayout)
{
  graph const g = make_skewed(3);
  using enum sampling_rule;
  auto const plan = [&](khop_params const& params, std::int64_t roots) {
    auto out = plan_khop(g, params, roots);
    EXPECT_FALSE(out.reasons.empty());
    return out;
  };
  EXPECT_EQ(plan({}, huge_job).rule, uniform);
  EXPECT_EQ(plan({.replace = true}, tiny_job).rule, uniform);
  EXPECT_EQ(plan({.weighted = true}, huge_job).rule, scan);
  EXPECT_EQ(plan({.weighted = true}, huge_job).layout, table_layout::online);
  for (auto const rule : {automatic, alias, its}) {
    khop_params const params{.replace = true, .weighted = true, .rule = rule};
    sampling_rule const expected = rule == automatic ? alias : rule;
    EXPECT_EQ(plan(params, tiny_job).rule, expected);
    EXPECT_EQ(plan(params, huge_job).rule, expected);
    EXPECT_EQ(plan(params, tiny_job).layout, table_layout::online);
    EXPECT_EQ(plan(params, huge_job).layout, table_layout::table);
  }
}

}  // namespace
}  // namespace tendril::test
