// Mini-batches don't depend on the batches that a GPU makes with them, nor on those it made before: many at once, groups
// of any size, one sampler for batches of all sizes, a table whose stamps run out.

#include <numeric>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>

#include "gpu/batches/minibatch_support.hpp"
#include "gpu/batches/plan.hpp"  // default_minibatch_limits
#include "support/gpu_forms.hpp"
#include "support/messages.hpp"

namespace tendril::test {
namespace {

class MinibatchBulk : public minibatch_gpu_test {
 protected:
  ~MinibatchBulk() override { gpu::default_minibatch_limits() = before_; }

  gpu::minibatch_limits before_ = gpu::default_minibatch_limits();
};

/// Vertices below n: some twice, not in order.
std::vector<vertex_id> seeds_below(std::int64_t n, std::size_t count)
{
  std::vector<vertex_id> out(count);
  for (std::size_t i = 0; i < count; ++i) { out[i] = static_cast<vertex_id>(i * i * 31 % static_cast<std::size_t>(n)); }
  return out;
}

TEST_F(MinibatchBulk, OneType)
{
  hetero_graph const host(make_zoo(1));
  for (auto const& there : all_forms_on_gpu(host, exec)) {
    for (auto const& fanouts : {std::vector<std::int64_t>{4, 3}, {-1, 2}, {3, 0, 2}}) {
      for (auto const& params : every_way(true, false, fanouts)) {
        for (std::int64_t const size : {1, 7, 100}) { compare_many(host, there, params, 0, seeds_below(64, 50), size); }
      }
    }
  }
}

TEST_F(MinibatchBulk, OneTypeWithTimes)
{
  hetero_graph const host = make_timed_zoo(3);
  for (auto const& there : all_forms_on_gpu(host, exec)) {
    auto const times = make_times(50, 2);
    for (auto const& fanouts : {std::vector<std::int64_t>{4, 3}, {-1, 2}}) {
      for (auto const& params : every_way(true, true, fanouts)) {
        compare_many(host, there, params, 0, seeds_below(64, 50), 8, times);
        compare_many(host, there, params, 0, seeds_below(64, 50), 8);
      }
    }
  }
}

TEST_F(MinibatchBulk, SeveralTypes)
{
  for (bool const timed : {false, true}) {
    hetero_graph const host = make_hetero_zoo(11, timed);
    for (auto const& there : all_forms_on_gpu(host, exec)) {
      for (auto const& fanouts : {std::vector<std::int64_t>{4, 3, 2}, {2, -1}, {0, 5}}) {
        for (auto const& params : every_way(false, timed, fanouts)) {
          compare_many(host, there, params, 0, seeds_below(64, 40), 6);
          compare_many(host, there, params, 1, seeds_below(30, 40), 7);
          compare_many(host, there, params, 2, seeds_below(8, 20), 9);
        }
      }
    }
  }
}

TEST_F(MinibatchBulk, GroupsOfAnySize)
{
  hetero_graph const host(make_zoo(2));
  for (auto const& there : all_forms_on_gpu(host, exec)) {
    for (std::int64_t const vertices : {1, 200, 500, 5000}) {
      gpu::default_minibatch_limits().vertices = vertices;
      for (auto const& params : every_way(true, false, {4, 3})) {
        compare_many(host, there, params, 0, seeds_below(64, 200), 3);
      }
    }
  }
}

/// Also where a call is cut into several groups.
TEST_F(MinibatchBulk, NumbersWithAStep)
{
  std::vector<batch_numbers> const every_step = {{5, 3}, {~0ULL - 8, 4}};
  hetero_graph const plain(make_zoo(1)), of_types = make_hetero_zoo(11, false), timed = make_timed_zoo(3);
  hetero_graph const there = to_gpu(plain, exec), types_there = to_gpu(of_types, exec),
                     timed_there = to_gpu(timed, exec);
  auto const times = make_times(50, 2);
  for (std::int64_t const vertices : {std::int64_t{200}, before_.vertices}) {
    gpu::default_minibatch_limits().vertices = vertices;
    for (auto const& numbers : every_step) {
      for (auto const& fanouts : {std::vector<std::int64_t>{4, 3}, {-1, 2}}) {
        for (auto const& params : every_way(true, false, fanouts)) {
          compare_many(plain, there, params, 0, seeds_below(64, 50), 7, {}, numbers);
        }
        for (auto const& params : every_way(false, false, fanouts)) {
          compare_many(of_types, types_there, params, 1, seeds_below(30, 50), 7, {}, numbers);
        }
        for (auto const& params : every_way(true, true, fanouts)) {
          compare_many(timed, timed_there, params, 0, seeds_below(64, 50), 7, times, numbers);
        }
      }
    }
  }
}

TEST_F(MinibatchBulk, MorePicksThanALaunchCounts)
{
  hetero_graph const host(make_zoo(2));
  hetero_graph const there = to_gpu(host, exec);
  gpu::default_minibatch_limits().picks = 1000;
  compare_many(host, there, {.num_neighbors = {4, 3}}, 0, seeds_below(64, 300), 10);
  gpu::default_minibatch_limits().picks = 400;  // what all neighbours are is seen when they are counted
  compare_many(host, there, {.num_neighbors = {-1}}, 0, seeds_below(64, 300), 3);
  gpu::default_minibatch_limits().picks = 100;
  minibatch_sampler sampler(there, {.num_neighbors = {4, 3}}, exec);
  std::vector<vertex_id> const seeds = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
  auto const own = on_gpu(seeds, exec);
  EXPECT_EQ(message_of<memory_error>([&] { (void)sampler.sample({{own.span()}}); }),
            "hop 2: up to 192 picks of one batch at once, expected fewer than 100; sample fewer seeds a batch");
}

TEST_F(MinibatchBulk, OneSamplerForBatchesOfAllSizes)
{
  hetero_graph const host(generate_rmat({.scale = 8, .edge_factor = 8}, {.symmetrize = true}));
  hetero_graph const there = to_gpu(host, exec);
  for (bool const disjoint : {false, true}) {
    for (auto const frontier : {batch_frontier::fresh, batch_frontier::all}) {
      for (auto const& fanouts : {std::vector<std::int64_t>{5, 4, 3}, {3, -1, 2}}) {
        minibatch_params const params{.num_neighbors = fanouts, .disjoint = disjoint, .frontier = frontier};
        minibatch_sampler cpu(host, params);
        for (auto const executor : executors_of(host, params)) {
          minibatch_sampler gpu(there, params, exec, executor);
          std::uint64_t number = 0;
          std::vector<minibatch> kept;  // what was handed out stays as it is
          std::vector<batch_lists> expected;
          for (std::size_t const size : {1, 2, 3, 5, 8, 9, 100, 64, 127, 1, 0, 128, 7}) {
            auto const seeds = seeds_below(256, size);
            auto const own = on_gpu(seeds, exec);
            kept.push_back(gpu.sample({{own.span()}}, number));
            expected.push_back(copied_lists(cpu.sample({{seeds}}, number)));
            ++number;
            if (size == 9) {
              for (auto& batch : gpu.sample_batches(0, own.span(), 4, {.first = number})) {
                kept.push_back(std::move(batch));
              }
              for (auto const& batch : cpu.sample_batches(0, seeds, 4, {.first = number})) {
                expected.push_back(copied_lists(batch));
              }
            }
          }
          EXPECT_EQ(difference(expected, copied_lists(kept)), "") << name_of(params);
        }
      }
    }
  }
}

TEST_F(MinibatchBulk, StampsThatRunOut)
{
  gpu::default_minibatch_limits().first_stamp = 0xffffffffU - 100;
  hetero_graph const host = make_hetero_zoo(11, false);
  hetero_graph const there = to_gpu(host, exec);
  for (bool const disjoint : {false, true}) {
    minibatch_params const params{.num_neighbors = {3, 3}, .disjoint = disjoint, .frontier = batch_frontier::all};
    minibatch_sampler cpu(host, params);
    for (auto const executor : executors_of(host, params)) {
      minibatch_sampler gpu(there, params, exec, executor);
      seed_lists const seeds = three_type_seeds();
      gpu_seeds const own(seeds.spans(false), exec);
      for (std::uint64_t number = 0; number < 60; ++number) {
        ASSERT_EQ(difference(copied_lists(cpu.sample(seeds.spans(false), number)),
                             copied_lists(gpu.sample(own.spans(), number))),
                  "")
            << number;
      }
    }
  }
}

TEST_F(MinibatchBulk, LargeBatches)
{
  graph const g =
      generate_rmat({.scale = 16, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, {.has_weights = true});
  hetero_graph const host(g);
  hetero_graph const there = to_gpu(host, exec);
  for (auto const& fanouts : {std::vector<std::int64_t>{15, 10, 5}, {25, 10}, {3, -1}}) {
    for (int bits = 0; bits < 16; ++bits) {
      minibatch_params params{.num_neighbors = fanouts,
                              .replace = (bits & 1) != 0,
                              .weighted = (bits & 2) != 0,
                              .disjoint = (bits & 4) != 0,
                              .frontier = (bits & 8) != 0 ? batch_frontier::all : batch_frontier::fresh};
      auto const seeds = seeds_below(g.num_vertices(), 1024);
      compare(host, there, params, {{seeds}});
      compare_many(host, there, params, 0, seeds, 100);
    }
  }
  for (auto const subgraph : {subgraph_type::induced, subgraph_type::bidirectional}) {
    minibatch_params const params{.num_neighbors = {10, 5}, .subgraph = subgraph};
    compare_many(host, there, params, 0, seeds_below(g.num_vertices(), 1000), 128);
  }
}

// What is expected of a batch follows from those before: seeds that are all alike say little about seeds that differ.
TEST_F(MinibatchBulk, LargerThanExpected)
{
  graph const g = generate_rmat({.scale = 14, .edge_factor = 16, .seed = 4}, {.symmetrize = true});
  hetero_graph const host(g);
  hetero_graph const there = to_gpu(host, exec);
  std::vector<vertex_id> const alike(2000, 1);
  std::vector<vertex_id> different(2000);
  std::iota(different.begin(), different.end(), 5U);
  std::vector<vertex_id> mixed = alike;
  mixed.insert(mixed.end(), different.begin(), different.end());
  auto const own_alike = on_gpu(alike, exec);
  auto const own_different = on_gpu(different, exec);
  auto const own_mixed = on_gpu(mixed, exec);
  for (auto const frontier : {batch_frontier::fresh, batch_frontier::all}) {
    minibatch_params const params{.num_neighbors = {5, 5, 5}, .frontier = frontier};
    minibatch_sampler cpu(host, params);
    for (auto const executor : executors_of(host, params)) {
      SCOPED_TRACE(static_cast<int>(executor));
      minibatch_sampler gpu(there, params, exec, executor);
      EXPECT_EQ(difference(copied_lists(cpu.sample({{alike}}, 1)), copied_lists(gpu.sample({{own_alike.span()}}, 1))),
                "");
      EXPECT_EQ(
          difference(copied_lists(cpu.sample({{different}}, 2)), copied_lists(gpu.sample({{own_different.span()}}, 2))),
          "");
      minibatch_sampler bulk(there, params, exec, executor);
      EXPECT_EQ(difference(copied_lists(cpu.sample_batches(0, mixed, 500, {.first = 3})),
                           copied_lists(bulk.sample_batches(0, own_mixed.span(), 500, {.first = 3}))),
                "");
    }
  }
}

// Edges among the vertices are looked for in the table, and most aren't there: it must have room to tell.
TEST_F(MinibatchBulk, LargerThanExpectedAndInduced)
{
  graph const g = generate_rmat({.scale = 14, .edge_factor = 16, .seed = 4}, {.symmetrize = true});
  hetero_graph const host(g);
  minibatch_params const params{.num_neighbors = {5, 5, 5}, .subgraph = subgraph_type::induced};
  minibatch_sampler cpu(host, params);
  minibatch_sampler gpu(to_gpu(host, exec), params, exec);
  std::vector<vertex_id> different(2000);
  std::iota(different.begin(), different.end(), 5U);
  for (auto const& seeds : {std::vector<vertex_id>(2000, 1), different}) {
    auto const own = on_gpu(seeds, exec);
    EXPECT_EQ(difference(copied_lists(cpu.sample({{seeds}}, 1)), copied_lists(gpu.sample({{own.span()}}, 1))), "");
  }
}

TEST_F(MinibatchBulk, AnEpochOfSmallBatches)
{
  graph const g = generate_rmat({.scale = 14, .edge_factor = 8, .seed = 3}, {.symmetrize = true});
  hetero_graph const host(g);
  std::vector<vertex_id> seeds(static_cast<std::size_t>(g.num_vertices()));
  std::iota(seeds.rbegin(), seeds.rend(), 0U);
  compare_many(host, to_gpu(host, exec), {.num_neighbors = {5, 5}}, 0, seeds, 16);
}

}  // namespace
}  // namespace tendril::test
