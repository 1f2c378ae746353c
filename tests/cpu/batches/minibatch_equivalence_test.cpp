// Who makes a mini-batch, when and together with which others never changes it.

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <gtest/gtest.h>

#include "cpu/batches/minibatch_verifier.hpp"
#include "cpu/batches/plain_batch.hpp"
#include "samplers/batches/checks.hpp"  // cut_batch
#include "support/sanitized.hpp"
#include "support/small_hetero.hpp"

namespace tendril::test {
namespace {

constexpr std::int64_t num_seeds = unless_sanitized(300, 100);

/// Seeds of types 0 and 1, with times.
seed_lists many_seeds(std::size_t types, std::int64_t count = num_seeds)
{
  seed_lists out;
  out.vertices.resize(types);
  out.times.resize(types);
  std::vector<std::int64_t> const num_vertices = {64, 30};
  for (std::size_t t = 0; t < std::min<std::size_t>(types, 2); ++t) {
    for (std::int64_t i = 0; i < count; ++i) {
      out.vertices[t].push_back(static_cast<vertex_id>(i * 7 % num_vertices[t]));
      out.times[t].push_back(i % 13 - 4);
    }
  }
  return out;
}

struct sampled_graph {
  hetero_graph graph;
  bool timed;
};

std::vector<sampled_graph> all_graphs()
{
  return {{hetero_graph(make_zoo(6)), false},
          {make_timed_zoo(6), true},
          {make_hetero_zoo(6, false), false},
          {make_hetero_zoo(6, true), true}};
}

TEST(MinibatchEquivalence, ThreadsDontChangeABatch)
{
  for (auto const& [graph, timed] : all_graphs()) {
    std::size_t const types = graph.num_vertices().size();
    for (std::vector<std::int64_t> const& fanouts : {std::vector<std::int64_t>{4, 3}, {-1}}) {
      seed_lists const seeds =
          many_seeds(types, unless_sanitized(1500, fanouts[0] < 0 ? 300 : 1100));  // enough to occupy threads
      for (auto const& params : every_way(types == 1, timed, fanouts)) {
        minibatch_sampler alone(graph, params, {.num_threads = 1});
        batch_lists const expected = lists_of(alone.sample(seeds.spans(timed), 5));
        minibatch_sampler together(graph, params, {.num_threads = params.replace ? 2 : 4});
        EXPECT_EQ(difference(expected, lists_of(together.sample(seeds.spans(timed), 5))), "") << name_of(params);
      }
    }
  }
}

TEST(MinibatchEquivalence, BatchesMadeTogetherAreThoseMadeAlone)
{
  constexpr std::uint64_t first = 1'000'000'000'000;
  for (auto const& [graph, timed] : all_graphs()) {
    std::size_t const types = graph.num_vertices().size();
    seed_lists const seeds = many_seeds(types);
    std::size_t const type = types == 1 ? 0 : 1;
    std::vector<vertex_id> const& vertices = seeds.vertices[type];
    std::vector<std::int64_t> const& times = seeds.times[type];
    for (auto const& params : every_way(types == 1, timed, {3, 2})) {
      minibatch_sampler one(graph, params, {.num_threads = 1});
      for (std::int64_t const size : {std::int64_t{7}, num_seeds / 2, std::int64_t{1000}}) {
        std::int64_t const num_batches = (num_seeds + size - 1) / size;
        std::int64_t const step = num_batches > 10 ? 7 : 1;
        std::vector<batch_lists> alone;
        for (std::int64_t b = 0; b < num_batches; b += step) {
          batch_seeds part;
          part.vertices.resize(types);
          part.vertices[type] = samplers::cut_batch(std::span<vertex_id const>(vertices), size, b);
          if (timed) {
            part.times.resize(types);
            part.times[type] = samplers::cut_batch(std::span<std::int64_t const>(times), size, b);
          }
          alone.push_back(lists_of(one.sample(part, first + static_cast<std::uint64_t>(b))));
        }
        for (int const threads : {1, 2, 4}) {
          minibatch_sampler bulk(graph, params, {.num_threads = threads});
          std::vector<minibatch> const made =
              timed ? bulk.sample_batches(static_cast<std::int32_t>(type), vertices, size, {.first = first}, times)
                    : bulk.sample_batches(static_cast<std::int32_t>(type), vertices, size, {.first = first});
          ASSERT_EQ(std::ssize(made), num_batches);
          for (std::size_t i = 0; i < alone.size(); ++i) {
            std::size_t const b = i * static_cast<std::size_t>(step);
            EXPECT_EQ(difference(alone[i], lists_of(made[b])), "")
                << name_of(params) << ", batch " << b << " of " << size;
          }
        }
      }
    }
  }
}

TEST(MinibatchEquivalence, NumbersOfBatchesMadeTogetherMayHaveAStep)
{
  constexpr std::int64_t size = unless_sanitized(32, 11);  // ten batches
  for (auto const& [graph, timed] : all_graphs()) {
    std::size_t const types = graph.num_vertices().size();
    seed_lists const seeds = many_seeds(types);
    std::span<std::int64_t const> const times = timed ? seeds.times[0] : std::span<std::int64_t const>();
    for (auto const& params : every_way(types == 1, timed, {3, 2})) {
      minibatch_sampler one(graph, params, {.num_threads = 1});
      for (batch_numbers const numbers : {batch_numbers{5, 3}, {~0ULL - 8, 4}, {6, ~0ULL}, {7, 0}}) {
        std::vector<batch_lists> alone;
        std::uint64_t number = numbers.first;
        for (std::int64_t b = 0; b < 10; ++b, number += numbers.step) {
          batch_seeds part;
          part.vertices.resize(types);
          part.vertices[0] = samplers::cut_batch(std::span<vertex_id const>(seeds.vertices[0]), size, b);
          if (timed) {
            part.times.resize(types);
            part.times[0] = samplers::cut_batch(times, size, b);
          }
          alone.push_back(lists_of(one.sample(part, number)));
        }
        for (int const threads : {1, 4}) {
          minibatch_sampler bulk(graph, params, {.num_threads = threads});
          auto const made = bulk.sample_batches(0, seeds.vertices[0], size, numbers, times);
          ASSERT_EQ(made.size(), 10U);
          for (std::size_t b = 0; b < 10; ++b) {
            EXPECT_EQ(difference(alone[b], lists_of(made[b])), "")
                << name_of(params) << ", batch " << b << " from " << numbers.first << " by " << numbers.step;
          }
        }
      }
    }
  }
}

TEST(MinibatchEquivalence, NoSeedsAreNoBatches)
{
  minibatch_sampler sampler(hetero_graph(make_zoo(6)), {.num_neighbors = {2}});
  EXPECT_TRUE(sampler.sample_batches(0, {}, 5).empty());
}

TEST(MinibatchEquivalence, EarlierBatchesOfASamplerDontChangeLaterOnes)
{
  hetero_graph const graph = make_hetero_zoo(8, false);
  seed_lists const many = many_seeds(3);
  seed_lists const few = three_type_seeds();
  for (auto const& params : every_way(false, false, {-1, 4})) {
    minibatch_sampler sampler(graph, params, {.num_threads = 1});
    minibatch_sampler fresh(graph, params, {.num_threads = 1});
    batch_lists const expected = lists_of(fresh.sample(few.spans(false), 2));
    minibatch const first = sampler.sample(few.spans(false), 2);
    for (std::uint64_t b = 0; b < 5; ++b) { (void)sampler.sample(many.spans(false), b); }
    EXPECT_EQ(difference(expected, lists_of(sampler.sample(few.spans(false), 2))), "") << name_of(params);
    EXPECT_EQ(difference(expected, lists_of(first)), "") << "a later batch wrote into an earlier one";
  }
}

TEST(MinibatchEquivalence, ABatchOutlivesItsSampler)
{
  seed_lists const seeds = one_type_seeds();
  minibatch_params const params{.num_neighbors = {4, 3}};
  minibatch out;
  batch_lists expected;
  {
    minibatch_sampler sampler(hetero_graph(make_zoo(8)), params);
    out = sampler.sample(seeds.spans(false));
    expected = lists_of(out);
    minibatch_sampler moved = std::move(sampler);
    EXPECT_EQ(lists_of(moved.sample(seeds.spans(false))), expected);
    EXPECT_EQ(moved.params().num_neighbors, params.num_neighbors);
    EXPECT_EQ(moved.input().num_vertices(), (std::vector<std::int64_t>{64}));
  }
  EXPECT_EQ(lists_of(out), expected);
}

TEST(MinibatchEquivalence, OneCallIsASamplersBatch)
{
  graph const g = make_zoo(9);
  seed_lists const seeds = one_type_seeds();
  for (auto const& params : every_way(true, false, {4, 3})) {
    minibatch_sampler sampler(hetero_graph(g), params);
    EXPECT_EQ(lists_of(neighbor_sample(g, seeds.vertices[0], params, {}, 9)),
              lists_of(sampler.sample(seeds.spans(false), 9)));
  }
}

TEST(MinibatchEquivalence, SeedAndBatchNumberChangeABatch)
{
  graph const g = make_zoo(6);
  std::vector<vertex_id> const seeds = one_type_seeds().vertices[0];
  for (auto params : every_way(true, false, {4, 3})) {
    plain_batch const here = sampled_batch(g, seeds, params);
    EXPECT_FALSE(sampled_batch(g, seeds, params, {}, 1) == here);
    EXPECT_FALSE(sampled_batch(g, seeds, params, {}, std::uint64_t{1} << 40U) == here);
    params.seed += 100;
    EXPECT_FALSE(sampled_batch(g, seeds, params) == here);
  }
}

/// The edges sampled from each seed, by its place in the batch.
std::vector<std::vector<edge_id>> edges_of_seeds(plain_batch const& b)
{
  std::vector<std::vector<edge_id>> out(static_cast<std::size_t>(b.num_sampled_nodes[0]));
  for (std::int64_t k = 0; k < b.num_sampled_edges[0]; ++k) {
    out[static_cast<std::size_t>(b.row[k])].push_back(b.edge[k]);
  }
  return out;
}

TEST(MinibatchEquivalence, AVertexDrawsTheSameWhoeverItsNeighboursInTheBatchAre)
{
  graph const g = make_zoo(7);
  for (auto const& params : every_way(true, false, {3})) {
    if (params.subgraph != subgraph_type::directional) { continue; }
    auto const together = edges_of_seeds(sampled_batch(g, std::vector<vertex_id>{0, 7, 2}, params));
    auto const alone = edges_of_seeds(sampled_batch(g, std::vector<vertex_id>{0, 9}, params));
    EXPECT_EQ(together[0], alone[0]) << name_of(params);
    if (!params.disjoint) {
      auto const turned = edges_of_seeds(sampled_batch(g, std::vector<vertex_id>{2, 7, 0}, params));
      EXPECT_EQ(together[0], turned[2]) << name_of(params);
    }
  }
}

TEST(MinibatchEquivalence, AThrowingProgressReportEndsTheCallAndSpoilsNothing)
{
  hetero_graph const graph(make_zoo(6));
  seed_lists const seeds = many_seeds(1);
  for (int const threads : {1, 2}) {
    int calls = 0;
    bool refuse = false;
    cpu_exec exec{.num_threads = threads};
    exec.on_progress = [&](progress const& p) {
      EXPECT_STREQ(p.what, "sampling");
      EXPECT_LE(p.done, p.total);
      if (++calls; refuse && (p.done > 0 || p.total > 3)) { throw std::runtime_error("enough"); }
    };
    minibatch_params const params{.num_neighbors = {3, 2, 2}};
    minibatch_sampler sampler(graph, params, exec);
    batch_lists const expected = lists_of(sampler.sample(seeds.spans(false)));
    EXPECT_EQ(calls, 3);
    refuse = true;
    EXPECT_THROW((void)sampler.sample(seeds.spans(false)), std::runtime_error);
    EXPECT_THROW((void)sampler.sample_batches(0, seeds.vertices[0], 1), std::runtime_error);
    refuse = false;
    EXPECT_EQ(lists_of(sampler.sample(seeds.spans(false))), expected);
  }
}

}  // namespace
}  // namespace tendril::test
