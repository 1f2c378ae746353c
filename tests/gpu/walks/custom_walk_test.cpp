// Walks that come as text: what NVRTC compiles gives the rows that the CPU's compiler does. Compiling alone needs NVRTC
// but no GPU.

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <tendril/custom_walk.hpp>
#include <tendril/engine/walks/cpu.hpp>
#include <tendril/generate.hpp>

#include "examples/metapath2vec_walk.hpp"
#include "examples/time_decay_walk.hpp"
#include "jit/custom_walk_state.hpp"
#include "support/custom_walks.hpp"
#include "support/gpu_copies.hpp"
#include "support/graph_forms.hpp"
#include "support/nvrtc_test.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

namespace fs = std::filesystem;

/// Hands use(text, parameters, the struct compiled ahead of time) every walk.
template <class Use>
void for_each_walk(Use use)
{
  use(example_source("time_decay_walk.hpp"), parameters{{"tau", 0.25}}, time_decay_walk{0.25F});
  use(example_source("metapath2vec_walk.hpp"),
      parameters{{"size", std::int64_t{4}}, {"schema", std::vector<std::int64_t>{0, 1, 2, 1}}},
      metapath2vec_walk{{0, 1, 2, 1}, 4});
  use(small_weights_walk_text, parameters{}, small_weights_walk{});
  use(edge_bound_walk_text, parameters{}, edge_bound_walk{});
  use(rejecting_walk_text, parameters{{"low", 0.5}}, rejecting_walk{0.5F});
}

class CompiledByNvrtc : public nvrtc_test {
 protected:
  static std::string complaint(std::string const& source, parameters values = {})
  {
    return nvrtc_test::complaint(jit::walk_kind(), source, std::move(values));
  }
};

TEST_F(CompiledByNvrtc, WalksBecomeKernels)
{
  for_each_walk([](std::string const& text, parameters const& values, auto const&) {
    custom_walk::state walk;
    walk.source = text;
    walk.struct_name = custom_walk(text).struct_name();
    walk.parameters = values;
    for (jit::unit_graph const graph : {jit::unit_graph::csr, jit::unit_graph::compressed}) {
      gpu::nvrtc_result const result = compile(walk, graph);
      ASSERT_TRUE(result.done) << result.log;
      EXPECT_EQ(result.log, "");
      EXPECT_EQ(result.cubin.substr(1, 3), "ELF");
      EXPECT_EQ(result.names.size(), jit::walk_kind().kernels.size() + 1);
    }
  });
}

TEST_F(CompiledByNvrtc, ErrorsAreInTheCallersLines)
{
  std::string const text = complaint(
      "struct w {\n float weight(walk_state const&, walk_edge const&) const\n {\n  return "
      "heavy;\n }\n};");
  EXPECT_TRUE(text.starts_with("walk: struct 'w' doesn't compile (NVRTC):\nwalk.cpp(4): error")) << text;
  EXPECT_EQ(complaint("struct w { int weigh; };"),
            "walk: struct 'w' needs a member 'float weight(walk_state const&, walk_edge const&) const'");
  EXPECT_EQ(complaint("struct v { };"), "walk: the source defines no struct 'w', expected 'struct w { … }'");
  std::string const good = "struct w { int n; " + weight_of("1") + " };";
  EXPECT_EQ(complaint(good, {{"n", std::int64_t{2}}}), "nothing");
  EXPECT_EQ(complaint(good, {{"m", 1.5}}), "parameter 'm': struct 'w' has no public field of that name");
  EXPECT_EQ(complaint(good, {{"n", 1.5}}), "parameter 'n': a field of integers takes no fractions");
}

/// The vertex of the largest degree.
vertex_id hub_of(graph const& g)
{
  vertex_id hub = 0;
  for (vertex_id v = 0; v < g.num_vertices(); ++v) { hub = g.csr().degree(v) > g.csr().degree(hub) ? v : hub; }
  return hub;
}

class CustomWalkOnGpu : public nvrtc_gpu_test {
 protected:
  /// The rows of a walk on the GPU, graph and starts in host memory.
  std::vector<vertex_id> rows_there(custom_walk const& walk, graph const& g, std::vector<vertex_id> const& starts,
                                    dynamic_walk_params const& params)
  {
    auto const from = on_gpu(starts, exec);
    return copied(walk.run(to_gpu(g, exec), from.span(), params, exec, 3).vertices);
  }

  graph skewed = generate_rmat({.scale = 11, .seed = 3}, {.symmetrize = true},
                               {.has_weights = true, .num_labels = 3, .num_node_types = 3});
};

// The CPU's walks are those of the structs compiled ahead of time: where this runs there may be no compiler.
TEST_F(CustomWalkOnGpu, IsThatOfTheCpu)
{
  graph const zoo = make_zoo(11);
  for_each_walk([&](std::string const& text, parameters const& values, auto const& ahead) {
    custom_walk const walk(text, "", values, options);
    for (graph const* g : {&std::as_const(skewed), &zoo}) {
      auto const starts = starts_everywhere(*g, 2);
      for (auto const rule : {sampling_rule::automatic, sampling_rule::scan}) {
        dynamic_walk_params const params{.length = 30, .restart_prob = 0.02, .rule = rule, .seed = 6};
        walks const here = run_dynamic_walk(*g, ahead, starts, params, cpu_exec{}, 3);
        for (graph const& form : in_all_forms(*g)) {
          auto const there = rows_there(walk, form, starts, params);
          EXPECT_TRUE(std::equal(there.begin(), there.end(), here.vertices.begin(), here.vertices.end())) << text;
        }
        EXPECT_GT(*std::max_element(here.lengths.begin(), here.lengths.end()), 3) << "no walk got anywhere";
      }
    }
  });
}

TEST_F(CustomWalkOnGpu, TakesTheStructAsBytes)
{
  float const tau = 2;
  std::string const source = example_source("time_decay_walk.hpp");
  auto const walk = custom_walk::from_bytes(source, "", std::as_bytes(std::span(&tau, 1)), options);
  custom_walk const by_name(source, "", {{"tau", 2.0}}, options);
  auto const starts = starts_everywhere(skewed, 1);
  EXPECT_EQ(rows_there(walk, skewed, starts, {.length = 20}), rows_there(by_name, skewed, starts, {.length = 20}));
  auto const wrong = custom_walk::from_bytes(source, "", std::as_bytes(std::span(&tau, 1)).first(2), options);
  EXPECT_THROW(wrong.compile(exec), argument_error);
}

TEST_F(CustomWalkOnGpu, ReportsWhatTheCpuReports)
{
  custom_walk const walk(signed_walk_text, "", {{"sign", -1.0}}, options);
  std::vector<vertex_id> const starts(100, hub_of(skewed));  // the first walk is the first that goes wrong, everywhere
  std::string here;
  try {
    (void)run_dynamic_walk(skewed, signed_walk{-1}, starts, {.length = 3}, cpu_exec{1}, 3);
  } catch (argument_error const& problem) {
    here = problem.what();
  }
  try {
    (void)rows_there(walk, skewed, starts, {.length = 3});
    FAIL() << "a negative weight went unnoticed";
  } catch (argument_error const& problem) {
    EXPECT_EQ(problem.what(), here);
  }
  custom_walk const right(small_weights_walk_text, "", {}, options);
  EXPECT_EQ(rows_there(right, skewed, starts, {.length = 3}).size(), starts.size() * 4) << "the GPU still works";
}

TEST_F(CustomWalkOnGpu, IsCompiledOnceAndAgainWhereTheCacheIsDamaged)
{
  std::string const source = "struct w { float tau; " + weight_of("tau") + " };";
  auto const files = [&] { return std::distance(fs::directory_iterator(folder), fs::directory_iterator()); };
  custom_walk(source, "", {{"tau", 1.0}}, options).compile(exec);
  ASSERT_EQ(files(), 1);
  fs::path const file = fs::directory_iterator(folder)->path();
  auto const written = fs::last_write_time(file);
  custom_walk(source, "", {{"tau", 2.0}}, options).compile(exec);
  EXPECT_EQ(fs::last_write_time(file), written);
  fs::resize_file(file, 300);
  custom_walk(source, "", {{"tau", 2.0}}, options).compile(exec);
  EXPECT_GT(fs::file_size(file), 1000U);
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace tendril::test
