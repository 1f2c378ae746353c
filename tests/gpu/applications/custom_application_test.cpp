// Applications that come as text: what NVRTC compiles grows the samples that the CPU's executor does, by every
// executor. Compiling alone needs NVRTC but no GPU.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/custom_application.hpp>
#include <tendril/engine/applications/cpu.hpp>
#include <tendril/engine/applications/plan.hpp>
#include <tendril/generate.hpp>
#include <tendril/starts.hpp>

#include "examples/quiet_hops.hpp"
#include "jit/custom_application_state.hpp"
#include "support/compare_samples.hpp"
#include "support/nvrtc_test.hpp"
#include "support/sampling_apps.hpp"
#include "support/source_text.hpp"

namespace tendril::test {
namespace {

/// Hands use(name, text, parameters, the struct compiled ahead of time, max_steps) applications that between them have
/// every member.
template <class Use>
void for_each_application(Use use)
{
  std::string const all = source_text("tests/support/sampling_apps.hpp");
  use("quiet_hops", source_text("examples/quiet_hops.hpp"), parameters{{"tries", std::int64_t{3}}},
      quiet_hops{{10, 5}, 3}, 0);
  use("tendril::apps::khop", all,
      parameters{{"num_hops", std::int64_t{3}}, {"fanouts", std::vector<std::int64_t>{7, 1, 5}}},
      apps::khop{3, {7, 1, 5}}, 0);
  use("tendril::apps::unique_khop", all, parameters{}, apps::unique_khop{}, 0);
  use("tendril::apps::unique_layer", all, parameters{{"size", std::int64_t{100}}, {"most", std::int64_t{250}}},
      apps::unique_layer{100, 250}, 6);
  use("tendril::apps::importance", all, parameters{{"distinct", std::int64_t{1}}}, apps::importance{5, 64, true}, 0);
  use("tendril::apps::among_roots", all, parameters{}, apps::among_roots{}, 0);
  use("tendril::apps::multidim", all, parameters{{"length", std::int64_t{30}}}, apps::multidim{30}, 0);
  use("tendril::apps::smallest_root", all, parameters{}, apps::smallest_root{}, 0);
  use("tendril::apps::ppr", all, parameters{{"stop", 0.2}}, apps::ppr{0.2}, 20);
}

class ApplicationByNvrtc : public nvrtc_test {
 protected:
  static std::string complaint(std::string const& source, parameters values = {})
  {
    return nvrtc_test::complaint(jit::application_kind(), source, std::move(values));
  }
};

TEST_F(ApplicationByNvrtc, BecomesKernels)
{
  for_each_application(
      [](std::string const& name, std::string const& text, parameters const& values, auto const&, int) {
        jit::custom_code code(jit::application_kind());
        code.source = text;
        code.struct_name = name;
        code.parameters = values;
        for (graph_form const form : {graph_form::csr, graph_form::best}) {
          gpu::nvrtc_result const result = compile(code, jit::graph_of(form));
          ASSERT_TRUE(result.done) << name << ": " << result.log;
          EXPECT_EQ(result.log, "");
          EXPECT_EQ(result.cubin.substr(1, 3), "ELF");
          EXPECT_EQ(result.names.size(), jit::application_kind().kernels.size() + 1);
        }
      });
}

std::string const sizes = "int steps() const { return 2; } std::int64_t sample_size(int) const { return 3; }\n";

std::string next_is(std::string const& expression)
{
  return "vertex_id next(sample_view& sample, transit_list const&, edge_list const& edges, int step, random_stream& "
         "rng) const { return " +
         expression + "; }\n";
}

TEST_F(ApplicationByNvrtc, ErrorsAreInTheCallersLines)
{
  std::string const text = complaint("struct w {\n" + sizes + next_is("edges[rng.die(6)]") + "};");
  EXPECT_TRUE(text.starts_with("application: struct 'w' doesn't compile (NVRTC):\napplication.cpp(3): error")) << text;
  EXPECT_EQ(
      complaint("struct w { int steps() const { return 1; } " + next_is("no_vertex") + "};"),
      "application: struct 'w' needs a member 'std::int64_t sample_size(int step) const', calls of next() for each "
      "transit (collective: for each sample) of a step");
  EXPECT_TRUE(
      complaint("struct w { " + sizes + "};").starts_with("application: struct 'w' needs a member 'vertex_id "));
  EXPECT_EQ(complaint("struct w { bool unique() const { return true; } " + sizes + next_is("no_vertex") + "};"),
            "application: struct 'w' 'unique' must be 'bool unique(int step) const'");
  EXPECT_EQ(complaint("struct v { };"), "application: the source defines no struct 'w', expected 'struct w { … }'");
  std::string const good = "struct w { std::int32_t n; " + sizes + next_is("edges[rng.bounded(edges.size())]") + "};";
  EXPECT_EQ(complaint(good, {{"n", std::int64_t{2}}}), "nothing");
  EXPECT_EQ(complaint(good, {{"m", 1.5}}), "parameter 'm': struct 'w' has no public field of that name");
  EXPECT_EQ(complaint(good, {{"n", 1.5}}), "parameter 'n': a field of integers takes no fractions");
}

class CustomApplicationOnGpu : public nvrtc_gpu_test {
 protected:
  graph skewed = generate_rmat({.scale = 11, .edge_factor = 8, .seed = 3},
                               {.symmetrize = true, .drop_duplicates = true}, {.has_weights = true});
};

// The CPU's samples are those of the structs compiled ahead of time: where this runs there may be no compiler.
TEST_F(CustomApplicationOnGpu, IsThatOfTheCpu)
{
  graph const there = to_gpu(skewed, exec);
  graph const packed_there = to_gpu(compress(skewed, graph_form::best), exec);
  for_each_application([&](std::string const& name, std::string const& text, parameters const& values,
                           auto const& ahead, int max_steps) {
    custom_application const app(text, name, values, options);
    struct shape {
      std::int64_t num_samples, num_roots;
    };
    for (shape const s : {shape{1, 1}, shape{40, 3}, shape{300, 16}, shape{3000, 1}}) {
      auto const roots = random_vertices(skewed.num_vertices(), s.num_samples * s.num_roots, 5);
      auto const roots_there = copy_to_gpu(roots.span(), exec);
      for (auto const order : {sample_order::per_step, sample_order::per_sample}) {
        application_params params{.seed = 17, .max_steps = max_steps, .order = order};
        auto const expected = run_application(skewed, ahead, roots.span(), s.num_roots, params, {}, 11);
        for (auto const executor :
             {sampling_executor::automatic, sampling_executor::sample_parallel, sampling_executor::transit_parallel}) {
          SCOPED_TRACE(testing::Message()
                       << name << ", " << s.num_samples << " samples of " << s.num_roots << " roots, order "
                       << static_cast<int>(order) << ", executor " << static_cast<int>(executor));
          params.executor = executor;
          for (graph const& form : {there, packed_there}) {
            auto const found = app.run(form, roots_there.span(), s.num_roots, params, exec, 11);
            expect_same_samples(expected, found, &exec);
          }
        }
      }
    }
  });
}

TEST_F(CustomApplicationOnGpu, IsPlannedAsTheStructCompiledAheadOfTime)
{
  graph const there = to_gpu(skewed, exec);
  graph const packed_there = to_gpu(compress(skewed, graph_form::best), exec);
  for_each_application([&](std::string const& name, std::string const& text, parameters const& values,
                           auto const& ahead, int max_steps) {
    SCOPED_TRACE(name);
    application_params const params{.seed = 17, .max_steps = max_steps};
    auto const expected =
        engine::plan_steps(engine::job_of(ahead, 4'000'000, 4, params), there, params, exec);  // of 1,000,000 samples
    auto const found = custom_application(text, name, values, options).plan(there, 1'000'000, 4, params, exec);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t t = 0; t < found.size(); ++t) {
      EXPECT_EQ(found[t].executor, expected[t].executor);
      EXPECT_EQ(found[t].transit_seconds, expected[t].transit_seconds);
      EXPECT_EQ(found[t].reason, expected[t].reason);
    }
  });
}

TEST_F(CustomApplicationOnGpu, MayBeAskedForMoreStepsThanBefore)
{
  graph const there = to_gpu(skewed, exec);
  custom_application const app(source_text("tests/support/sampling_apps.hpp"), "tendril::apps::ppr", {{"stop", 0.05}},
                               options);
  auto const roots = random_vertices(skewed.num_vertices(), 500, 5);
  auto const roots_there = copy_to_gpu(roots.span(), exec);
  for (int const max_steps : {3, 60, 1, 200}) {
    application_params const params{.seed = 1, .max_steps = max_steps};
    expect_same_samples(run_application(skewed, apps::ppr{0.05}, roots.span(), 1, params),
                        app.run(there, roots_there.span(), 1, params, exec), &exec);
  }
}

TEST_F(CustomApplicationOnGpu, TakesTheStructAsBytes)
{
  graph const there = to_gpu(skewed, exec);
  quiet_hops const ahead{{3, 4}, 5};
  std::string const source = source_text("examples/quiet_hops.hpp");
  auto const bytes = std::as_bytes(std::span(&ahead, 1));
  auto const app = custom_application::from_bytes(source, "", bytes, options);
  auto const roots = random_vertices(skewed.num_vertices(), 500, 5);
  auto const roots_there = copy_to_gpu(roots.span(), exec);
  expect_same_samples(run_application(skewed, ahead, roots.span(), 1, {}),
                      app.run(there, roots_there.span(), 1, {}, exec), &exec);
  EXPECT_THROW(custom_application::from_bytes(source, "", bytes.first(3), options).compile(exec), argument_error);
}

TEST_F(CustomApplicationOnGpu, ReportsWhatTheCpuReports)
{
  graph const there = to_gpu(skewed, exec);
  struct wild : apps::khop {
    [[nodiscard]] vertex_id next(sample_view& sample, transit_list const&, edge_list const& edges, int step,
                                 random_stream& rng) const
    {
      return step == 1 && sample.id >= 12 ? 0xfffffff0U : edges.empty() ? no_vertex : edges[rng.bounded(edges.size())];
    }
  };
  custom_application const app("#include <tendril/engine/applications/apps.hpp>\nstruct wild : tendril::apps::khop { " +
                                   next_is("step == 1 && sample.id >= 12 ? 0xfffffff0U : edges.empty() ? no_vertex : "
                                           "edges[rng.bounded(edges.size())]") +
                                   "};",
                               "", {}, options);
  auto const roots = random_vertices(skewed.num_vertices(), 100, 5);
  auto const roots_there = copy_to_gpu(roots.span(), exec);
  auto const message_of = [](auto const& run) -> std::string {
    try {
      run();
    } catch (argument_error const& problem) {
      return problem.what();
    }
    return "nothing";
  };
  std::string const here = message_of([&] { (void)run_application(skewed, wild{}, roots.span(), 1, {}, {}, 3); });
  EXPECT_NE(here.find("next() returned a vertex"), std::string::npos) << here;
  EXPECT_EQ(message_of([&] { (void)app.run(there, roots_there.span(), 1, {}, exec, 3); }), here);

  std::string const source = source_text("tests/support/sampling_apps.hpp");
  custom_application const endless(source, "tendril::apps::ppr", {{"stop", 0.0}}, options);
  application_params const checked{.max_steps = 4, .checked = true};
  std::vector<vertex_id> const hub(100, roots[0]);
  auto const hub_there = copy_to_gpu(hub, exec);
  EXPECT_EQ(message_of([&] { (void)endless.run(there, hub_there.span(), 1, checked, exec); }),
            message_of([&] { (void)run_application(skewed, apps::ppr{0.0}, hub, 1, checked); }));
  EXPECT_EQ(message_of([&] { (void)endless.run(there, hub_there.span(), 1, {}, exec); }),
            message_of([&] { (void)run_application(skewed, apps::ppr{0.0}, hub, 1, {}); }));

  custom_application const right(source, "tendril::apps::khop", {}, options);
  EXPECT_EQ(right.run(there, roots_there.span(), 1, {}, exec).num_samples, 100) << "the GPU still works";
}

TEST_F(CustomApplicationOnGpu, IsCompiledOnceAndAgainWhereTheCacheIsDamaged)
{
  std::string const source = source_text("examples/quiet_hops.hpp");
  auto const files = [&] {
    return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
  };
  custom_application(source, "", {{"tries", std::int64_t{1}}}, options).compile(exec);
  ASSERT_EQ(files(), 1);
  std::filesystem::path const file = std::filesystem::directory_iterator(folder)->path();
  auto const written = std::filesystem::last_write_time(file);
  custom_application(source, "", {{"tries", std::int64_t{2}}}, options).compile(exec);
  EXPECT_EQ(std::filesystem::last_write_time(file), written);
  std::filesystem::resize_file(file, 300);
  custom_application(source, "", {{"tries", std::int64_t{2}}}, options).compile(exec);
  EXPECT_GT(std::filesystem::file_size(file), 1000U);
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace tendril::test
