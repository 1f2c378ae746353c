// Walks that come as text are those of the same struct compiled ahead of time; what is wrong with a text is said in one
// line; what was compiled is found again, by any process.

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tendril/custom_walk.hpp>
#include <tendril/engine/walks/cpu.hpp>
#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/gpu.hpp>

#include "examples/metapath2vec_walk.hpp"
#include "examples/time_decay_walk.hpp"
#include "support/custom_code.hpp"
#include "support/custom_walks.hpp"
#include "support/graph_forms.hpp"
#include "support/small_graphs.hpp"
#include "support/walk_rows.hpp"

namespace tendril::test {
namespace {

namespace fs = std::filesystem;

class CustomWalk : public custom_code_test<custom_walk> {
 protected:
  template <class W>
  void compare(graph const& g, W const& ahead, custom_walk const& walk, dynamic_walk_params const& params)
  {
    auto const starts = starts_everywhere(g, 2);
    rows const expected = rows_of(run_dynamic_walk(g, ahead, starts, params, cpu_exec{}, 3));
    EXPECT_GT(*std::max_element(expected.lengths.begin(), expected.lengths.end()), 3) << "no walk got anywhere";
    for (graph const& form : in_all_forms(g)) {
      EXPECT_EQ(rows_of(walk.run(form, starts, params, cpu_exec{}, 3)), expected);
    }
  }

  graph skewed = generate_rmat({.scale = 9, .seed = 3}, {.symmetrize = true},
                               {.has_weights = true, .num_labels = 3, .num_node_types = 3});
};

TEST_F(CustomWalk, IsTheStructCompiledAheadOfTime)
{
  custom_walk const decay(example_source("time_decay_walk.hpp"), "", {{"tau", 0.25}}, options);
  EXPECT_EQ(decay.struct_name(), "time_decay_walk");
  for (auto const rule : {sampling_rule::automatic, sampling_rule::scan}) {
    compare(skewed, time_decay_walk{0.25F}, decay, {.length = 30, .stop_prob = 0.01, .rule = rule, .seed = 6});
  }
  custom_walk const path(example_source("metapath2vec_walk.hpp"), "metapath2vec_walk",
                         {{"size", std::int64_t{4}}, {"schema", std::vector<std::int64_t>{0, 1, 2, 1}}}, options);
  compare(skewed, metapath2vec_walk{{0, 1, 2, 1}, 4}, path, {.length = 30, .restart_prob = 0.05, .seed = 6});
  compare(make_zoo(11), metapath2vec_walk{{0, 1, 2, 1}, 4}, path, {.length = 30, .dead_ends = dead_end::repeat});
  compare(skewed, edge_bound_walk{}, custom_walk(edge_bound_walk_text, "", {}, options), {.length = 30});
  for (auto const rule : {sampling_rule::automatic, sampling_rule::scan}) {
    custom_walk const rejecting(rejecting_walk_text, "", {{"low", 0.5}}, options);
    compare(skewed, rejecting_walk{0.5F}, rejecting, {.length = 30, .rule = rule});
  }
}

TEST_F(CustomWalk, TakesTheStructAsBytes)
{
  time_decay_walk const ahead{2};
  auto const bytes = std::as_bytes(std::span(&ahead, 1));
  auto const from = [&](std::span<std::byte const> fields) {
    return custom_walk::from_bytes(example_source("time_decay_walk.hpp"), "time_decay_walk", fields, options);
  };
  compare(skewed, ahead, from(bytes), {.length = 10, .seed = 4});
  EXPECT_THROW(from(bytes.first(3)).compile(), argument_error);
}

TEST_F(CustomWalk, KeepsTheValuesThatTheStructGivesItsFields)
{
  std::string const source = "struct w { float tau = 0.25f; " + weight_of("tau") + " };";
  custom_walk const by_default(source, "", {}, options);
  custom_walk const by_name(source, "", {{"tau", 0.25}}, options);
  custom_walk const other(source, "", {{"tau", std::int64_t{3}}}, options);
  auto const starts = starts_everywhere(skewed, 1);
  auto const rows = [&](custom_walk const& walk) {
    walks const out = walk.run(skewed, starts, {.length = 20});
    return std::vector<vertex_id>(out.vertices.begin(), out.vertices.end());
  };
  EXPECT_EQ(rows(by_default), rows(by_name));
  EXPECT_NE(rows(by_default), rows(other));
}

TEST_F(CustomWalk, ShowsErrorsInTheCallersLines)
{
  EXPECT_TRUE(complaint("struct w {\n  float weight(walk_state const& s, walk_edge const& e) const\n  {\n    return "
                        "heavy;\n  }\n};")
                  .starts_with("walk: struct 'w' doesn't compile ("));
  EXPECT_NE(message.find("walk.cpp:4:"), std::string::npos) << message;
  EXPECT_NE(message.find("heavy"), std::string::npos);
  EXPECT_EQ(message.find(folder.string()), std::string::npos) << "the temporary folder's name shows";
}

TEST_F(CustomWalk, SaysWhatAStructLacks)
{
  EXPECT_EQ(complaint("struct w { int weigh; };"),
            "walk: struct 'w' needs a member 'float weight(walk_state const&, walk_edge const&) const'");
  EXPECT_EQ(complaint("struct w { float weight(walk_state const&) const { return 1; } };"),
            "walk: struct 'w' needs a member 'float weight(walk_state const&, walk_edge const&) const'");
  EXPECT_EQ(
      complaint("struct w { " + weight_of("1") + " float bound() const { return 1; } };"),
      "walk: struct 'w' 'bound' must be 'float bound(walk_state const&) const' or 'float bound(walk_state const&, "
      "walk_edge const&) const'");
  EXPECT_TRUE(complaint("struct w { virtual ~w(); " + weight_of("1") + "};")
                  .starts_with("walk: struct 'w' must be trivially copyable"));
  EXPECT_TRUE(complaint("struct w { float many[300]; " + weight_of("1") + "};")
                  .starts_with("walk: struct 'w' must not be larger than 1024 bytes"));
}

TEST_F(CustomWalk, RefusesNamesThatTheSourceDoesntHave)
{
  EXPECT_EQ(complaint("struct w { " + weight_of("1") + " };", "v"),
            "walk: the source defines no struct 'v', expected 'struct v { … }'");
  EXPECT_EQ(complaint("struct w { " + weight_of("1") + " };", "v;"),
            "struct_name: 'v;', expected the name of a struct in the source");
  EXPECT_EQ(complaint("struct a {}; struct b {};"),
            "walk: the source defines 2 structs outside of namespaces, expected one, or its name among several");
  EXPECT_EQ(complaint("/* struct a {}; */ struct b { struct c {}; " + weight_of("1") + " };"), "nothing");
  EXPECT_EQ(complaint("namespace n { struct w { " + weight_of("1") + " }; }", "n::w"), "nothing");
}

TEST_F(CustomWalk, RefusesParametersThatDontFit)
{
  std::string const source =
      "struct w { float tau; unsigned char small; label_id list[2]; vertex_id v; " + weight_of("tau") + " };";
  auto const with = [&](custom_parameter const& parameter) { return complaint(source, "w", {parameter}); };
  EXPECT_EQ(with({"tau", 1.5}), "nothing");
  EXPECT_EQ(with({"small", std::int64_t{255}}), "nothing");
  EXPECT_EQ(with({"list", std::vector<std::int64_t>{65535}}), "nothing");
  EXPECT_EQ(with({"rho", 1.5}), "parameter 'rho': struct 'w' has no public field of that name");
  EXPECT_EQ(with({"small", 1.5}), "parameter 'small': a field of integers takes no fractions");
  char const* const range = ": out of range, expected a value that its field in struct 'w' can hold";
  EXPECT_EQ(with({"small", std::int64_t{256}}), std::string("parameter 'small'") + range);
  EXPECT_EQ(with({"v", std::int64_t{-1}}), std::string("parameter 'v'") + range);
  EXPECT_EQ(with({"list", std::vector<std::int64_t>{1, 65536}}), std::string("parameter 'list'") + range);
  EXPECT_EQ(with({"list", std::vector<std::int64_t>{1, 2, 3}}),
            "parameter 'list': a parameter has more values than its array");
  EXPECT_EQ(with({"list", std::vector<std::int64_t>{}}), "parameter 'list': no values, expected one at least");
  EXPECT_EQ(with({"tau; }", 1.5}), "parameter 'tau; }': expected the name of a field of struct 'w'");
}

TEST_F(CustomWalk, ReportsWrongWeights)
{
  custom_walk const walk(signed_walk_text, "", {{"sign", -1.0}}, options);
  auto const starts = starts_everywhere(skewed, 1);
  std::string expected;
  try {
    (void)run_dynamic_walk(skewed, signed_walk{-1}, starts, {.length = 3}, cpu_exec{1});
  } catch (argument_error const& problem) {
    expected = problem.what();
  }
  try {
    (void)walk.run(skewed, starts, {.length = 3}, cpu_exec{1});
    FAIL() << "a negative weight went unnoticed";
  } catch (argument_error const& problem) {
    EXPECT_EQ(problem.what(), expected);
  }
}

TEST_F(CustomWalk, IsCompiledOnce)
{
  std::string const source = "struct w { float tau; " + weight_of("tau") + " };";
  custom_walk(source, "", {{"tau", 1.0}}, options).compile();
  ASSERT_EQ(cached().size(), 1U) << "one library, and no temporary folder";
  auto const written = fs::last_write_time(cached()[0]);
  custom_walk(source, "", {{"tau", 2.0}}, options).compile();
  EXPECT_EQ(cached().size(), 1U) << "values don't change the code";
  EXPECT_EQ(fs::last_write_time(cached()[0]), written);
  custom_walk(source + " // changed", "", {{"tau", 2.0}}, options).compile();
  EXPECT_EQ(cached().size(), 2U);
}

TEST_F(CustomWalk, SurvivesACacheThatIsDamagedOrCantBeUsed)
{
  std::string const source = "struct w { " + weight_of("1") + " };";
  {
    custom_walk(source, "", {}, options).compile();
  }
  ASSERT_EQ(cached().size(), 1U);
  fs::path const file = cached()[0];
  auto const size = fs::file_size(file);
  fs::resize_file(file, size - 1000);
  compare(skewed, small_weights_walk{}, custom_walk(source, "", {}, options), {.length = 20});
  EXPECT_EQ(fs::file_size(file), size) << "the damaged file was replaced";
  std::fstream(file).seekp(static_cast<std::streamoff>(size / 2)) << "else";
  compare(skewed, small_weights_walk{}, custom_walk(source, "", {}, options), {.length = 20});
  EXPECT_EQ(fs::file_size(file), size);
  options.cache_folder = "/proc/tendril";
  compare(skewed, small_weights_walk{}, custom_walk(source, "", {}, options), {.length = 20});
}

TEST_F(CustomWalk, IsCompiledByTwoProcessesAtOnce)
{
  std::string const source = "struct w { " + weight_of("1") + " };";
  auto const child = [&] {
    pid_t const id = fork();
    if (id == 0) {
      bool done = true;
      try {
        custom_walk(source, "", {}, options).compile();
      } catch (...) {
        done = false;
      }
      _exit(done ? 0 : 1);
    }
    return id;
  };
  pid_t const both[] = {child(), child()};
  for (pid_t const id : both) {
    int status = 1;
    ASSERT_EQ(waitpid(id, &status, 0), id);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(cached().size(), 1U);
  compare(skewed, small_weights_walk{}, custom_walk(source, "", {}, options), {.length = 20});
}

TEST_F(CustomWalk, NeedsACompiler)
{
  options.compiler = "no-such-compiler -v";
  EXPECT_EQ(complaint("struct w { " + weight_of("1") + " };"),
            "C++ compiler: there is no program 'no-such-compiler', expected one");
}

TEST_F(CustomWalk, WithoutCudaAGpuIsRefused)
{
  if (num_gpus() > 0) { GTEST_SKIP() << "there is a GPU"; }
  EXPECT_THROW(custom_walk("struct w { " + weight_of("1") + " };").compile(gpu_exec(0)), device_error);
}

}  // namespace
}  // namespace tendril::test
