// One sample everywhere: the GPU's walks are the CPU's, to the byte, for every application and rule, whatever the batch
// and the order of the output.

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/walk.hpp>

#include "support/gpu_copies.hpp"
#include "support/gpu_forms.hpp"
#include "support/gpu_test.hpp"
#include "support/small_graphs.hpp"
#include "support/table_limits.hpp"
#include "support/walk_rows.hpp"

namespace tendril::test {
namespace {

class WalkOnGpu : public gpu_test {
 protected:
  /// Walks by every application, on both sides, on the GPU on every form of the graph; `expected_walks` decides about
  /// tables.
  void compare(graph const& g, std::vector<vertex_id> const& starts, std::int64_t length, std::int64_t expected_walks)
  {
    auto const forms = all_forms_on_gpu(g, exec);
    auto const from = on_gpu(starts, exec);
    std::int64_t const first = 0xfffffff0LL;  // logical ids cross 2^32
    for (auto app : all_applications(length)) {
      app.params.seed = 77;
      walker const cpu(g, app.params, with_tables);
      rows const expected = copied_rows(cpu.run(starts, first));
      for (graph const& there : forms) {
        SCOPED_TRACE(app.name + (there.form() == graph_form::csr ? ", CSR" : ", packed"));
        walker const gpu(there, app.params, expected_walks, exec);
        ASSERT_EQ(gpu.plan().rule, cpu.plan().rule);
        rows const got = copied_rows(gpu.run(from.span(), first, exec));
        ASSERT_EQ(got.lengths, expected.lengths);
        ASSERT_EQ(got.vertices, expected.vertices);
      }
      ++compared_;
    }
  }
  int compared_ = 0;
};

TEST_F(WalkOnGpu, IsTheCpusOnTheZoo)
{
  graph const g = make_zoo(11);
  compare(g, starts_everywhere(g, 37), 14, with_tables);
  compare(g, starts_everywhere(g, 5), 9, without_tables);
  EXPECT_GT(compared_, 80);
}

TEST_F(WalkOnGpu, IsTheCpusOnASkewedGraph)
{
  edge_attributes const extra{.has_weights = true, .weight_sigma = 3, .num_labels = 3, .num_node_types = 3};
  graph const g = generate_rmat({.scale = 12, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, extra);
  compare(g, starts_everywhere(g, 2), 40, with_tables);
  compare(g, starts_everywhere(g, 1), 17, without_tables);
}

TEST_F(WalkOnGpu, IsTheCpusFromAHugeHub)
{
  std::int64_t const leaves = std::int64_t{1} << 20U;
  edge_attributes const extra{.has_weights = true, .weight_sigma = 3, .num_labels = 3, .num_node_types = 3};
  graph const g = generate_regular(regular_graph::star, leaves + 1, {}, extra);
  std::vector<vertex_id> starts(70, 0);
  for (vertex_id v = 0; v < 30; ++v) { starts.push_back(v * 1000); }
  compare(g, starts, 6, with_tables);
}

TEST_F(WalkOnGpu, HasNoCandidateBehindTheLastEdge)
{
  // Number 90 of this walk's first race has 32 zero bits, the smallest there are, and the vertex has 11 edges.
  constexpr std::int64_t walk = 27381039;
  graph const g = generate_regular(regular_graph::complete, 12);
  std::vector<vertex_id> const starts = {0};
  walk_params const params{.length = 20, .p = 2, .q = 0.5, .rule = sampling_rule::scan};
  rows const expected = copied_rows(walker(g, params, with_tables).run(starts, walk));
  auto const from = on_gpu(starts, exec);
  for (graph const& there : all_forms_on_gpu(g, exec)) {
    EXPECT_EQ(copied_rows(walker(there, params, with_tables, exec).run(from.span(), walk, exec)).vertices,
              expected.vertices);
  }
}

TEST_F(WalkOnGpu, DoesNotDependOnTheBatch)
{
  graph const g = make_zoo(11);
  graph const there = to_gpu(g, exec);
  auto const starts = starts_everywhere(g, 20);
  auto const from = on_gpu(starts, exec);
  for (auto const& app : all_applications(14)) {
    walker const walk(there, app.params, with_tables, exec);
    rows const whole = copied_rows(walk.run(from.span(), 5, exec));
    rows parts;
    std::size_t begin = 0;
    for (std::size_t batch = 1; begin < starts.size(); batch = batch * 3 % 701 + 1) {
      std::size_t const count = std::min(batch, starts.size() - begin);
      rows const part =
          copied_rows(walk.run(from.span().subspan(begin, count), 5 + static_cast<std::int64_t>(begin), exec));
      parts.vertices.insert(parts.vertices.end(), part.vertices.begin(), part.vertices.end());
      parts.lengths.insert(parts.lengths.end(), part.lengths.begin(), part.lengths.end());
      begin += count;
    }
    ASSERT_EQ(parts, whole) << app.name;
  }
}

TEST_F(WalkOnGpu, InStepMajorOrderIsTheSameTransposed)
{
  graph const g = make_zoo(3);
  graph const there = to_gpu(g, exec);
  auto const from = on_gpu(starts_everywhere(g, 20), exec);
  for (auto const& app : all_applications(21)) {
    walker const walk(there, app.params, with_tables, exec);
    rows const by_walk = copied_rows(walk.run(from.span(), 0, exec));
    rows const by_step = copied_rows(walk.run(from.span(), 0, exec, walk_order::step_major));
    ASSERT_EQ(by_step.lengths, by_walk.lengths) << app.name;
    auto const n = static_cast<std::size_t>(from.size());
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k <= 21; ++k) {
        ASSERT_EQ(by_step.vertices[k * n + i], by_walk.vertices[i * 22 + k]) << app.name << ", walk " << i;
      }
    }
  }
}

// Rows begin anywhere in memory, so runs of 64 bytes must not depend on it.
TEST_F(WalkOnGpu, WritesRowsOfEveryLengthAndNothingElse)
{
  graph const g = generate_regular(regular_graph::ring, 1000);
  graph const there = to_gpu(g, exec);
  auto const starts = starts_everywhere(g, 1);
  auto const from = on_gpu(starts, exec);
  for (std::int64_t length = 1; length <= 50; ++length) {
    walk_params params;
    params.length = length;
    params.stop_prob = length % 3 == 0 ? 0.1 : 0;
    auto const expected = copied(walker(g, params, 1).run(starts, 0).vertices);
    for (std::size_t const offset : {0U, 1U, 7U, 15U}) {
      std::vector<vertex_id> const poison(expected.size() + 64, 0xabcdabcdU);
      buffer<vertex_id> const out = on_gpu(poison, exec);
      auto* const rows = const_cast<vertex_id*>(out.data()) + offset;
      walker(there, params, 1, exec).run_into(from.span(), 0, rows, nullptr, exec);
      auto want = poison;
      std::copy(expected.begin(), expected.end(), want.begin() + static_cast<std::ptrdiff_t>(offset));
      ASSERT_EQ(copied(out), want) << length << ", " << offset;
    }
  }
}

TEST_F(WalkOnGpu, NamesAStartOutOfRangeAndGoesOn)
{
  graph const g = make_zoo(3);
  graph const there = to_gpu(g, exec);
  walker const walk(there, {}, 1, exec);
  auto const bad = on_gpu<vertex_id>({1, 2, 64, 3}, exec);
  try {
    (void)walk.run(bad.span(), 0, exec);
    FAIL() << "a vertex that is not there";
  } catch (argument_error const& e) {
    EXPECT_STREQ(e.what(), "start 2: vertex 64 is out of range, the graph has 64 vertices");
  }
  auto const good = on_gpu<vertex_id>({1, 2, 3}, exec);
  EXPECT_EQ(copied_rows(walk.run(good.span(), 0, exec)),
            copied_rows(walker(g, {}, 1).run(std::vector<vertex_id>{1, 2, 3}, 0)));
}

TEST_F(WalkOnGpu, NamesTheFirstOfManyStartsOutOfRange)
{
  graph const g = make_zoo(3);
  graph const there = to_gpu(g, exec);
  std::vector<vertex_id> starts(100'000, 64);
  std::fill_n(starts.begin(), 31'007, 5);
  auto const bad = on_gpu(starts, exec);
  for (auto const rule : {sampling_rule::automatic, sampling_rule::scan}) {
    walker const walk(there, {.length = 3, .rule = rule}, 1, exec);
    for (int round = 0; round < 3; ++round) {
      try {
        (void)walk.run(bad.span(), 0, exec);
        FAIL() << "vertices that are not there";
      } catch (argument_error const& e) {
        EXPECT_STREQ(e.what(), "start 31007: vertex 64 is out of range, the graph has 64 vertices");
      }
    }
  }
}

TEST_F(WalkOnGpu, RefusesAGraphElsewhere)
{
  graph const g = make_zoo(3);
  graph const there = to_gpu(g, exec);
  EXPECT_THROW(walker(g, {}, 1, exec), argument_error);
  EXPECT_THROW(walker(there, {}, 1), argument_error);
  walker const cpu(g, {}, 1);
  auto const from = on_gpu<vertex_id>({1}, exec);
  EXPECT_THROW((void)cpu.run(from.span(), 0, exec), argument_error);
}

TEST_F(WalkOnGpu, OfNothingIsNothing)
{
  graph const there = to_gpu(make_zoo(3), exec);
  walks const out = walker(there, {}, 0, exec).run({}, 0, exec);
  EXPECT_EQ(out.vertices.size(), 0);
  EXPECT_EQ(out.num_walks, 0);
}

}  // namespace
}  // namespace tendril::test
