// Walks whose walkers move between GPUs are the CPU's, to the byte: for every application whose walkers can move, however many
// ranks there are and wherever batches are cut. Several ranks on one GPU stand for several GPUs where there is one alone.

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/several_gpus.hpp>
#include <tendril/walk.hpp>

#include "gpu/device/check.hpp"
#include "gpu/walks/moving/moving_walk.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"
#include "support/graph_forms.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"
#include "support/table_limits.hpp"
#include "support/walk_rows.hpp"

namespace tendril::test {
namespace {

/// How walkers move in tests: as by default, and in small batches between many ranks.
std::vector<std::pair<char const*, gpu::moving_tuning>> moving_tunings()
{
  return {{"a rank a GPU", {}},
          {"three ranks a GPU", {.ranks_a_gpu = 3}},
          {"one lane, small batches", {.ranks_a_gpu = 2, .lanes = 1, .walks_each = 97}},
          {"three lanes, small batches", {.ranks_a_gpu = 7, .lanes = 3, .walks_each = 60}}};
}

rows moved_rows(walker const& walk, std::vector<vertex_id> const& starts, std::int64_t first, gpu_exec const& exec,
                gpu::moving_tuning const& tuning)
{
  auto const from = on_gpu(starts, exec);
  auto const n = std::ssize(starts);
  buffer<vertex_id> vertices(n * (walk.params().length + 1), memory_of(exec));
  buffer<std::int32_t> lengths(n, memory_of(exec));
  gpu::run_moving(walk, from.span(), first, vertices.data(), lengths.data(), exec, tuning);
  return {copied(vertices), copied(lengths)};
}

class MovingWalk : public gpu_test {
 protected:
  /// Walks by every application, on both sides. Those that can't move are walked, too.
  void compare(graph const& g, std::vector<vertex_id> const& starts, std::int64_t length, std::int64_t expected_walks)
  {
    std::int64_t const first = 0xfffffff0LL;  // logical ids cross 2^32
    std::vector<std::vector<graph>> forms;
    for (graph const& form : in_all_forms(g)) { forms.push_back(spread_over_gpus(form, all_gpus())); }
    for (auto app : all_applications(length)) {
      app.params.seed = 77;
      rows const expected = copied_rows(walker(g, app.params, with_tables).run(starts, first));
      for (auto const& spread : forms) {
        graph const& there = spread.back();
        SCOPED_TRACE(app.name + (there.form() == graph_form::csr ? ", CSR" : ", packed"));
        gpu_exec const exec(there.device());
        gpu::device_guard const guard(exec.device);
        walker const walk(there, app.params, expected_walks, exec);
        rows const stayed = copied_rows(walk.run(on_gpu(starts, exec).span(), first, exec));
        ASSERT_EQ(stayed.lengths, expected.lengths);
        ASSERT_EQ(stayed.vertices, expected.vertices);
        ++compared_;
        if (gpu::moving_of(walk, exec) == nullptr) { continue; }
        ++moved_;
        for (auto const& [name, tuning] : moving_tunings()) {
          SCOPED_TRACE(name);
          rows const moved = moved_rows(walk, starts, first, exec, tuning);
          ASSERT_EQ(moved.lengths, expected.lengths);
          ASSERT_EQ(moved.vertices, expected.vertices);
        }
      }
    }
  }
  int compared_ = 0, moved_ = 0;
};

TEST_F(MovingWalk, IsTheCpusOnTheZoo)
{
  graph const g = make_zoo(11);
  compare(g, starts_everywhere(g, 5), 14, with_tables);
  int const with = moved_;
  compare(g, starts_everywhere(g, 3), 9, without_tables);
  EXPECT_GT(compared_, 200);
  // All but scans, trials, and metapaths that read labels.
  EXPECT_GT(with, compared_ / 2 / 3);
  EXPECT_GT(moved_ - with, compared_ / 2 / 5);
}

TEST_F(MovingWalk, IsTheCpusOnASkewedGraph)
{
  edge_attributes const extra{.has_weights = true, .weight_sigma = 3, .num_labels = 3, .num_node_types = 3};
  graph const g = generate_rmat({.scale = 12, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, extra);
  compare(g, starts_everywhere(g, 1), 40, with_tables);
}

TEST_F(MovingWalk, IsTheCpusFromAHugeHub)
{
  std::int64_t const leaves = 30'000;
  edge_attributes const extra{.has_weights = true, .weight_sigma = 3, .num_labels = 3, .num_node_types = 3};
  graph const g = generate_regular(regular_graph::star, leaves + 1, {}, extra);
  std::vector<vertex_id> starts(300, 0);
  for (vertex_id v = 0; v < 300; ++v) { starts.push_back(v * 100); }
  compare(g, starts, 6, with_tables);
}

TEST_F(MovingWalk, LooksUpPlacesThatAWalkerCantCarry)
{
  // The hub's degree has more bits than a walker carries.
  std::int64_t const leaves = (std::int64_t{1} << 24U) + 5;
  graph const g = generate_regular(regular_graph::star, leaves + 1);
  std::vector<vertex_id> starts(1000, 0);
  for (vertex_id v = 0; v < 1000; ++v) { starts.push_back(v * 16'000); }
  auto const spread = spread_over_gpus(g, all_gpus());
  walk_params const params{.length = 5, .seed = 3};
  walker const walk(spread[0], params, with_tables, exec);
  EXPECT_EQ(moved_rows(walk, starts, 4, exec, {.ranks_a_gpu = 2}).vertices,
            copied_rows(walker(g, params, 1).run(starts, 4)).vertices);
}

TEST_F(MovingWalk, OfALargeCallIsWhatAWalkerMakesOnAnyOfTheGpus)
{
  graph const g = generate_rmat({.scale = 12, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, {});
  auto const spread = spread_over_gpus(g, all_gpus());
  gpu::moving_tuning const usual;
  auto const starts = starts_everywhere(g, static_cast<int>(usual.least_walks * num_gpus() / g.num_vertices()) + 1);
  for (walk_params const& params : {walk_params{.length = 12}, walk_params{.length = 12, .p = 4, .q = 0.25}}) {
    rows const expected = copied_rows(walker(g, params, with_tables).run(starts, 9));
    for (graph const& there : spread) {
      gpu_exec const on(there.device());
      gpu::device_guard const guard(on.device);
      walker const walk(there, params, with_tables, on);
      auto const from = on_gpu(starts, on);
      for (int round = 0; round < 2; ++round) {  // the second one has its memory already
        ASSERT_EQ(copied_rows(walk.run(from.span(), 9, on)).vertices, expected.vertices) << there.device();
      }
    }
  }
}

TEST_F(MovingWalk, ThatStopsByChanceEndsLongBeforeItsLength)
{
  graph const g = generate_rmat({.scale = 10, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, {});
  auto const spread = spread_over_gpus(g, all_gpus());
  walk_params const params{.length = 30'000, .stop_prob = 0.2};
  auto const starts = starts_everywhere(g, 1);
  rows const expected = copied_rows(walker(g, params, 1).run(starts, 0));
  rows const moved = moved_rows(walker(spread[0], params, with_tables, exec), starts, 0, exec, {.ranks_a_gpu = 3});
  EXPECT_EQ(moved.lengths, expected.lengths);
  EXPECT_EQ(moved.vertices, expected.vertices);
}

TEST_F(MovingWalk, IsSaidByThePlan)
{
  graph const g = generate_rmat({.scale = 10, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, {});
  graph const there = spread_over_gpus(g, all_gpus())[0];
  walker const moves(there, {.length = 4}, with_tables, exec), stays(there, {.length = 4, .p = 2}, with_tables, exec);
  EXPECT_EQ(moves.plan().reasons.back(),
            "in calls of " + std::to_string(65536 * num_gpus()) +
                " walks and more, walkers move to the GPU that has the edges of their vertex, 16 bytes each");
  EXPECT_EQ(stays.plan().reasons.back(), "walkers stay on their GPU, and read over the link what lies on others");
}

TEST_F(MovingWalk, NamesTheFirstBadStart)
{
  graph const g = generate_rmat({.scale = 10, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, {});
  walker const walk(spread_over_gpus(g, all_gpus())[0], {.length = 4}, with_tables, exec);
  EXPECT_EQ(message_of<argument_error>([&] {
              (void)moved_rows(walk, {1, 2, 1024, 3, 5000}, 0, exec, {});
            }),
            "start 2: vertex 1024 is out of range, the graph has 1024 vertices");
  walker const alone(to_gpu(g, exec), {.length = 4}, with_tables, exec);
  EXPECT_EQ(message_of<argument_error>([&] { (void)moved_rows(alone, {1}, 0, exec, {}); }),
            "walker: its walkers can't move, expected a graph over several GPUs");
}

}  // namespace
}  // namespace tendril::test
