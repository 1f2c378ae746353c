// Walks on a placed graph whose lists pass through the GPU by regions are the CPU's, to the byte: whatever lies on the GPU,
// however the regions are cut, and whether walks wait for a region or read lists by themselves.

#include <gtest/gtest.h>

#include <limits>

#include <cuda_runtime_api.h>

#include <tendril/compress.hpp>
#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/place.hpp>
#include <tendril/starts.hpp>
#include <tendril/walk.hpp>
#include <tendril/walk_stream.hpp>

#include "gpu/walks/regions.hpp"
#include "support/collected_walks.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_forms.hpp"
#include "support/gpu_test.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"
#include "support/walk_rows.hpp"

namespace tendril::test {
namespace {

constexpr double any = std::numeric_limits<double>::infinity();

/// The ways to take lists in host memory.
std::vector<std::pair<char const*, gpu::region_tuning>> tunings()
{
  return {{"small regions", {.region_bytes = 1 << 16, .least_walks = 0, .choice = {any}}},
          {"large regions", {.region_bytes = 1 << 20, .least_walks = 0, .choice = {any}}},
          {"regions worth it", {.region_bytes = 1 << 17, .least_walks = 0, .choice = {20}}},
          {"three buffers", {.region_bytes = 1 << 16, .least_walks = 0, .choice = {any}, .buffer_share = 0}},
          {"buffers for all", {.region_bytes = 1 << 16, .least_walks = 0, .choice = {any}, .buffer_share = 1}},
          {"no region worth it", {.region_bytes = 1 << 18, .least_walks = 0, .choice = {0}}},
          {"single reads", {.least_walks = std::numeric_limits<std::int64_t>::max()}}};
}

std::vector<std::pair<char const*, walk_params>> uniform_walks()
{
  return {{"deepwalk", {.length = 37, .seed = 5}},
          {"one step", {.length = 1, .seed = 5}},
          {"stop", {.length = 30, .stop_prob = 0.1, .seed = 6}},
          {"restart", {.length = 30, .restart_prob = 0.2, .seed = 7}},
          {"repeat", {.length = 20, .stop_prob = 0.05, .restart_prob = 0.1, .dead_ends = dead_end::repeat, .seed = 8}},
          {"repeat without an end", {.length = 20, .dead_ends = dead_end::repeat, .seed = 9}}};
}

/// Steps by sums of weights, and by rejection.
std::vector<std::pair<char const*, walk_params>> weighted_walks()
{
  walk_params by_sums{.length = 21, .weighted = true, .rule = sampling_rule::alias, .seed = 5};
  by_sums.table_bytes = 0;
  std::vector<std::pair<char const*, walk_params>> out{{"alias", by_sums}};
  by_sums.rule = sampling_rule::its;
  out.emplace_back("its", by_sums);
  by_sums.stop_prob = 0.05;
  out.emplace_back("its, stop", by_sums);
  by_sums.rule = sampling_rule::reject;
  out.emplace_back("reject, stop", by_sums);
  by_sums.stop_prob = 0;
  by_sums.restart_prob = 0.1;
  out.emplace_back("reject, restart", by_sums);
  by_sums.dead_ends = dead_end::repeat;
  by_sums.rule = sampling_rule::alias;
  out.emplace_back("alias, restart, repeat", by_sums);
  return out;
}

class RegionWalk : public gpu_test {
 protected:
  graph placed_at(graph const& compressed, double share)
  {
    return partly_on_gpu(compressed, share, exec, {.policy = placement_policy::degree});
  }

  rows run(walker const& walk, std::span<vertex_id const> starts, std::int64_t first, walk_order order,
           gpu::region_tuning const& tuning)
  {
    auto const n = static_cast<std::int64_t>(starts.size());
    walks out{buffer<vertex_id>(n * (walk.params().length + 1), memory_of(exec)),
              buffer<std::int32_t>(n, memory_of(exec)), n, walk.params().length, order};
    use = gpu::run_by_regions(walk, starts, first, out.vertices.data(), out.lengths.data(), exec, order, tuning);
    return copied_rows(out);
  }

  gpu::region_use use;  // of the last run

  /// @param there  A placed graph.
  void compare(graph const& there, std::vector<vertex_id> const& starts,
               std::vector<std::pair<char const*, walk_params>> const& apps = uniform_walks())
  {
    graph const& here = there.placed()->host;
    auto const from = on_gpu(starts, exec);
    std::int64_t const first = 0xfffffff0LL;  // logical ids cross 2^32
    for (auto const& [app, params] : apps) {
      rows const expected = rows_of(walker(here, params, 1).run(starts, first));
      walker const walk(there, params, 1, exec);
      for (auto const& [name, tuning] : tunings()) {
        SCOPED_TRACE(std::string(app) + ", " + name);
        rows const got = run(walk, from.span(), first, walk_order::row_major, tuning);
        ASSERT_EQ(got.lengths, expected.lengths);
        ASSERT_EQ(got.vertices, expected.vertices);
        bool const by_regions = there.placed()->host_bytes > 0 && tuning.least_walks == 0;
        ASSERT_EQ(use.walks, by_regions ? static_cast<std::int64_t>(starts.size()) : 0);
        ASSERT_EQ(use.loads > 0, by_regions);
        ASSERT_GE(use.bytes, use.loads);
        rows const steps = run(walk, from.span(), first, walk_order::step_major, tuning);
        ASSERT_EQ(steps.lengths, expected.lengths);
        ASSERT_EQ(transposed(steps, starts.size()), expected.vertices);
      }
    }
  }

  static std::vector<vertex_id> transposed(rows const& steps, std::size_t num_walks)
  {
    std::vector<vertex_id> out(steps.vertices.size());
    std::size_t const row = num_walks == 0 ? 0 : out.size() / num_walks;
    for (std::size_t i = 0; i < num_walks; ++i) {
      for (std::size_t k = 0; k < row; ++k) { out[i * row + k] = steps.vertices[k * num_walks + i]; }
    }
    return out;
  }
};

TEST_F(RegionWalk, IsTheCpusAtEveryShare)
{
  graph const g =
      compress(generate_rmat({.scale = 16, .edge_factor = 16, .seed = 2}, {.symmetrize = true}), graph_form::packed);
  for (double const share : {0.0, 0.3, 0.8, 1.1}) {
    SCOPED_TRACE(share);
    graph const there = placed_at(g, share);
    if (share < 1) { EXPECT_GT(there.placed()->cuts.size(), 2U); }
    compare(there, starts_everywhere(g, 1));
  }
}

/// Lists pass; weights are read where they lie, on either side.
TEST_F(RegionWalk, IsTheCpusWithWeights)
{
  graph const csr =
      generate_rmat({.scale = 14, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, {.has_weights = true});
  for (graph_form const form : {graph_form::packed, graph_form::ef}) {
    graph const g = compress(csr, form);
    for (double const share : {0.0, 0.3}) {
      SCOPED_TRACE(testing::Message() << to_string(form) << ", " << share);
      compare(placed_at(g, share), starts_everywhere(g, 1), weighted_walks());
    }
  }
}

/// Weights of 0 and lists that race.
TEST_F(RegionWalk, IsTheCpusWhereTrialsTire)
{
  graph const g = compress(make_zoo(5), graph_form::packed);
  compare(placed_at(g, 0), starts_everywhere(g, 3), weighted_walks());
}

TEST_F(RegionWalk, IsTheCpusInEveryForm)
{
  graph const csr = generate_rmat({.scale = 15, .edge_factor = 24, .seed = 3}, {});  // with dead ends
  for (graph_form const form : {graph_form::runs, graph_form::ef, graph_form::vbyte, graph_form::best}) {
    SCOPED_TRACE(static_cast<int>(form));
    graph const g = compress(csr, form);
    compare(placed_at(g, 0.3), starts_everywhere(g, 1));
  }
}

TEST_F(RegionWalk, TakesAHubThatIsLargerThanARegion)
{
  graph const g =
      compress(generate_regular(regular_graph::star, (std::int64_t{1} << 20U) + 1, {}, {}), graph_form::packed);
  std::vector<vertex_id> starts(3000, 0);
  for (vertex_id v = 0; v < 3000; ++v) { starts.push_back(v * 300); }
  graph const there = placed_at(g, 0);
  compare(there, starts);
  // The hub's list passes whole, and not at each second step of all walks.
  walker const walk(there, {.length = 60}, 1, exec);
  starts.resize(200'000, 0);
  auto const from = on_gpu(starts, exec);
  rows const got = run(walk, from.span(), 0, walk_order::row_major, {.least_walks = 0});
  EXPECT_EQ(got.vertices, rows_of(walker(g, {.length = 60}, 1).run(starts, 0)).vertices);
  EXPECT_GT(use.loads, 0);
  EXPECT_LT(use.bytes, 60 * there.placed()->host_bytes);
}

TEST_F(RegionWalk, TakesAnyNumberOfWalks)
{
  graph const g =
      compress(generate_rmat({.scale = 15, .edge_factor = 16, .seed = 4}, {.symmetrize = true}), graph_form::packed);
  graph const there = placed_at(g, 0.3);
  compare(there, {17});
  for (std::size_t const n : {31U, 511U, 512U, 513U, 10'000U}) {
    auto starts = starts_everywhere(g, 1);
    starts.resize(n);
    compare(there, starts);
  }
}

TEST_F(RegionWalk, IsChosenForManyWalks)
{
  graph const g =
      compress(generate_rmat({.scale = 16, .edge_factor = 16, .seed = 2}, {.symmetrize = true}), graph_form::packed);
  graph const there = placed_at(g, 0.5);
  walk_params const params{.length = 20, .stop_prob = 0.02, .seed = 1};
  walker const walk(there, params, 1, exec);
  EXPECT_NE(walk.plan().reasons.back().find("1 walks read them one by one, regions would pass from"), std::string::npos)
      << walk.plan().reasons.back();
  std::string const many = plan_walk(there, params, 1 << 30, exec).reasons.back();
  EXPECT_NE(many.find("regions, as at least"), std::string::npos) << many;
  EXPECT_EQ(plan_walk(there, params, 1, exec).reasons.back(), walk.plan().reasons.back());
  auto const starts = starts_everywhere(g, 3);
  auto const from = on_gpu(starts, exec);
  rows const expected = rows_of(walker(g, params, 1).run(starts, 9));
  EXPECT_EQ(copied_rows(walk.run(from.span(), 9, exec)), expected);
  EXPECT_EQ(copied_ragged(walk.run_ragged(from.span(), 9, exec)), cut(expected));
}

/// Batches of a stream are as large as regions ask for, and leave the GPU in pieces.
TEST_F(RegionWalk, IsStreamedInLargeBatches)
{
  graph const g =
      compress(generate_rmat({.scale = 16, .edge_factor = 16, .seed = 2}, {.symmetrize = true}), graph_form::packed);
  auto const starts = starts_everywhere(g, 19);
  std::int64_t const n = std::ssize(starts);
  std::int64_t const first = 0xfffffff0LL;
  for (double const stop : {0.0, 0.05}) {
    walk_params const params{.length = 20, .stop_prob = stop, .seed = 3};
    rows const expected = rows_of(walker(g, params, n).run(starts, first));
    for (work_share const share : {work_share::gpu, work_share::automatic}) {
      graph const there = partly_on_gpu(g, 0.3, exec, {.policy = placement_policy::degree, .share = share});
      walker const walk(there, params, n, exec);
      for (std::int64_t const limit : {std::int64_t{0}, std::int64_t{120} << 20U, std::int64_t{8} << 20U}) {
        SCOPED_TRACE(testing::Message() << stop << ", " << static_cast<int>(share) << ", " << limit);
        collected_walks out;
        std::int64_t done = 0;
        auto const report = stream_walks(walk,
                                         {.num_walks = n,
                                          .first_walk = first,
                                          .starts = starts_from(starts),
                                          .sink = out.sink(),
                                          .batch_bytes = limit,
                                          .on_progress = [&](progress const& p) { done = p.done; }},
                                         exec);
        ASSERT_EQ(out.vertices, expected.vertices);
        ASSERT_EQ(out.lengths, expected.lengths);
        EXPECT_EQ(report.steps, out.num_steps());
        EXPECT_EQ(done, n);
        if (limit > 0) { EXPECT_LE(report.batch_bytes, limit); }
        if (limit == 0) {
          EXPECT_GE(report.num_batches, 2);
          EXPECT_GT(out.calls, report.num_batches);
        }
        if (limit == 0 && share == work_share::gpu) { EXPECT_EQ(report.region_walks, n); }
        EXPECT_LE(report.region_walks, n);
        EXPECT_EQ(report.region_bytes > 0, report.region_walks > 0);
      }
    }
  }
}

TEST_F(RegionWalk, StreamsNameTheFirstBadStart)
{
  graph const g =
      compress(generate_rmat({.scale = 16, .edge_factor = 16, .seed = 2}, {.symmetrize = true}), graph_form::packed);
  walker const walk(placed_at(g, 0.3), {.length = 20}, 1, exec);
  auto starts = starts_everywhere(g, 19);
  starts[1'000'003] = 1U << 30U;  // of a later batch
  std::string const message = message_of<argument_error>([&] {
    (void)stream_walks(
        walk, {.num_walks = std::ssize(starts), .starts = starts_from(starts), .sink = [](walk_rows const&) {}}, exec);
  });
  EXPECT_NE(message.find("1000003"), std::string::npos) << message;
}

TEST_F(RegionWalk, NamesTheFirstBadStart)
{
  graph const g =
      compress(generate_rmat({.scale = 15, .edge_factor = 16, .seed = 4}, {.symmetrize = true}), graph_form::packed);
  graph const there = placed_at(g, 0.3);
  walker const walk(there, {.length = 5}, 1, exec);
  auto starts = starts_everywhere(g, 1);
  starts[1000] = 1U << 30U;
  starts[2000] = no_vertex;
  auto const from = on_gpu(starts, exec);
  std::string const message = message_of<argument_error>(
      [&] { (void)run(walk, from.span(), 0, walk_order::row_major, tunings().front().second); });
  EXPECT_NE(message.find("1000"), std::string::npos) << message;
}

}  // namespace
}  // namespace tendril::test
