// Applications that come as text grow the samples of the same struct compiled ahead of time; what is wrong with a text,
// or with what it does, is said in one line.

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/custom_application.hpp>
#include <tendril/engine/applications/cpu.hpp>
#include <tendril/generate.hpp>
#include <tendril/gpu.hpp>
#include <tendril/starts.hpp>

#include "examples/quiet_hops.hpp"
#include "support/compare_samples.hpp"
#include "support/custom_code.hpp"
#include "support/sampling_apps.hpp"
#include "support/source_text.hpp"

namespace tendril::test {
namespace {

namespace fs = std::filesystem;
using parameters = std::vector<custom_parameter>;

/// Members that every application needs, but for next().
std::string const sizes = "int steps() const { return 2; } std::int64_t sample_size(int) const { return 3; }\n";

/// next() that returns an expression.
std::string next_is(std::string const& expression)
{
  return "vertex_id next(sample_view& sample, transit_list const& transits, edge_list const& edges, int step, "
         "random_stream& rng) const { return " +
         expression + "; }\n";
}

std::string const any_neighbor = "edges.empty() ? no_vertex : edges[rng.bounded(edges.size())]";

class CustomApplication : public custom_code_test<custom_application> {
 protected:
  template <class A>
  void compare(A const& ahead, custom_application const& app, std::int64_t num_roots = 3, int max_steps = 0)
  {
    std::int64_t const n = 50;
    auto const roots = random_vertices(skewed.num_vertices(), n * num_roots, 5);
    for (auto const order : {sample_order::per_step, sample_order::per_sample}) {
      application_params params{.seed = 17, .max_steps = max_steps, .order = order};
      auto const expected = run_application(skewed, ahead, roots.span(), num_roots, params, {.num_threads = 1}, 9);
      expect_same_samples(expected, app.run(skewed, roots.span(), num_roots, params, {.num_threads = 1}, 9));
      expect_same_samples(expected, app.run(skewed, roots.span(), num_roots, params, {.num_threads = 3}, 9));
      expect_same_samples(expected, app.run(packed, roots.span(), num_roots, params, {}, 9));
    }
  }

  /// One of tests/support/sampling_apps.hpp, which includes the library's own.
  [[nodiscard]] custom_application app_of(std::string const& name, parameters const& values = {}) const
  {
    return custom_application(source_text("tests/support/sampling_apps.hpp"), "tendril::apps::" + name, values,
                              options);
  }

  /// What running it throws: the whole message.
  std::string problem_of(custom_application const& app, std::vector<vertex_id> const& roots, std::int64_t num_roots,
                         application_params const& params, std::int64_t first_sample = 0)
  {
    try {
      (void)app.run(skewed, roots, num_roots, params, {}, first_sample);
    } catch (argument_error const& problem) {
      return problem.what();
    }
    return "nothing";
  }

  graph skewed = generate_rmat({.scale = 9, .edge_factor = 8, .seed = 3}, {.symmetrize = true, .drop_duplicates = true},
                               {.has_weights = true});
  graph packed = compress(skewed, graph_form::best);
};

TEST_F(CustomApplication, IsTheStructCompiledAheadOfTime)
{
  compare(apps::khop{3, {4, 1, 2}},
          app_of("khop", {{"num_hops", std::int64_t{3}}, {"fanouts", std::vector<std::int64_t>{4, 1, 2}}}));
  compare(quiet_hops{{7, 5}, 3},
          custom_application(example_source("quiet_hops.hpp"), "",
                             {{"fanouts", std::vector<std::int64_t>{7, 5}}, {"tries", std::int64_t{3}}}, options));
}

TEST_F(CustomApplication, MayBeCollectiveAndUnique)
{
  compare(apps::unique_layer{20, 60}, app_of("unique_layer", {{"size", std::int64_t{20}}, {"most", std::int64_t{60}}}),
          2, 6);
}

TEST_F(CustomApplication, MayRecordEdges)
{
  compare(
      apps::importance{3, 24, true},
      app_of("importance", {{"layers", std::int64_t{3}}, {"size", std::int64_t{24}}, {"distinct", std::int64_t{1}}}),
      16);
}

TEST_F(CustomApplication, MayCarryStateAndReplaceRoots)
{
  compare(apps::smallest_root{}, app_of("smallest_root"));
  compare(apps::multidim{30}, app_of("multidim", {{"length", std::int64_t{30}}}), 5);
}

TEST_F(CustomApplication, MayRunUntilDone)
{
  auto const walk = app_of("ppr", {{"stop", 0.2}});
  compare(apps::ppr{0.2}, walk, 1, 3);
  compare(apps::ppr{0.2}, walk, 1, 40);  // more steps than it was asked about before
  compare(apps::ppr{0.2}, walk, 1, 3);
}

TEST_F(CustomApplication, IsPlannedWithoutRunning)
{
  auto const steps = app_of("khop", {{"fanouts", std::vector<std::int64_t>{4, 3}}}).plan(skewed, 10, 2, {});
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].num_transits, 2);
  EXPECT_EQ(steps[1].num_transits, 8);
  EXPECT_EQ(steps[1].sample_size, 3);
  EXPECT_EQ(steps[1].num_slots, 24);
  EXPECT_EQ(steps[1].executor, sampling_executor::sample_parallel);
  EXPECT_FALSE(steps[1].reason.empty());
  EXPECT_EQ(app_of("ppr").plan(skewed, 0, 1, {.max_steps = 7}).size(), 7U);
}

TEST_F(CustomApplication, NoSamplesGiveNothing)
{
  auto const none = app_of("importance").run(skewed, {}, 4, {});
  EXPECT_EQ(none.num_samples, 0);
  ASSERT_EQ(none.steps.size(), 5U);
  EXPECT_EQ(none.steps[0].edge_offsets.size(), 1);
}

TEST_F(CustomApplication, TakesTheStructAsBytes)
{
  quiet_hops const ahead{{3, 4}, 5};
  auto const bytes = std::as_bytes(std::span(&ahead, 1));
  auto const from = [&](std::span<std::byte const> fields) {
    return custom_application::from_bytes(example_source("quiet_hops.hpp"), "", fields, options);
  };
  compare(ahead, from(bytes));
  EXPECT_THROW(from(bytes.first(3)).compile(), argument_error);
}

TEST_F(CustomApplication, ShowsErrorsInTheCallersLines)
{
  EXPECT_TRUE(complaint("struct w {\n" + sizes +
                        "vertex_id next(sample_view&, transit_list const&, edge_list const& edges, int,\n"
                        "               random_stream& rng) const\n{\n  return edges[rng.die(6)];\n}\n};")
                  .starts_with("application: struct 'w' doesn't compile ("));
  EXPECT_NE(message.find("application.cpp:6:"), std::string::npos) << message;
  EXPECT_NE(message.find("die"), std::string::npos);
  EXPECT_EQ(message.find(folder.string()), std::string::npos) << "the temporary folder's name shows";
}

TEST_F(CustomApplication, SaysWhatAStructLacks)
{
  std::string const next = next_is("no_vertex");
  EXPECT_EQ(
      complaint("struct w { " + sizes + " };"),
      "application: struct 'w' needs a member 'vertex_id next(sample_view&, transit_list const&, edge_list const&, "
      "int step, random_stream&) const', with 'combined_edges const&' in the third place if sampling_type() is "
      "collective");
  EXPECT_EQ(complaint("struct w { std::int64_t sample_size(int) const { return 1; } " + next + "};"),
            "application: struct 'w' needs a member 'int steps() const', a number or until_done");
  EXPECT_EQ(
      complaint("struct w { int steps() const { return 1; } " + next + "};"),
      "application: struct 'w' needs a member 'std::int64_t sample_size(int step) const', calls of next() for each "
      "transit (collective: for each sample) of a step");
  EXPECT_EQ(complaint("struct w { bool unique() const { return true; } " + sizes + next + "};"),
            "application: struct 'w' 'unique' must be 'bool unique(int step) const'");
  EXPECT_EQ(complaint("struct w { static constexpr int sampling_type() { return 1; } " + sizes + next + "};"),
            "application: struct 'w' 'sampling_type' must be 'static constexpr sampling sampling_type()'");
  EXPECT_EQ(complaint("struct w { void end_step(int) const {} " + sizes + next + "};"),
            "application: struct 'w' 'end_step' must be 'void end_step(sample_view&, int step) const'");
  EXPECT_TRUE(complaint("struct w { static constexpr sampling sampling_type() { return sampling::collective; } " +
                        sizes + next + "};")
                  .starts_with("application: struct 'w' needs a member 'vertex_id next("));
  EXPECT_TRUE(complaint("struct w { virtual ~w(); " + sizes + next + "};")
                  .starts_with("application: struct 'w' must be trivially copyable"));
  EXPECT_TRUE(complaint("struct w { double many[200]; " + sizes + next + "};")
                  .starts_with("application: struct 'w' must not be larger than 1024 bytes"));
}

TEST_F(CustomApplication, RefusesNamesAndParametersThatTheSourceDoesntHave)
{
  std::string const source = "struct w { std::int32_t n; float x[2]; " + sizes + next_is(any_neighbor) + "};";
  EXPECT_EQ(complaint(source, "v"), "application: the source defines no struct 'v', expected 'struct v { … }'");
  EXPECT_EQ(complaint("int a;"),
            "application: the source defines 0 structs outside of namespaces, expected one, or its name among several");
  auto const with = [&](custom_parameter const& parameter) { return complaint(source, "w", {parameter}); };
  EXPECT_EQ(with({"n", std::int64_t{7}}), "nothing");
  EXPECT_EQ(with({"x", std::vector<double>{1, 2}}), "nothing");
  EXPECT_EQ(with({"m", std::int64_t{7}}), "parameter 'm': struct 'w' has no public field of that name");
  EXPECT_EQ(with({"n", 1.5}), "parameter 'n': a field of integers takes no fractions");
  EXPECT_EQ(with({"n", std::int64_t{1} << 40}),
            "parameter 'n': out of range, expected a value that its field in struct 'w' can hold");
  EXPECT_EQ(with({"x", std::vector<double>{1, 2, 3}}), "parameter 'x': a parameter has more values than its array");
}

TEST_F(CustomApplication, ReportsWhatSamplesDoWrong)
{
  custom_application const wild(
      "struct w { vertex_id far; " + sizes + next_is("step == 1 && sample.id >= 12 ? far : " + any_neighbor) + "};", "",
      {{"far", std::int64_t{512}}}, options);
  std::vector<vertex_id> const roots(6, 0);
  ASSERT_GT(skewed.csr().degree(0), 0U);
  EXPECT_EQ(problem_of(wild, roots, 1, {}, 10),
            "sample 12, step 1: next() returned a vertex that is out of range, the graph has 512 vertices");
  EXPECT_EQ(problem_of(wild, roots, 4, {}), "roots: 6 vertices, expected whole rows of 4");
  EXPECT_TRUE(problem_of(wild, {0, 512}, 1, {}).starts_with("root 1: vertex 512 is out of range"));
  EXPECT_EQ(problem_of(wild, roots, 1, {.max_steps = 1}), "application: steps() is 2, expected at most max_steps, 1");
}

TEST_F(CustomApplication, ReportsStepsThatAreMissingOrDontEnd)
{
  auto const walk = app_of("ppr", {{"stop", 0.0}});
  std::vector<vertex_id> const roots(3, 0);
  EXPECT_TRUE(problem_of(walk, roots, 1, {}).starts_with("max_steps: 0, expected 1 to "));
  EXPECT_EQ(problem_of(walk, roots, 1, {.max_steps = 4}), "nothing");
  EXPECT_EQ(problem_of(walk, roots, 1, {.max_steps = 4, .checked = true}, 7),
            "sample 7: it still grows after 4 steps, expected it to end within max_steps");
  custom_application const none(
      "struct w { int steps() const { return 0; } std::int64_t sample_size(int) const { return 1; } " +
          next_is("no_vertex") + "};",
      "", {}, options);
  EXPECT_TRUE(problem_of(none, roots, 1, {}).starts_with("application: steps() is 0, expected 1 to "));
}

TEST_F(CustomApplication, IsCompiledOnceWhateverItsParameters)
{
  std::string const source = example_source("quiet_hops.hpp");
  custom_application(source, "", {{"tries", std::int64_t{1}}}, options).compile();
  ASSERT_EQ(cached().size(), 1U) << "one library, and no temporary folder";
  auto const written = fs::last_write_time(cached()[0]);
  custom_application(source, "", {{"tries", std::int64_t{2}}}, options).compile();
  EXPECT_EQ(cached().size(), 1U) << "values don't change the code";
  EXPECT_EQ(fs::last_write_time(cached()[0]), written);
}

TEST_F(CustomApplication, WithoutCudaAGpuIsRefused)
{
  if (num_gpus() > 0) { GTEST_SKIP() << "there is a GPU"; }
  custom_application const app("struct w { " + sizes + next_is("no_vertex") + "};");
  EXPECT_THROW(app.compile(gpu_exec(0)), device_error);
  EXPECT_THROW((void)app.run(skewed, {}, 1, {}, gpu_exec(0)), device_error);
}

}  // namespace
}  // namespace tendril::test
