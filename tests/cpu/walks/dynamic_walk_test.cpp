// Dynamic walks on the CPU: the engine does what the planned walks' executor does, hints never change a walk, walks
// have the distribution that their weights give, and wrong weights are named.

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/engine/walks/cpu.hpp>
#include <tendril/error.hpp>
#include <tendril/generate.hpp>

#include "cpu/walks/dynamic_walks.hpp"
#include "cpu/walks/exact_walks.hpp"
#include "cpu/walks/scan_engine.hpp"
#include "examples/metapath2vec_walk.hpp"
#include "examples/time_decay_walk.hpp"
#include "support/graph_forms.hpp"
#include "support/messages.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"
#include "support/walk_rows.hpp"

namespace tendril::test {
namespace {

static_assert(dynamic_walk<moody_walk> && dynamic_walk<bounded_moody_walk> && dynamic_walk<edge_bounded_moody_walk>);
static_assert(!dynamic_walk<std::string> && !dynamic_walk<csr_arrays>);
static_assert(walk_has::bound<bounded_moody_walk> && !walk_has::edge_bound<bounded_moody_walk>);
static_assert(!walk_has::bound<edge_bounded_moody_walk> && walk_has::edge_bound<edge_bounded_moody_walk>);
static_assert(walk_has::stop<ending_walk> && walk_has::may_start<ending_walk>);

template <class W>
rows run(graph const& g, W const& walk, dynamic_walk_params const& params, int copies = 3, cpu_exec const& exec = {},
         std::int64_t first_walk = 11)
{
  return rows_of(run_dynamic_walk(g, walk, starts_everywhere(g, copies), params, exec, first_walk));
}

TEST(DynamicWalk, RunsTheLibrarysWalksBitForBit)
{
  edge_attributes const extra{.has_weights = true, .weight_sigma = 2, .num_labels = 3, .num_node_types = 3};
  graph const tail =
      generate_rmat({.scale = unless_sanitized(8, 6), .edge_factor = 8, .seed = 2}, {.symmetrize = true}, extra);
  int compared = 0;
  for (graph const& g : {make_zoo(11), tail}) {
    auto const starts = starts_everywhere(g, 2);
    auto const n = static_cast<std::int64_t>(starts.size());
    for (auto const& app : all_applications(14)) {
      if (app.params.rule != sampling_rule::scan) { continue; }
      rows const expected = rows_of(random_walk(g, starts, app.params, cpu_exec{}, 5));
      for (graph const& form : in_all_forms(g)) {
        rows got{std::vector<vertex_id>(expected.vertices.size()), std::vector<std::int32_t>(starts.size())};
        engine::dynamic_batch const batch{starts.data(),     n, 5, got.vertices.data(), app.params.length + 1, 1,
                                          got.lengths.data()};
        core::with_walk(scan_choice(app.params), [&](auto const& walk) {
          form.view().visit([&](auto const& view) {
            engine::walk_batch_on_cpu(walk, engine::setup_with(scan_setup(view, app.params), view), false, batch, {});
          });
        });
        EXPECT_EQ(got, expected) << app.name;
      }
      ++compared;
    }
  }
  EXPECT_GE(compared, 30);
}

TEST(DynamicWalk, HintsDontChangeAWalk)
{
  graph const g = make_zoo(3);
  dynamic_walk_params params{.length = 20, .stop_prob = 0.05, .restart_prob = 0.1, .seed = 4};
  rows const raced = run(g, moody_walk{}, params);
  EXPECT_EQ(run(g, edge_bounded_moody_walk{}, params), raced);
  rows const rejected = run(g, bounded_moody_walk{}, params);
  EXPECT_EQ(run(g, unfloored_moody_walk{}, params), rejected);
  EXPECT_NE(rejected, raced) << "automatic means reject where there is a bound";
  params.rule = sampling_rule::scan;
  EXPECT_EQ(run(g, bounded_moody_walk{}, params), raced);
}

TEST(DynamicWalk, TheFormDoesntChangeAWalk)
{
  edge_attributes const extra{.has_weights = true, .weight_sigma = 2, .num_labels = 3, .num_node_types = 3};
  for (graph const& g :
       {make_zoo(3), generate_rmat({.scale = unless_sanitized(8, 6), .seed = 2}, {.symmetrize = true}, extra)}) {
    graph const packed = compress(g, graph_form::best);
    auto const compare = [&](char const* name, auto const& walk, dynamic_walk_params const& params) {
      EXPECT_EQ(run(packed, walk, params), run(g, walk, params)) << name;
    };
    for (auto const rule : {sampling_rule::automatic, sampling_rule::scan}) {
      dynamic_walk_params const params{.length = 20, .restart_prob = 0.1, .rule = rule, .seed = 4};
      compare("bounded", bounded_moody_walk{}, params);
      compare("weighted", weighted_walk{}, params);
      compare("time", time_decay_walk{0.25F}, params);
    }
    dynamic_walk_params const params{.length = 20, .stop_prob = 0.05, .dead_ends = dead_end::repeat, .seed = 4};
    compare("edge bounded", edge_bounded_moody_walk{}, params);
    compare("ending", ending_walk{}, params);
    compare("types", metapath2vec_walk{{0, 1, 2, 1}, 4}, params);
  }
}

/// Takes the arguments of CSR graphs, in all of its functions or in one.
struct csr_walk {
  [[nodiscard]] float weight(walk_state const&, walk_edge const& e) const { return e.weight(); }
};
struct stops_on_csr : moody_walk {
  [[nodiscard]] bool stop(walk_state const& s) const { return s.step > 3; }
};
static_assert(dynamic_walk<csr_walk> && !dynamic_walk<csr_walk, compressed_view>);
static_assert(dynamic_walk<stops_on_csr> && !dynamic_walk<stops_on_csr, compressed_view>);
static_assert(dynamic_walk<moody_walk, compressed_view>);

TEST(DynamicWalk, SaysWhichFormsItReads)
{
  graph const g = make_zoo(3);
  graph const packed = compress(g, graph_form::best);
  std::string const refusal =
      "dynamic walk: its functions take walk_state, which reads CSR graphs; write 'auto const&' for graphs of every "
      "form "
      "(to_csr makes this one CSR)";
  auto const message = [&](auto const& walk) {
    (void)run(g, walk, {.length = 2});
    return message_of<argument_error>([&] { (void)run(packed, walk, {.length = 2}); });
  };
  EXPECT_EQ(message(csr_walk{}), refusal);
  EXPECT_EQ(message(stops_on_csr{}), refusal);
}

TEST(DynamicWalk, ThreadsAndBatchesDontChangeAWalk)
{
  graph const g = make_zoo(3);
  dynamic_walk_params const params{.length = 20, .stop_prob = 0.05, .seed = 4};
  auto const starts = starts_everywhere(g, 12);  // more than one run of the work source
  rows const whole = rows_of(run_dynamic_walk(g, bounded_moody_walk{}, starts, params, {.num_threads = 1}, 100));
  EXPECT_EQ(rows_of(run_dynamic_walk(g, bounded_moody_walk{}, starts, params, {.num_threads = 3}, 100)), whole);
  rows parts;
  for (std::size_t begin = 0; begin < starts.size(); begin += 100) {
    auto const part = std::span(starts).subspan(begin, std::min<std::size_t>(100, starts.size() - begin));
    rows const r =
        rows_of(run_dynamic_walk(g, bounded_moody_walk{}, part, params, {}, 100 + static_cast<std::int64_t>(begin)));
    parts.vertices.insert(parts.vertices.end(), r.vertices.begin(), r.vertices.end());
    parts.lengths.insert(parts.lengths.end(), r.lengths.begin(), r.lengths.end());
  }
  EXPECT_EQ(parts, whole);
}

/// Two steps from vertex 0 of a small graph, by brute force from moody_walk's weights.
outcome_probabilities two_moody_steps(graph const& g)
{
  csr_view const v(g.csr());
  outcome_probabilities out;
  auto const shares = [&](walk_state const& s) {
    auto const row = v.row(s.vertex);
    std::vector<double> w;
    double sum = 0;
    for (std::uint32_t i = 0; i < v.degree(s.vertex); ++i) {
      w.push_back(moody_walk{}.weight(s, walk_edge(row, i)));
      sum += w.back();
    }
    for (double& x : w) { x /= sum; }
    return w;
  };
  walk_state s;
  s.graph = v;
  auto const first = shares(s);
  for (std::uint32_t i = 0; i < first.size(); ++i) {
    walk_state t = s;
    t.previous = 0;
    t.previous_edge = i;
    t.vertex = v.neighbor(0, i);
    t.step = 1;
    auto const second = shares(t);
    if (second.empty()) { out[{0, t.vertex, no_vertex}] += first[i]; }
    for (std::uint32_t j = 0; j < second.size(); ++j) {
      out[{0, t.vertex, v.neighbor(t.vertex, j)}] += first[i] * second[j];
    }
  }
  return out;
}

template <class W>
outcome_counts count_two_steps(graph const& g, W const& walk, std::int64_t n)
{
  std::vector<vertex_id> const starts(static_cast<std::size_t>(n), 0);
  walks const out = run_dynamic_walk(g, walk, starts, {.length = 2, .seed = 8});
  outcome_counts counts;
  for (std::int64_t i = 0; i < n; ++i) {
    vertex_id const* const row = out.vertices.data() + 3 * i;
    ++counts[outcome(row, row + 3)];
  }
  return counts;
}

TEST(DynamicWalk, DrawsFromTheWeightsOfEveryState)
{
  if (is_sanitized) { GTEST_SKIP() << statistics_only; }
  graph const g = make_graph(6, {{0, 1},
                                 {0, 2},
                                 {0, 3},
                                 {0, 3},
                                 {0, 5},
                                 {1, 0},
                                 {1, 2},
                                 {1, 4},
                                 {2, 1},
                                 {2, 2},
                                 {2, 3},
                                 {3, 0},
                                 {3, 1},
                                 {3, 4},
                                 {3, 5}});
  auto const exact = two_moody_steps(g);
  EXPECT_TRUE(fits(count_two_steps(g, moody_walk{}, 200'000), exact)) << "race";
  EXPECT_TRUE(fits(count_two_steps(g, bounded_moody_walk{}, 200'000), exact)) << "rejection";
  // A walk that is biased must be noticed.
  EXPECT_FALSE(fits(count_two_steps(g, ending_walk{}, 200'000), exact));
}

TEST(DynamicWalk, TiredTrialsLeaveTheDistributionAsItIs)
{
  if (is_sanitized) { GTEST_SKIP() << statistics_only; }
  std::vector<float> weights(300, 1e-6F);  // 300 edges of one in a million beside one, 30 of nothing
  weights[7] = 1;
  for (std::size_t i = 200; i < 230; ++i) { weights[i] = 0; }
  weights[100] = 0.5F;
  graph const star = make_star(weights);
  std::vector<vertex_id> const starts(60'000, 0);
  walks const out = run_dynamic_walk(star, weighted_walk{}, starts, {.length = 1, .seed = 3});
  std::vector<std::int64_t> counts(weights.size());
  for (std::size_t i = 0; i < starts.size(); ++i) { ++counts[out.vertices[2 * static_cast<std::int64_t>(i) + 1] - 1]; }
  expect_distribution(counts, {weights.begin(), weights.end()}, 0.05);
}

TEST(DynamicWalk, StopsWhereItSays)
{
  graph const ring = generate_regular(regular_graph::ring, 35);
  rows const out = run(ring, ending_walk{}, {.length = 12}, 1);
  for (std::size_t v = 0; v < 35; ++v) {
    // On the ring a walker moves to a neighbour each step; it must stand on a multiple of 5 where it ended early.
    vertex_id const* const row = out.vertices.data() + v * 13;
    std::int32_t const steps = out.lengths[v];
    EXPECT_EQ(row[0], v);
    if (v % 7 == 0) {
      EXPECT_EQ(steps, 0) << "it may not start";
    } else if (steps < 12) {
      EXPECT_GT(steps, 0);
      EXPECT_EQ(row[steps] % 5, 0U);
    }
    for (std::int32_t t = 1; t < steps; ++t) { EXPECT_NE(row[t] % 5, 0U) << "went on from where it stops"; }
    for (std::int32_t t = steps + 1; t <= 12; ++t) { EXPECT_EQ(row[t], no_vertex); }
  }
}

TEST(DynamicWalk, RepeatsAtDeadEndsOnly)
{
  graph const path = make_graph(3, {{0, 1}, {1, 2}});
  dynamic_walk_params const params{.length = 4, .dead_ends = dead_end::repeat};
  std::vector<vertex_id> const starts = {0, 2};
  rows const out = rows_of(run_dynamic_walk(path, moody_walk{}, starts, params));
  EXPECT_EQ(out.vertices, (std::vector<vertex_id>{0, 1, 2, 2, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(out.lengths, (std::vector<std::int32_t>{2, 0}));
}

template <class W>
std::string complaint(graph const& g, W const& walk, dynamic_walk_params const& params)
{
  try {
    std::vector<vertex_id> const starts(20, 0);
    (void)run_dynamic_walk(g, walk, starts, params, {.num_threads = 1}, 40);
  } catch (argument_error const& e) {
    return e.what();
  }
  return {};
}

TEST(DynamicWalk, NamesWrongWeights)
{
  graph const full = generate_regular(regular_graph::complete, 20);
  float const nan = std::numeric_limits<float>::quiet_NaN();
  float const infinity = std::numeric_limits<float>::infinity();
  for (auto const& [value, text] : {std::pair{nan, "nan"}, {-1.0F, "-1"}, {infinity, "inf"}}) {
    std::string const said = complaint(full, wrong_walk{44, 3, 17, value}, {.length = 8});
    EXPECT_EQ(said.find(std::string("weight: ") + text + " at walk 44, step 3, vertex "), 0U) << said;
    EXPECT_NE(said.find(", edge "), std::string::npos) << said;
    EXPECT_NE(complaint(full, wrong_bounded_walk{{44, 3, 0, value}, 2}, {.length = 8}).find("walk 44, step 3"),
              std::string::npos);
    EXPECT_NE(complaint(full, wrong_bounded_walk{{44, 3, 0, 1}, value}, {.length = 8}).find("bound: "),
              std::string::npos);
  }
  EXPECT_NE(complaint(full, wrong_bounded_walk{{44, 3, 0, 3}, 2}, {.length = 8}).find("weight: 3 at walk 44, step 3"),
            std::string::npos);
  EXPECT_NE(complaint(full, wrong_edge_bounded_walk{{44, 3, 0, 3}}, {.length = 8}).find("weight: 3 at walk 44"),
            std::string::npos);
  EXPECT_EQ(complaint(full, wrong_walk{44, 3, 0, 0}, {.length = 8}), "") << "nothing but zeros is a dead end";
  EXPECT_EQ(complaint(full, wrong_walk{44, 3, 0, -0.0F}, {.length = 8}), "") << "and so is their negative";
}

TEST(DynamicWalk, NamesWrongArguments)
{
  graph const g = make_zoo(3);
  EXPECT_NE(complaint(g, moody_walk{}, {.length = 0}).find("length: 0"), std::string::npos);
  EXPECT_NE(complaint(g, moody_walk{}, {.stop_prob = 1.5}).find("stop_prob: 1.5"), std::string::npos);
  EXPECT_NE(complaint(g, moody_walk{}, {.restart_prob = -1}).find("restart_prob: -1"), std::string::npos);
  EXPECT_NE(complaint(g, moody_walk{}, {.rule = sampling_rule::reject}).find("bound(state)"), std::string::npos);
  EXPECT_NE(complaint(g, moody_walk{}, {.rule = sampling_rule::alias}).find("rule alias: "), std::string::npos);
  std::vector<vertex_id> const outside = {0, 64};
  EXPECT_THROW((void)run_dynamic_walk(g, moody_walk{}, outside, {}), argument_error);
  EXPECT_THROW((void)run_dynamic_walk(g, moody_walk{}, std::vector<vertex_id>{0}, {}, cpu_exec{}, -1), argument_error);
}

}  // namespace
}  // namespace tendril::test
