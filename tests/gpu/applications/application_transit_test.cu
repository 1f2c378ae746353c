// Sampling applications by the transit-parallel executor: the CPU's bytes, whatever the graph, the sizes, the order, and
// the way a step is cut.

#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/engine/applications/cpu.hpp>
#include <tendril/engine/applications/gpu.cuh>
#include <tendril/generate.hpp>
#include <tendril/starts.hpp>

#include "gpu/applications/transit.hpp"
#include "support/compare_samples.hpp"
#include "support/gpu_test.hpp"
#include "support/messages.hpp"
#include "support/sampling_apps.hpp"

namespace tendril {
namespace apps {

/// Several transits drawn from the roots, samples that end at different steps, a state, roots that change.
struct wandering {
  struct state {
    std::int64_t steps;
  };
  [[nodiscard]] TENDRIL_HD int steps() const { return until_done; }
  [[nodiscard]] TENDRIL_HD std::int64_t num_transits(int step) const { return step == 1 ? 1 : 4; }
  [[nodiscard]] TENDRIL_HD std::int64_t sample_size(int step) const { return 1 + 11 * (step % 3); }
  [[nodiscard]] TENDRIL_HD vertex_id step_transits(int, auto const& sample, std::int64_t i, random_stream& rng) const
  {
    if (i == 2 && rng.chance(0.3)) { return no_vertex; }
    return sample.root(rng.bounded(sample.num_roots()));
  }
  [[nodiscard]] TENDRIL_HD vertex_id next(auto& sample, transit_list const&, auto const& edges, int,
                                          random_stream& rng) const
  {
    bool const ends = rng.chance(state_of<state>(sample).steps % 2 == 0 ? 0.3 : 0.9);
    return ends || edges.empty() ? no_vertex : edges[rng.bounded(edges.size())];
  }
  TENDRIL_HD void end_step(auto& sample, int) const
  {
    ++state_of<state>(sample).steps;
    if (sample.prev_vertex(1, 0) != no_vertex) { sample.replace_root(0, sample.prev_vertex(1, 0)); }
  }
};

/// Reads whole lists with labels and places: a copied list must not lose where it came from.
struct labelled_scan {
  static constexpr bool scans_neighbors = true;
  [[nodiscard]] TENDRIL_HD int steps() const { return 3; }
  [[nodiscard]] TENDRIL_HD std::int64_t sample_size(int step) const { return step == 0 ? 7 : 2; }
  [[nodiscard]] TENDRIL_HD vertex_id next(auto&, transit_list const& transits, auto const& edges, int,
                                          random_stream& rng) const
  {
    if (edges.empty()) { return no_vertex; }
    std::uint64_t sum = transits[0] + rng.bits() % 1000;
    for (std::uint32_t k = 0; k < edges.size(); ++k) {
      sum += (edges[k] ^ static_cast<std::uint64_t>(edges.edge(k))) + edges.label(k);
    }
    return edges[static_cast<std::uint32_t>(sum % edges.size())];
  }
};

}  // namespace apps

namespace {

using apps::labelled_scan;
using apps::wandering;

struct graph_case {
  char const* name;
  graph host;
};

std::vector<graph_case> graph_cases()
{
  std::vector<graph_case> out;
  edge_attributes const extra{.has_weights = true, .num_labels = 5};
  out.push_back(
      {"rmat10", generate_rmat({.scale = 10, .edge_factor = 8, .seed = 3}, {.drop_duplicates = true}, extra)});
  out.push_back({"rmat14", generate_rmat({.scale = 14, .edge_factor = 16, .seed = 1},
                                         {.symmetrize = true, .drop_duplicates = true}, extra)});
  std::vector<vertex_id> hub(200'000, 0);
  std::vector<vertex_id> leaves(200'000);
  std::iota(leaves.begin(), leaves.end(), vertex_id{1});
  std::vector<float> const weights(200'000, 1.5F);
  out.push_back({"star", build_graph({hub, leaves, weights}, {.symmetrize = true})});
  out.push_back(
      {"no edges", generate_er({.num_vertices = 50, .num_edges = 0}, {.num_vertices = 50}, {.has_weights = true})});
  return out;
}

template <class A>
constexpr bool needs_labels = std::is_same_v<A, labelled_scan>;

template <class A>
application_params params_of(sample_order order = sample_order::per_step)
{
  application_params params;
  params.seed = 17;
  params.order = order;
  params.executor = sampling_executor::transit_parallel;
  if (A{}.steps() == until_done) { params.max_steps = 6; }
  return params;
}

/// Of the shapes that are tried, those that one core works out in seconds.
template <class A>
std::int64_t most_samples(graph const& g)
{
  bool const has_hub = g.num_vertices() > 100'000;
  if (application_has::scans<A>) { return has_hub ? 40 : 5000; }
  if (is_collective<A>) { return has_hub ? 300 : 2000; }
  return 1 << 15;
}

template <class A>
class any_application_by_transits : public test::gpu_test {
 protected:
  /// A call step by step. `by_transits(t)`: whether step t is transit-parallel.
  template <class Which>
  samples run(graph const& there, std::span<vertex_id const> roots, std::int64_t num_roots,
              application_params const& params, gpu::transit_tuning const& tuning, Which by_transits)
  {
    A const app{};
    auto const kernels = engine::visit_form<engine::application_forms<A>>(
        there.view(), [](auto const& view) { return engine::kernels_of<A, std::decay_t<decltype(view)>>(); });
    auto const job = engine::job_of(app, static_cast<std::int64_t>(roots.size()), num_roots, params);
    engine::application_run run(there.view(), job, roots, params, 11, core::domain::application, this->exec);
    for (std::int32_t t = 0; t < run.setup.num_steps; ++t) {
      if (by_transits(t)) {
        gpu::enqueue_transit_step(kernels, &app, run, t, tuning);
      } else {
        engine::enqueue_sample_step(kernels, &app, run, t);
      }
    }
    run.finish();
    return std::move(run.out);
  }
};
using all_applications = testing::Types<apps::khop, apps::unique_khop, apps::layer, apps::unique_layer,
                                        apps::importance, apps::multidim, apps::ppr, apps::weighted_khop_scan,
                                        apps::among_roots, apps::smallest_root, wandering, labelled_scan>;
TYPED_TEST_SUITE(any_application_by_transits, all_applications);

TYPED_TEST(any_application_by_transits, is_the_cpus)
{
  struct shape {
    std::int64_t num_samples, num_roots;
  };
  for (auto const& [name, host] : graph_cases()) {
    if (needs_labels<TypeParam> && !host.has_edge_labels()) { continue; }
    graph const there = to_gpu(host, this->exec);
    graph const packed_there = to_gpu(compress(host, graph_form::best), this->exec);
    for (shape const s :
         {shape{1, 1}, shape{37, 3}, shape{300, 16}, shape{2000, 2}, shape{5000, 1}, shape{1 << 15, 1}}) {
      if (s.num_samples > most_samples<TypeParam>(host)) { continue; }
      auto const roots = random_vertices(host.num_vertices(), s.num_samples * s.num_roots, 5);
      auto const roots_there = copy_to_gpu(roots.span(), this->exec);
      for (auto const order : {sample_order::per_step, sample_order::per_sample}) {
        SCOPED_TRACE(testing::Message() << name << ", " << s.num_samples << " samples of " << s.num_roots
                                        << " roots, order " << static_cast<int>(order));
        auto const params = params_of<TypeParam>(order);
        auto const expected = run_application(host, TypeParam{}, roots.span(), s.num_roots, params, {}, 11);
        for (graph const& form : {there, packed_there}) {
          auto const found =
              run_application(form, TypeParam{}, roots_there.span(), s.num_roots, params, this->exec, 11);
          test::expect_same_samples(expected, found, &this->exec);
        }
        if (testing::Test::HasFailure()) { return; }
      }
    }
  }
}

TYPED_TEST(any_application_by_transits, is_the_same_however_it_is_cut)
{
  using gpu::transit_grouping;
  std::vector<gpu::transit_tuning> const tunings{
      {.most_pairs = 1, .most_copied = 1},
      {.most_pairs = 5, .most_copied = 3000, .unit = 32, .grouping = transit_grouping::count},
      {.most_pairs = 1000, .most_copied = 50'000, .unit = 64, .grouping = transit_grouping::sort},
      {.grouping = transit_grouping::count},
      {.most_copied = 20'000},
      {.most_copied = 0}};
  graph const host = graph_cases()[0].host;
  graph const there = to_gpu(host, this->exec);
  graph const packed_there = to_gpu(compress(host, graph_form::best), this->exec);
  for (std::int64_t const num_samples : {1, 150}) {
    auto const roots = random_vertices(host.num_vertices(), num_samples * 4, 5);
    auto const roots_there = copy_to_gpu(roots.span(), this->exec);
    auto const params = params_of<TypeParam>();
    auto expected = run_application(host, TypeParam{}, roots.span(), 4, params, {}, 11);
    for (sampled_step& step : expected.steps) {  // steps leave edges to others
      step.edge_offsets = {};
      step.edge_sources = {};
      step.edge_targets = {};
    }
    for (std::size_t t = 0; t < tunings.size(); ++t) {
      SCOPED_TRACE(testing::Message() << num_samples << " samples, tuning " << t);
      for (graph const& form : {there, packed_there}) {
        test::expect_same_samples(expected,
                                  this->run(form, roots_there.span(), 4, params, tunings[t], [](int) { return true; }),
                                  &this->exec);
      }
    }
    for (int const odd : {0, 1}) {
      SCOPED_TRACE(testing::Message() << num_samples << " samples, every other step by transits from " << odd);
      test::expect_same_samples(
          expected, this->run(there, roots_there.span(), 4, params, {}, [&](int step) { return step % 2 == odd; }),
          &this->exec);
    }
  }
}

class application_by_transits : public test::gpu_test {};

TEST_F(application_by_transits, neighbours_of_a_hub_are_scanned_by_many)
{
  graph const host = graph_cases()[2].host;
  graph const there = to_gpu(host, exec);
  auto const roots = random_vertices(host.num_vertices(), 600, 5);
  auto const roots_there = copy_to_gpu(roots.span(), exec);
  auto const params = params_of<apps::weighted_khop_scan>();
  auto const expected = run_application(host, apps::weighted_khop_scan{}, roots.span(), 1, params);
  test::expect_same_samples(
      expected, run_application(there, apps::weighted_khop_scan{}, roots_there.span(), 1, params, exec), &exec);
}

TEST_F(application_by_transits, sample_sizes_of_all_kinds)
{
  graph const host = graph_cases()[1].host;
  graph const there = to_gpu(host, exec);
  auto const params = params_of<apps::khop>();
  for (std::int64_t const num_samples : {3, 4000}) {
    auto const roots = random_vertices(host.num_vertices(), num_samples, 5);
    auto const roots_there = copy_to_gpu(roots.span(), exec);
    for (apps::khop const app :
         {apps::khop{1, {1}}, apps::khop{3, {3, 8, 1}}, apps::khop{2, {9, 31}}, apps::khop{2, {32, 2}},
          apps::khop{1, {1024}}, apps::khop{1, {1025}}, apps::khop{1, {5000}}}) {
      SCOPED_TRACE(testing::Message() << num_samples << " samples, first fan-out " << app.fanouts[0]);
      test::expect_same_samples(run_application(host, app, roots.span(), 1, params),
                                run_application(there, app, roots_there.span(), 1, params, exec), &exec);
    }
  }
}

/// Returns a vertex that isn't there, from sample 5 on, at step 1.
struct wild : apps::khop {
  [[nodiscard]] TENDRIL_HD vertex_id next(sample_view& sample, transit_list const& t, edge_list const& edges, int step,
                                          random_stream& rng) const
  {
    if (step == 1 && sample.id >= 5) { return 0xfffffff0U; }
    return apps::khop::next(sample, t, edges, step, rng);
  }
};

/// Follows a transit that isn't there, from sample 6 on, at step 2.
struct astray : wandering {
  [[nodiscard]] TENDRIL_HD vertex_id step_transits(int step, sample_view const& sample, std::int64_t i,
                                                   random_stream& rng) const
  {
    return step == 2 && sample.id >= 6 ? 0xfffffff0U : wandering::step_transits(step, sample, i, rng);
  }
};

TEST_F(application_by_transits, problems_are_those_of_the_cpu)
{
  graph const host = graph_cases()[1].host;
  graph const there = to_gpu(host, exec);
  auto const roots = random_vertices(host.num_vertices(), 100, 5);
  auto const roots_there = copy_to_gpu(roots.span(), exec);
  auto const same = [&](auto const& app, std::span<vertex_id const> a, std::span<vertex_id const> b, auto params) {
    std::string const expected =
        test::message_of<argument_error>([&] { (void)run_application(host, app, a, 1, params); });
    EXPECT_EQ(test::message_of<argument_error>([&] { (void)run_application(there, app, b, 1, params, exec); }),
              expected);
    return expected;
  };
  auto params = params_of<apps::khop>();
  EXPECT_NE(same(wild{}, roots.span(), roots_there.span(), params).find("sample 5, step 1"), std::string::npos);
  EXPECT_NE(same(astray{}, roots.span(), roots_there.span(), params_of<astray>()).find("step 2"), std::string::npos);
  params.max_steps = 3;
  params.checked = true;
  EXPECT_NE(same(apps::ppr{0.0}, roots.span(), roots_there.span(), params).find("still grows"), std::string::npos);
  std::vector<vertex_id> bad(roots.begin(), roots.end());
  bad[7] = 0x7fffffffU;
  bad[50] = no_vertex;
  auto const bad_there = copy_to_gpu(bad, exec);
  same(apps::khop{}, bad, bad_there.span(), params_of<apps::khop>());
  same(apps::multidim{}, bad, bad_there.span(), params_of<apps::multidim>());
}

TEST_F(application_by_transits, no_samples_give_nothing)
{
  graph const there = to_gpu(graph_cases()[0].host, exec);
  auto const none = run_application(there, apps::khop{}, {}, 4, params_of<apps::khop>(), exec);
  EXPECT_EQ(none.num_samples, 0);
}

}  // namespace
}  // namespace tendril
