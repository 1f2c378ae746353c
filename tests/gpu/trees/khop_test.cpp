// Trees of k-hop neighbourhoods on the GPU are the CPU's, to the byte: for every rule and kind of fan-out, beside hubs
// and dead ends, with and without positions of edges, and however the roots are split. Bad input gives the CPU's lines.

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/sample.hpp>

#include "gpu/tables/tables.hpp"
#include "plan/tables.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_forms.hpp"
#include "support/gpu_test.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

using fanout_list = std::vector<std::int64_t>;

struct choice {
  char const* name;
  bool replace, weighted;
  sampling_rule rule = sampling_rule::automatic;
};

std::vector<choice> all_choices()
{
  using enum sampling_rule;
  return {{"without replacement", false, false}, {"with replacement", true, false},
          {"weighted without", false, true},     {"weighted with", true, true},
          {"by its", true, true, its},           {"by scan without", false, true, scan}};
}

khop_params params_of(choice const& c, fanout_list fanouts, std::uint64_t seed = 0)
{
  return {.fanouts = std::move(fanouts), .replace = c.replace, .weighted = c.weighted, .rule = c.rule, .seed = seed};
}

std::vector<vertex_id> random_seeds(graph const& g, std::size_t count)
{
  std::mt19937_64 random(count);
  std::vector<vertex_id> out(count);
  for (auto& v : out) { v = static_cast<vertex_id>(random() % static_cast<std::uint64_t>(g.num_vertices())); }
  return out;
}

/// Says which array of which hop differs first, and where. @param with_edges  Whether on_gpu has edges; expected has.
void expect_same_trees(khop_trees const& on_gpu, khop_trees const& expected, bool with_edges)
{
  EXPECT_EQ(on_gpu.num_roots, expected.num_roots);
  ASSERT_EQ(on_gpu.hops.size(), expected.hops.size());
  for (std::size_t h = 0; h < expected.hops.size(); ++h) {
    auto const same = [&](char const* what, auto const& there, auto const& b) {
      auto const a = on_host(there);
      EXPECT_EQ(a.size(), std::ssize(b)) << what << " of hop " << h + 1;
      for (std::int64_t i = 0; i < std::min(a.size(), std::ssize(b)); ++i) {
        auto const wanted = b.data()[i];
        if (a[i] != wanted) {
          ADD_FAILURE() << what << " of hop " << h + 1 << " [" << i << "] of " << b.size() << ": " << a[i]
                        << ", expected " << wanted;
          return;
        }
      }
    };
    EXPECT_EQ(on_gpu.hops[h].fanout, expected.hops[h].fanout);
    same("offsets", on_gpu.hops[h].offsets, expected.hops[h].offsets);
    same("vertices", on_gpu.hops[h].vertices, expected.hops[h].vertices);
    same("edges", on_gpu.hops[h].edges, with_edges ? expected.hops[h].edges.span() : std::span<edge_id const>());
  }
}

class KhopOnGpu : public gpu_test {
 protected:
  static constexpr std::int64_t first_root = 0xfffffff0LL;  // logical ids cross 2^32

  /// The trees on each of the graphs `forms`, with edges and without, against one run of the CPU.
  void compare(graph const& g, std::vector<graph> const& forms, std::vector<vertex_id> const& seeds,
               khop_params const& params) const
  {
    auto const expected = khop_sample(g, seeds, params, cpu_exec{}, first_root, true);
    for (graph const& there : forms) { compare_form(there, seeds, params, expected); }
  }
  void compare_form(graph const& there, std::vector<vertex_id> const& seeds, khop_params const& params,
                    khop_trees const& expected) const
  {
    auto const from = on_gpu(seeds, exec);
    for (bool const with_edges : {true, false}) {
      SCOPED_TRACE(::testing::Message() << seeds.size() << " seeds, fan-outs " << testing::PrintToString(params.fanouts)
                                        << (params.replace ? ", replace" : "")
                                        << (params.weighted ? ", weighted " : " ") << to_string(params.rule)
                                        << (with_edges ? ", edges" : ""));
      expect_same_trees(khop_sample(there, from.span(), params, exec, first_root, with_edges), expected, with_edges);
    }
  }
  void compare(graph const& g, std::vector<vertex_id> const& seeds, std::vector<fanout_list> const& fanouts) const
  {
    auto const forms = all_forms_on_gpu(g, exec);
    for (auto const& c : all_choices()) {
      for (auto const& f : fanouts) { compare(g, forms, seeds, params_of(c, f, 5)); }
    }
  }
};

TEST_F(KhopOnGpu, IsTheCpusOnTheZoo)
{
  for (std::uint64_t const seed : {1U, 2U}) {
    graph const g = make_zoo(seed);
    compare(g, starts_everywhere(g, 3),
            {{1}, {2}, {3}, {5}, {10}, {25}, {32}, {33}, {64}, {65}, {100}, {200}, {-1}, {2, 3, 2}, {40, 2}, {200, 3}});
  }
}

TEST_F(KhopOnGpu, IsTheCpusWhereHopsTakeAllNeighbours)
{
  graph const g = make_zoo(3);
  compare(
      g, starts_everywhere(g, 5),
      {{-1, 2}, {3, -1}, {-1, -1, 1}, {1, -1, 2}, {-1, 3, 2}, {2, -1, 3, 2}, {-1, 70}, {-1, 2, -1, 2}, {-1, -1, -1}});
}

TEST_F(KhopOnGpu, IsTheCpusOnASkewedGraph)
{
  graph const g =
      generate_rmat({.scale = 15, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, {.has_weights = true});
  compare(g, random_seeds(g, 3000), {{25, 10}, {15, 10, 5}, {1, 1, 1}});
  compare(g, random_seeds(g, 300), {{33, 20}, {100, 3}, {10, 100}, {-1, 5}, {5, -1}});
  compare(g, random_seeds(g, 30), {{1000, 3}, {70, 70}, {-1, -1}});
}

TEST_F(KhopOnGpu, IsTheCpusForOneRootAVertex)
{
  graph const g = generate_rmat({.scale = 16, .edge_factor = 8, .seed = 3}, {}, {.has_weights = true});
  compare(g, starts_everywhere(g, 1), {{10}, {7, 2}, {-1}});
}

// More edges than a warp takes on, with few and many picks, down to all of them.
TEST_F(KhopOnGpu, IsTheCpusBesideAHub)
{
  std::mt19937_64 random(7);
  std::vector<float> weights(200'003);
  for (auto& w : weights) { w = random() % 5 == 0 ? 0.0F : static_cast<float>(random() % 1000) / 8.0F; }
  for (std::size_t const degree : {4095U, 4096U, 4097U, 4224U, 200'003U}) {
    graph const star = make_star({weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(degree)});
    std::vector<vertex_id> const seeds = {0, 0, 1, 0, 2, 0, 0, 5, 0, 0, 0};
    compare(star, seeds, {{1}, {2}, {10}, {25}, {32}, {33}, {64}, {65}, {100}, {257}, {1000}, {4000}, {-1}, {3, 2}});
  }
}

// Tables and buffers that shared memory doesn't hold; fan-outs that exceed every degree.
TEST_F(KhopOnGpu, IsTheCpusForLargeFanouts)
{
  std::vector<float> weights(60'000);
  for (std::size_t i = 0; i < weights.size(); ++i) { weights[i] = static_cast<float>(i % 7); }
  graph const star = make_star(weights);
  compare(star, {0, 3, 0, 0}, {{4096}, {4097}, {5000}, {30'000}, {59'999}, {60'000}, {60'001}, {100'000}});
}

// Repeats among candidates, and chains of them: the fan-out is just below the degree.
TEST_F(KhopOnGpu, IsTheCpusWhereCandidatesMeet)
{
  for (std::uint32_t const degree : {2U, 3U, 5U, 11U, 12U, 26U, 31U, 33U, 34U, 65U, 66U, 67U, 101U, 130U, 1000U}) {
    graph const g = make_star(std::vector<float>(degree, 1.0F));
    auto const forms = all_forms_on_gpu(g, exec);
    std::vector<vertex_id> const seeds(700, 0);
    for (std::int64_t k = std::max<std::int64_t>(1, degree - 4); k <= degree + 1; ++k) {
      compare(g, forms, seeds, {.fanouts = {k}, .seed = 9});
    }
    compare(g, forms, seeds, {.fanouts = {degree / 2 + 1}, .seed = 9});
  }
}

// Weights over 12 orders of magnitude, and vertices of all degrees up to some hundreds.
TEST_F(KhopOnGpu, IsTheCpusForWeightsOfAnySize)
{
  std::mt19937_64 random(11);
  std::vector<test_edge> edges;
  for (vertex_id v = 0; v < 400; ++v) {
    for (vertex_id i = 0; i < v; ++i) {
      float const w =
          random() % 4 == 0 ? 0.0F : static_cast<float>(std::pow(10.0, static_cast<double>(random() % 1200) / 100 - 6));
      edges.push_back({v, static_cast<vertex_id>(random() % 400), w});
    }
  }
  graph const g = make_graph(400, edges);
  compare(g, starts_everywhere(g, 2), {{1}, {10}, {31}, {32}, {33}, {100}, {10, 10}});
}

TEST_F(KhopOnGpu, BatchesDontChangeATree)
{
  graph const g = make_zoo(4);
  for (auto const& there : all_forms_on_gpu(g, exec)) {
    auto const seeds = starts_everywhere(g, 20);
    auto const from = on_gpu(seeds, exec);
    for (auto const& c : all_choices()) {
      for (auto const& fanouts : std::vector<fanout_list>{{4, 2}, {-1, 3}, {2, -1, 2}}) {
        khop_params const params = params_of(c, fanouts);
        khop_trees const whole = khop_sample(g, seeds, params, cpu_exec{}, first_root, true);
        std::vector<std::int64_t> done(fanouts.size(), 0);
        for (std::size_t begin = 0, count = 1; begin < seeds.size(); begin += count, count = 3 * count + 1) {
          count = std::min(count, seeds.size() - begin);
          khop_trees const part = khop_sample(there, from.span().subspan(begin, count), params, exec,
                                              first_root + static_cast<std::int64_t>(begin), true);
          for (std::size_t h = 0; h < fanouts.size(); ++h) {
            auto const edges = on_host(part.hops[h].edges);
            ASSERT_TRUE(std::equal(edges.begin(), edges.end(), whole.hops[h].edges.data() + done[h])) << c.name;
            done[h] += edges.size();
          }
        }
        for (std::size_t h = 0; h < fanouts.size(); ++h) { EXPECT_EQ(done[h], whole.hops[h].edges.size()); }
      }
    }
  }
}

TEST_F(KhopOnGpu, BucketsOfPositionsAreTheCpus)
{
  graph const g = make_zoo(6);
  auto const expected = plan::make_alias_buckets(g.csr(), cpu_exec{});
  for (std::int64_t const most_edges : {gpu::batch_edges, std::int64_t{40}}) {
    auto const got = on_host(gpu::make_alias_buckets(to_gpu(g, exec).csr(), exec, most_edges));
    ASSERT_EQ(got.size(), expected.size());
    for (std::int64_t e = 0; e < got.size(); ++e) {
      ASSERT_EQ(got[e].threshold, expected[e].threshold) << e;
      ASSERT_EQ(got[e].other, expected[e].other) << e;
    }
  }
}

TEST_F(KhopOnGpu, NoSeedsAndDeadEnds)
{
  compare(make_zoo(1), {}, {{3}, {3, -1, 2}, {-1, 2}});
  compare(make_zoo(1), {50, 61, 55}, {{3}, {100, 2}, {3, -1, 2}, {-1, 2}, {-1, -1}});
  compare(make_graph(4, {}), {3, 1, 3}, {{2, 2}, {-1, 2}, {2, -1}});
  compare(graph(), {}, {{2, 2}, {-1}});
}

TEST_F(KhopOnGpu, PlansAsTheCpuDoes)
{
  graph const g = make_zoo(1);
  graph const there = to_gpu(g, exec);
  for (auto const& c : all_choices()) {
    khop_params const params = params_of(c, {3, 2});
    EXPECT_EQ(plan_khop(there, params, 10, exec).rule, plan_khop(g, params, 10).rule) << c.name;
  }
  khop_params const params{.fanouts = {3}, .replace = true, .weighted = true};
  EXPECT_EQ(plan_khop(there, params, 10, exec).table_bytes_built, 0);
  (void)khop_sample(there, on_gpu<vertex_id>({0}, exec).span(), params, exec);
  EXPECT_EQ(plan_khop(there, params, 10, exec).table_bytes_built, 16 * g.num_edges());
}

TEST_F(KhopOnGpu, RefusesWhatTheCpuRefuses)
{
  graph const g = make_graph(3, {{0, 1}}, {.weights = false});
  graph const there = to_gpu(g, exec);
  auto const error = [&](std::vector<vertex_id> const& seeds, khop_params const& params, std::int64_t first = 0) {
    auto const from = on_gpu(seeds, exec);
    std::string const on_gpu =
        message_of<argument_error>([&] { (void)khop_sample(there, from.span(), params, exec, first); });
    EXPECT_EQ(message_of<argument_error>([&] { (void)khop_sample(g, seeds, params, cpu_exec{}, first); }), on_gpu);
    compare(g, {there}, {0, 1, 2}, {});  // the GPU can be used afterwards
    return on_gpu;
  };
  EXPECT_EQ(error({0}, {.fanouts = {}}), "fanouts: none given, expected one a hop");
  EXPECT_EQ(error({0}, {.fanouts = {3, 0}}), "fanouts: 0 at hop 2, expected 1 or more, or -1 for all neighbours");
  EXPECT_EQ(error({0}, {.fanouts = {65'536, 65'536}}), "fanouts: more than 2^31 slots a tree at hop 2");
  EXPECT_EQ(error({0}, {}, -1), "first_root: -1, expected 0 or more");
  EXPECT_EQ(error({0}, {.weighted = true}), "weighted: the graph has no weights, expected one an edge");
  EXPECT_EQ(error({0}, {.rule = sampling_rule::its}), "rule its: not for unweighted trees, expected auto or uniform");
  for (bool const replace : {false, true}) {
    for (auto const& fanouts : std::vector<fanout_list>{{2, 2}, {100}, {-1, 2}, {-1}}) {
      EXPECT_EQ(error({0, 2, 3, 9}, {.fanouts = fanouts, .replace = replace}),
                "seed 2: vertex 3 is out of range, the graph has 3 vertices");
    }
  }
  EXPECT_EQ(error({no_vertex}, {}), "seed 0: vertex 4294967295 is out of range, the graph has 3 vertices");
  EXPECT_EQ(error(std::vector<vertex_id>(40'000, 7), {}), "seed 0: vertex 7 is out of range, the graph has 3 vertices");
  EXPECT_EQ(message_of<argument_error>([&] { (void)khop_sample(g, {}, {}, exec); }),
            "graph: it is in host memory, expected one on GPU 0 (to_gpu)");
}

TEST_F(KhopOnGpu, RefusesBadSeedsOfWeightedTrees)
{
  graph const g = make_graph(3, {{0, 1}});
  graph const there = to_gpu(g, exec);
  auto const from = on_gpu<vertex_id>({0, 1, 5, 4}, exec);
  for (auto const& c : all_choices()) {
    EXPECT_EQ(message_of<argument_error>([&] { (void)khop_sample(there, from.span(), params_of(c, {2}), exec); }),
              "seed 2: vertex 5 is out of range, the graph has 3 vertices")
        << c.name;
  }
}

}  // namespace
}  // namespace tendril::test
