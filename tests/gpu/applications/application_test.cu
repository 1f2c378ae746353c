// Sampling applications by the sample-parallel executor: the CPU's bytes, whatever the graph, the sizes and the order.

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/engine/applications/cpu.hpp>
#include <tendril/engine/applications/gpu.cuh>
#include <tendril/generate.hpp>
#include <tendril/starts.hpp>
#include <tendril/walk.hpp>

#include "support/application_params.hpp"
#include "support/compare_samples.hpp"
#include "support/gpu_forms.hpp"
#include "support/gpu_test.hpp"
#include "support/messages.hpp"
#include "support/sampling_apps.hpp"

namespace tendril {
namespace {

struct graph_case {
  char const* name;
  graph host;
};

std::vector<graph_case> graph_cases()
{
  std::vector<graph_case> out;
  out.push_back({"rmat10", generate_rmat({.scale = 10, .edge_factor = 8, .seed = 3}, {.drop_duplicates = true},
                                         {.has_weights = true})});
  out.push_back({"rmat14", generate_rmat({.scale = 14, .edge_factor = 16, .seed = 1},
                                         {.symmetrize = true, .drop_duplicates = true}, {.has_weights = true})});
  std::vector<vertex_id> hub(100'000, 0);
  std::vector<vertex_id> leaves(100'000);
  std::iota(leaves.begin(), leaves.end(), vertex_id{1});
  std::vector<float> const weights(100'000, 1.5F);
  out.push_back({"star", build_graph({hub, leaves, weights}, {.symmetrize = true})});
  out.push_back(
      {"no edges", generate_er({.num_vertices = 50, .num_edges = 0}, {.num_vertices = 50}, {.has_weights = true})});
  return out;
}

template <class A>
class any_application_on_gpu : public test::gpu_test {
};
using all_applications = testing::Types<apps::khop, apps::unique_khop, apps::layer, apps::unique_layer,
                                        apps::importance, apps::multidim, apps::ppr, apps::weighted_khop_scan,
                                        apps::among_roots, apps::smallest_root, apps::node2vec, apps::deepwalk>;
TYPED_TEST_SUITE(any_application_on_gpu, all_applications);

TYPED_TEST(any_application_on_gpu, is_the_cpus)
{
  struct shape {
    std::int64_t num_samples, num_roots;
  };
  for (auto const& [name, host] : graph_cases()) {
    graph const there = to_gpu(host, this->exec);
    graph const packed_there = to_gpu(compress(host, graph_form::best), this->exec);
    graph const partly_there = test::partly_on_gpu(host, 0.3, this->exec, {.policy = placement_policy::degree});
    for (shape const s : {shape{1, 1}, shape{37, 3}, shape{300, 16}, shape{5000, 1}}) {
      if (host.num_edges() > 150'000 && application_has::scans<TypeParam> && s.num_samples > 40) {
        continue;
      }  // slow on one core
      for (auto const order : {sample_order::per_step, sample_order::per_sample}) {
        SCOPED_TRACE(testing::Message() << name << ", " << s.num_samples << " samples of " << s.num_roots
                                        << " roots, order " << static_cast<int>(order));
        auto params = test::params_of<TypeParam>();
        params.order = order;
        auto const roots = random_vertices(host.num_vertices(), s.num_samples * s.num_roots, 5);
        auto const roots_there = copy_to_gpu(roots.span(), this->exec);
        auto const expected = run_application(host, TypeParam{}, roots.span(), s.num_roots, params, {}, 11);
        for (graph const& form : {there, packed_there, partly_there}) {
          auto const found =
              run_application(form, TypeParam{}, roots_there.span(), s.num_roots, params, this->exec, 11);
          test::expect_same_samples(expected, found, &this->exec);
        }
      }
    }
  }
}

class application_on_gpu : public test::gpu_test {};

TEST_F(application_on_gpu, no_samples_give_nothing)
{
  graph const there = to_gpu(graph_cases()[0].host, exec);
  auto const none = run_application(there, apps::importance{}, {}, 4, {}, exec);
  EXPECT_EQ(none.num_samples, 0);
  EXPECT_EQ(none.steps.at(0).edge_offsets.size(), 1);
}

TEST_F(application_on_gpu, many_slots_take_a_launch_a_step)
{
  graph const host = graph_cases()[1].host;
  graph const there = to_gpu(host, exec);
  auto const roots = random_vertices(host.num_vertices(), 20'000, 5);
  auto const roots_there = copy_to_gpu(roots.span(), exec);
  for (apps::khop const app : {apps::khop{2, {25, 10}}, apps::khop{3, {7, 1, 5}}, apps::khop{1, {300}}}) {
    auto const expected = run_application(host, app, roots.span(), 1, {.seed = 3});
    auto const found = run_application(there, app, roots_there.span(), 1, {.seed = 3}, exec);
    test::expect_same_samples(expected, found, &exec);
  }
}

TEST_F(application_on_gpu, deepwalk_is_random_walk)
{
  graph const there = to_gpu(graph_cases()[1].host, exec);
  auto const roots = random_vertices(there.num_vertices(), 3000, 5);
  auto const roots_there = copy_to_gpu(roots.span(), exec);
  auto const grown = run_application(there, apps::deepwalk::of(40, 8), roots_there.span(), 1,
                                     {.order = sample_order::per_sample}, exec, 100);
  walk_params params;
  params.length = 40;
  params.seed = 8;
  auto const walked = walker(there, params, 3000, exec).run(roots_there.span(), 100, exec);
  auto const rows = test::elements(walked.vertices, &exec);
  auto const found = test::elements(grown.vertices, &exec);
  for (std::size_t i = 0; i < 3000; ++i) {
    ASSERT_TRUE(std::equal(found.begin() + static_cast<std::ptrdiff_t>(i * 40),
                           found.begin() + static_cast<std::ptrdiff_t>(i * 40 + 40),
                           rows.begin() + static_cast<std::ptrdiff_t>(i * 41 + 1)))
        << "walk " << i;
  }
}

TEST_F(application_on_gpu, plans_group_only_what_scans_much)
{
  graph const there = to_gpu(graph_cases()[1].host, exec);
  std::int64_t const many = 1 << 20;
  for (auto const& plan : plan_application(there, apps::khop{}, many, 1, {}, exec)) {
    EXPECT_EQ(plan.executor, sampling_executor::sample_parallel) << plan.reason;
  }
  EXPECT_EQ(plan_application(there, apps::weighted_khop_scan{}, many, 1, {}, exec).at(1).executor,
            sampling_executor::transit_parallel);
  EXPECT_EQ(plan_application(there, apps::weighted_khop_scan{}, 2, 1, {}, exec).at(1).executor,
            sampling_executor::sample_parallel);
  application_params forced;
  forced.executor = sampling_executor::transit_parallel;
  EXPECT_EQ(plan_application(there, apps::khop{}, 1, 1, forced, exec).at(0).executor,
            sampling_executor::transit_parallel);
}

TEST_F(application_on_gpu, steps_of_different_executors_make_one_sample)
{
  graph const host = graph_cases()[1].host;
  graph const there = to_gpu(host, exec);
  apps::weighted_khop_scan const app{2, {1, 8}};
  auto const roots = random_vertices(host.num_vertices(), 12'000, 5);
  auto const roots_there = copy_to_gpu(roots.span(), exec);
  auto const plans = plan_application(there, app, 12'000, 1, {}, exec);
  EXPECT_NE(plans.at(0).executor, plans.at(1).executor) << plans[0].reason << "; " << plans[1].reason;
  test::expect_same_samples(run_application(host, app, roots.span(), 1, {.seed = 1}),
                            run_application(there, app, roots_there.span(), 1, {.seed = 1}, exec), &exec);
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

TEST_F(application_on_gpu, problems_are_those_of_the_cpu)
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
  application_params params;
  EXPECT_NE(same(wild{}, roots.span(), roots_there.span(), params).find("sample 5, step 1"), std::string::npos);
  params.max_steps = 3;
  params.checked = true;
  EXPECT_NE(same(apps::ppr{0.0}, roots.span(), roots_there.span(), params).find("still grows"), std::string::npos);
  std::vector<vertex_id> bad(roots.begin(), roots.end());
  bad[7] = 0x7fffffffU;
  bad[50] = no_vertex;
  auto const bad_there = copy_to_gpu(bad, exec);
  same(apps::khop{}, bad, bad_there.span(), application_params{});
  same(apps::multidim{}, bad, bad_there.span(), application_params{});
}

}  // namespace
}  // namespace tendril
