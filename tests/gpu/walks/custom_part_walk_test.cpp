// Walks that came as text, of ranks whose parts lie on GPUs: those of one process, to the byte. CPU twin:
// tests/dist/custom_walks_test.cpp.

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/custom_walk.hpp>
#include <tendril/engine/walks/cpu.hpp>
#include <tendril/generate.hpp>
#include <tendril/sharded_walk.hpp>
#include <tendril/walk_parts.hpp>

#include "dist/failure_of.hpp"
#include "gpu/device/check.hpp"
#include "jit/custom_walk_state.hpp"
#include "support/custom_walks.hpp"
#include "support/gpu_copies.hpp"
#include "support/graph_forms.hpp"
#include "support/nvrtc_test.hpp"
#include "support/small_graphs.hpp"
#include "support/walk_rows.hpp"

namespace tendril::test {
namespace {

class PartsByNvrtc : public nvrtc_test {};

TEST_F(PartsByNvrtc, HaveKernelsOfTheirOwn)
{
  for (std::string const& text :
       {small_weights_walk_text, edge_bound_walk_text, rejecting_walk_text, all_of_state_walk_text}) {
    custom_walk::state walk;
    walk.source = text;
    walk.struct_name = custom_walk(text).struct_name();
    for (auto const parts : {jit::unit_graph::part, jit::unit_graph::compressed_part}) {
      gpu::nvrtc_result const result = compile(walk, parts);
      ASSERT_TRUE(result.done) << result.log;
      EXPECT_EQ(result.log, "");
      EXPECT_EQ(result.names.size(), jit::walk_kind().part_kernels.size() + 1);
    }
  }
}

TEST_F(PartsByNvrtc, DontReadOtherVertices)
{
  for (std::string const read : {"s.graph.has_edge(s.previous, e.target())", "s.graph.row(e.target()).degree()",
                                 "s.previous_weight()", "s.previous_edge"}) {
    custom_walk::state walk;
    walk.source = "struct w { float weight(walk_state const& s, walk_edge const& e) const { return float(" + read +
                  ") + e.weight(); } };";
    walk.struct_name = "w";
    EXPECT_TRUE(compile(walk).done) << read;
    for (auto const parts : {jit::unit_graph::part, jit::unit_graph::compressed_part}) {
      gpu::nvrtc_result const result = compile(walk, parts);
      EXPECT_FALSE(result.done) << read;
      EXPECT_NE(result.log.find("walk.cpp"), std::string::npos) << result.log;
    }
  }
}

class CustomPartWalk : public nvrtc_gpu_test {
 protected:
  static gpu_exec exec_of(transport const& ranks) { return gpu_exec(ranks.rank() % num_gpus()); }

  /// Walks of all ranks, each asking for a part of them.
  static rows on_ranks(graph const& g, int num_ranks, custom_walk const& walk, dynamic_walk_params const& params,
                       std::vector<vertex_id> const& starts, std::int64_t first_walk)
  {
    std::size_t const width = static_cast<std::size_t>(params.length) + 1;
    rows out{std::vector<vertex_id>(starts.size() * width), std::vector<std::int32_t>(starts.size())};
    run_ranks(
        num_ranks,
        [&](transport& ranks) {
          gpu_exec const here = exec_of(ranks);
          gpu::device_guard const guard(here.device);
          sharded_walker sharded(part_of(g, {.num_parts = num_ranks}, ranks.rank()), walk, params, ranks, here);
          walk_range const mine = walks_of({ranks.rank(), num_ranks}, std::ssize(starts));
          std::vector<vertex_id> const own(starts.begin() + mine.first, starts.begin() + mine.first + mine.size);
          rows const made = copied_rows(sharded.run(on_gpu(own, here).span(), first_walk + mine.first, here));
          std::copy(made.vertices.begin(), made.vertices.end(),
                    out.vertices.begin() + static_cast<std::ptrdiff_t>(width) * mine.first);
          std::copy(made.lengths.begin(), made.lengths.end(), out.lengths.begin() + mine.first);
        },
        transport::seconds(60));
    return out;
  }

  /// The CPU's walks are those of the struct compiled ahead of time: where this runs there may be no compiler.
  template <class W>
  void compare(W const& ahead, std::string const& text, parameters const& values, dynamic_walk_params const& params)
  {
    custom_walk const walk(text, "", values, options);
    for (graph const* g : {&zoo, &skewed}) {
      auto const starts = starts_everywhere(*g, 2);
      rows const expected = rows_of(run_dynamic_walk(*g, ahead, starts, params, cpu_exec{}, 0xfffffff0LL));
      for (int const n : {1, 2, 3}) {
        rows const made = on_ranks(*g, n, walk, params, starts, 0xfffffff0LL);
        ASSERT_EQ(made.lengths, expected.lengths) << text << n << " ranks";
        ASSERT_EQ(made.vertices, expected.vertices) << text << n << " ranks";
      }
      for (graph const& parts : in_compressed_forms(*g)) {
        rows const made = on_ranks(parts, 2, walk, params, starts, 0xfffffff0LL);
        ASSERT_EQ(made.lengths, expected.lengths) << text << to_string(parts.form());
        ASSERT_EQ(made.vertices, expected.vertices) << text << to_string(parts.form());
      }
      EXPECT_GT(*std::max_element(expected.lengths.begin(), expected.lengths.end()), 3) << "no walk got anywhere";
    }
  }

  graph zoo = make_zoo(3);
  graph skewed = generate_rmat({.scale = 12, .edge_factor = 16, .seed = 3}, {.symmetrize = true},
                               {.has_weights = true, .num_labels = 3, .num_node_types = 3});
};

TEST_F(CustomPartWalk, IsThatOfOneProcess)
{
  compare(small_weights_walk{}, small_weights_walk_text, {}, {.length = 12});
  compare(edge_bound_walk{}, edge_bound_walk_text, {}, {.length = 12, .dead_ends = dead_end::repeat, .seed = 5});
  compare(all_of_state_walk{}, all_of_state_walk_text, {}, {.length = 20, .restart_prob = 0.1, .seed = 9});
  for (auto const rule : {sampling_rule::automatic, sampling_rule::scan}) {
    compare(rejecting_walk{0.5F}, rejecting_walk_text, {{"low", 0.5}},
            {.length = 15, .stop_prob = 0.05, .restart_prob = 0.2, .rule = rule});
    // Stops of its own, and starts that lead nowhere: only the latter repeat.
    compare(rejecting_walk{0.5F}, rejecting_walk_text, {{"low", 0.5}},
            {.length = 14, .dead_ends = dead_end::repeat, .rule = rule});
  }
}

TEST_F(CustomPartWalk, IsSaidByItsReport)
{
  custom_walk const walk(rejecting_walk_text, "", {{"low", 0.5}}, options);
  run_ranks(2, [&](transport& ranks) {
    sharded_walker sharded(part_of(skewed, {.num_parts = 2}, ranks.rank()), walk, {.length = 10}, ranks,
                           exec_of(ranks));
    EXPECT_EQ(sharded.plan().rule, sampling_rule::reject);
    auto const report = sharded.stream({.num_walks = 100, .starts = every_vertex(1), .sink = [](walk_rows const&) {}});
    EXPECT_EQ(report.moved_bytes, 12 * report.moved);
    EXPECT_GT(report.moved, 0);
  });
}

TEST_F(CustomPartWalk, NamesWhatIsWrong)
{
  auto const said = [&](std::string const& text, parameters const& values, dynamic_walk_params const& params) {
    custom_walk const walk(text, "", values, options);
    return failure_of(2, [&](transport& ranks) {
      gpu_exec const here = exec_of(ranks);
      gpu::device_guard const guard(here.device);
      sharded_walker sharded(part_of(skewed, {.num_parts = 2}, ranks.rank()), walk, params, ranks, here);
      (void)sharded.run(on_gpu(std::vector<vertex_id>{1, 2, 3}, here).span(), 0, here);
    });
  };
  std::string const negative = said(signed_walk_text, {{"sign", -1.0}}, {.length = 4});
  EXPECT_NE(negative.find("weight: -"), std::string::npos) << negative;
  std::string const rule = said(small_weights_walk_text, {}, {.length = 4, .rule = sampling_rule::reject});
  EXPECT_NE(rule.find("reject"), std::string::npos) << rule;
  EXPECT_NE(said(small_weights_walk_text, {}, {.length = -1}).find("length"), std::string::npos);
  std::string const other =
      "struct w { float weight(walk_state const& s, walk_edge const& e) const { return "
      "s.graph.has_edge(s.previous, e.target()) ? 1 : 2; } };";
  EXPECT_NE(said(other, {}, {.length = 4}).find("on parts of a graph, where a walk reads the edges"),
            std::string::npos);
}

}  // namespace
}  // namespace tendril::test
