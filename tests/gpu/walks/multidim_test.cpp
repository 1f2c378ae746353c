// Multi-dimensional walks of the GPU are the CPU's, to the byte, for both choices of the root, wherever the sets of
// roots lie and however the work is split. Bad input gives the CPU's lines, and the GPU can be used afterwards.

#include <random>

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/multidim.hpp>

#include "support/gpu_copies.hpp"
#include "support/gpu_forms.hpp"
#include "support/gpu_test.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

using enum root_choice;

class MultidimOnGpu : public gpu_test {
 protected:
  static void expect_same(multidim_walks const& got, multidim_walks const& expected)
  {
    EXPECT_EQ(got.num_walks, expected.num_walks);
    EXPECT_EQ(got.num_roots, expected.num_roots);
    EXPECT_EQ(got.length, expected.length);
    EXPECT_TRUE(copied(got.lengths) == copied(expected.lengths));
    EXPECT_TRUE(copied(got.slots) == copied(expected.slots));
    EXPECT_TRUE(copied(got.vertices) == copied(expected.vertices));
  }

  /// Walks on both sides, from sets of random roots, on the GPU on every form of the graph.
  void compare(graph const& g, std::int64_t num_walks, std::int64_t num_roots, std::int64_t length)
  {
    for (graph const& there : all_forms_on_gpu(g, exec)) { compare(g, there, num_walks, num_roots, length); }
  }
  void compare(graph const& g, graph const& there, std::int64_t num_walks, std::int64_t num_roots, std::int64_t length)
  {
    auto const roots = random_roots(g, num_walks * num_roots);
    auto const from = on_gpu(roots, exec);
    std::int64_t const first = 0xfffffff0LL;  // logical ids cross 2^32
    for (auto const choose : {by_degree, uniform}) {
      SCOPED_TRACE(::testing::Message() << num_walks << " samples of " << num_roots << " roots, " << length
                                        << " steps, " << (choose == uniform ? "uniform" : "by degree"));
      multidim_params const params{.length = length, .choose = choose, .seed = 77};
      expect_same(multidim_walk(there, from.span(), num_roots, params, exec, first),
                  multidim_walk(g, roots, num_roots, params, cpu_exec{}, first));
    }
  }

  std::string error(std::vector<vertex_id> const& roots, std::int64_t num_roots, multidim_params const& params = {},
                    std::int64_t first_walk = 0)
  {
    graph const there = to_gpu(ring(), exec);
    auto const from = on_gpu(roots, exec);
    std::string const message = message_of<argument_error>(
        [&] { (void)multidim_walk(there, from.span(), num_roots, params, exec, first_walk); });
    std::vector<vertex_id> const good = {0, 1, 2};
    expect_same(multidim_walk(there, on_gpu(good, exec).span(), 3, {}, exec), multidim_walk(ring(), good, 3, {}));
    return message;
  }

  static graph ring() { return make_graph(3, {{0, 1}, {1, 2}, {2, 0}}); }
};

TEST_F(MultidimOnGpu, IsTheCpusOnTheZoo)
{
  for (std::uint64_t const seed : {1U, 2U}) {
    graph const g = make_zoo(seed);
    for (std::int64_t const num_roots : {1, 2, 3, 8, 31, 64, 100}) { compare(g, 700, num_roots, 40); }
  }
}

TEST_F(MultidimOnGpu, IsTheCpusOnASkewedGraph)
{
  graph const g = generate_rmat({.scale = 14, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, {});
  for (std::int64_t const num_roots : {1, 10, 100}) { compare(g, 40'000 / num_roots, num_roots, 100); }
}

TEST_F(MultidimOnGpu, IsTheCpusWhereSetsDontFitSharedMemory)
{
  graph const g = generate_rmat({.scale = 12, .edge_factor = 8, .seed = 3}, {.symmetrize = true}, {});
  for (std::int64_t const num_roots : {200, 201, 600, 5000}) { compare(g, 300, num_roots, 70); }
  compare(g, 3, max_num_roots, 200);
}

// Roots chosen uniformly are shared by 8 lanes up to 256 of them, then by 32, in shared memory or not.
TEST_F(MultidimOnGpu, IsTheCpusForSetsOfAnySize)
{
  graph const g = generate_rmat({.scale = 10, .edge_factor = 8, .seed = 4}, {.symmetrize = true}, {});
  for (std::int64_t const num_roots : {255, 256, 257, 1000, 3600, 3617, 3700, 7300, 30'000}) {
    compare(g, 67, num_roots, 75);
  }
}

// Few roots are chosen again and again: steps that are taken together wait for each other.
TEST_F(MultidimOnGpu, IsTheCpusWhereStepsShareARoot)
{
  graph const g = generate_rmat({.scale = 9, .edge_factor = 8, .seed = 5}, {.symmetrize = true}, {});
  for (std::int64_t const num_roots : {1, 2, 3, 4, 7}) {
    for (std::int64_t const length : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 101}) {
      compare(g, 300 + length, num_roots, length);
    }
  }
}

// A directed graph with many vertices that can't be left: samples end within the steps that are taken together, and
// what was tried after the end leaves no trace.
TEST_F(MultidimOnGpu, IsTheCpusWhereSamplesEndEarly)
{
  graph const g = generate_rmat({.scale = 10, .edge_factor = 3, .seed = 6}, {}, {});
  for (std::int64_t const num_roots : {1, 2, 3, 5, 20, 100, 300, 4000}) {
    for (std::int64_t const length : {1, 6, 8, 13, 90}) { compare(g, 513, num_roots, length); }
  }
  graph const chain = make_graph(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}});
  for (std::int64_t const num_roots : {1, 2, 6}) { compare(chain, 1000, num_roots, 40); }
}

// A job of fewer steps than there are vertices reads the graph's offsets, another makes a table of rows, which the
// former finds the next time.
TEST_F(MultidimOnGpu, IsTheCpusWithAndWithoutATableOfRows)
{
  graph const g = generate_rmat({.scale = 14, .edge_factor = 8, .seed = 7}, {.symmetrize = true}, {});
  for (std::int64_t const num_roots : {5, 100, 400, 4000}) {
    graph const there = to_gpu(g, exec);
    compare(g, there, 30, num_roots, 50);
    compare(g, there, 400, num_roots, 50);
    compare(g, there, 30, num_roots, 50);
  }
}

// Degrees of a set that add up to more than 32 bits hold.
TEST_F(MultidimOnGpu, IsTheCpusWhereSumsOfDegreesAreLarge)
{
  graph const star = make_star(std::vector<float>(std::size_t{1} << 17U, 1));
  std::int64_t const num_roots = 40'000;
  std::vector<vertex_id> const roots(3 * static_cast<std::size_t>(num_roots), 0);
  multidim_params const params{.length = 50'000};  // enough steps for a table of rows
  for (graph const& there : all_forms_on_gpu(star, exec)) {
    expect_same(multidim_walk(there, on_gpu(roots, exec).span(), num_roots, params, exec),
                multidim_walk(star, roots, num_roots, params));
  }
}

TEST_F(MultidimOnGpu, IsTheCpusForMoreSamplesThanThreads)
{
  graph const g = make_zoo(3);
  compare(g, 700'000, 2, 5);
  compare(g, 60'000, 150, 3);
}

TEST_F(MultidimOnGpu, IsTheCpusForOneStepAndForOneSample)
{
  graph const g = make_zoo(4);
  compare(g, 1, 1, 1);
  compare(g, 33, 5, 1);
  compare(g, 1, 9, 2000);
}

TEST_F(MultidimOnGpu, IsTheCpusBesideAHub)
{
  graph const star = make_star(std::vector<float>((std::size_t{1} << 20U) + 3, 1));
  std::vector<vertex_id> const roots(30'000, 0);
  expect_same(multidim_walk(to_gpu(star, exec), on_gpu(roots, exec).span(), 3, {.length = 4}, exec),
              multidim_walk(star, roots, 3, {.length = 4}));
}

TEST_F(MultidimOnGpu, BatchesDontChangeASample)
{
  graph const g = make_zoo(5);
  graph const there = to_gpu(g, exec);
  auto const roots = random_roots(g, 900 * 4);
  auto const from = on_gpu(roots, exec);
  multidim_params const params{.length = 20, .seed = 5};
  auto const whole = copied(multidim_walk(there, from.span(), 4, params, exec).vertices);
  std::vector<vertex_id> parts;
  for (std::size_t first = 0, size = 1; first < 900; first += size, size = 2 * size + 5) {
    std::size_t const n = std::min(size, 900 - first);
    auto const part =
        multidim_walk(there, from.span().subspan(4 * first, 4 * n), 4, params, exec, static_cast<std::int64_t>(first));
    for (auto const v : copied(part.vertices)) { parts.push_back(v); }
  }
  EXPECT_TRUE(parts == whole);
}

TEST_F(MultidimOnGpu, NoRootsGiveNoSamples)
{
  for (graph const& g : {ring(), graph()}) {
    multidim_walks const out = multidim_walk(to_gpu(g, exec), {}, 3, {}, exec);
    EXPECT_EQ(out.num_walks, 0);
    EXPECT_EQ(out.vertices.size() + out.slots.size() + out.lengths.size(), 0);
  }
}

TEST_F(MultidimOnGpu, RefusesWhatTheCpuRefuses)
{
  EXPECT_EQ(error({0}, 0), "num_roots: 0, expected 1 to 65535 roots a sample");
  EXPECT_EQ(error({0, 1, 2}, 2), "roots: 3 vertices, expected a multiple of num_roots, 2");
  EXPECT_EQ(error({0, 1, 2, 3}, 2), "root 3: vertex 3 is out of range, the graph has 3 vertices");
  EXPECT_EQ(error({0, 9, 7, 3}, 2), "root 1: vertex 9 is out of range, the graph has 3 vertices");
  EXPECT_EQ(error(std::vector<vertex_id>(40'000, 7), 2), "root 0: vertex 7 is out of range, the graph has 3 vertices");
  EXPECT_EQ(error({0, 9, 7, 3}, 2, {.choose = uniform}), "root 1: vertex 9 is out of range, the graph has 3 vertices");
  EXPECT_EQ(error({no_vertex}, 1), "root 0: vertex 4294967295 is out of range, the graph has 3 vertices");
  EXPECT_EQ(error({0}, 1, {.length = 0}), "length: 0, expected 1 to 2147483646 steps");
  EXPECT_EQ(error({0}, 1, {}, -1), "first_walk: -1, expected 0 or more");
  EXPECT_EQ(message_of<argument_error>(
                [&] { (void)multidim_walk(to_gpu(graph(), exec), on_gpu<vertex_id>({0}, exec).span(), 1, {}, exec); }),
            "root 0: vertex 0 is out of range, the graph has 0 vertices");
}

TEST_F(MultidimOnGpu, NamesAGraphThatIsElsewhere)
{
  EXPECT_EQ(message_of<argument_error>([&] { (void)multidim_walk(ring(), {}, 1, {}, exec); }),
            "graph: it is in host memory, expected one on GPU 0 (to_gpu)");
}

}  // namespace
}  // namespace tendril::test
