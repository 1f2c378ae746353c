// Every multi-dimensional walk obeys the graph, is what docs/reproducibility.md says to the bit, and depends on
// neither threads nor batches.

#include <random>

#include <gtest/gtest.h>

#include <tendril/generate.hpp>
#include <tendril/multidim.hpp>

#include "cpu/walks/multidim_verifier.hpp"
#include "cpu/walks/reference_multidim.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

void expect_same(multidim_walks const& out, multidim_walks const& other)
{
  EXPECT_TRUE(std::equal(out.vertices.begin(), out.vertices.end(), other.vertices.begin(), other.vertices.end()));
  EXPECT_TRUE(std::equal(out.slots.begin(), out.slots.end(), other.slots.begin(), other.slots.end()));
  EXPECT_TRUE(std::equal(out.lengths.begin(), out.lengths.end(), other.lengths.begin(), other.lengths.end()));
}

/// Checks samples of `num_roots` roots against the verifier and the reference, by both choices of the root.
void expect_right(graph const& g, std::int64_t num_walks, std::int64_t num_roots, std::int64_t length,
                  std::uint64_t seed)
{
  auto const roots = random_roots(g, num_walks * num_roots, seed);
  for (auto const choose : {root_choice::by_degree, root_choice::uniform}) {
    multidim_params const params{.length = length, .choose = choose, .seed = seed};
    SCOPED_TRACE(::testing::Message() << num_roots << " roots, "
                                      << (choose == root_choice::uniform ? "uniform" : "by degree"));
    constexpr std::int64_t first_walk = (std::int64_t{1} << 33U) + 5;
    multidim_walks const out = multidim_walk(g, roots, num_roots, params, cpu_exec{}, first_walk);
    EXPECT_EQ(multidim_verifier(g, params)(roots, num_roots, out), "");
    for (std::int64_t i = 0; i < num_walks; ++i) {
      auto const own =
          std::span(roots).subspan(static_cast<std::size_t>(i * num_roots), static_cast<std::size_t>(num_roots));
      ASSERT_EQ(sample_of(out, i), reference_multidim(g, own, params, static_cast<std::uint64_t>(first_walk + i)))
          << "sample " << i;
    }
  }
}

TEST(MultidimInvariants, HoldOnGraphsWithEveryOddity)
{
  for (std::uint64_t const seed : {1U, 2U, 3U}) {
    graph const g = make_zoo(seed);
    for (std::int64_t const num_roots : {1, 2, 3, 8, 100}) { expect_right(g, 150, num_roots, 40, seed); }
  }
}

TEST(MultidimInvariants, HoldOnAHeavyTail)
{
  build_options build;
  build.symmetrize = true;
  graph const g = generate_rmat({.scale = 10, .edge_factor = 8, .seed = 5}, build, {});
  for (std::int64_t const num_roots : {1, 5, 64, 1000}) { expect_right(g, 70, num_roots, 100, 9); }
}

TEST(MultidimInvariants, HoldForOneStepAndForManyAndForTheMostRoots)
{
  graph const g = make_zoo(4);
  expect_right(g, 40, 7, 1, 4);
  expect_right(g, 5, 7, 3000, 4);
  expect_right(g, 2, max_num_roots, 50, 4);
}

TEST(MultidimInvariants, NeitherThreadsNorBatchesChangeASample)
{
  graph const g = make_zoo(5);
  constexpr std::int64_t num_roots = 6;
  constexpr std::int64_t num_walks = 500;
  auto const roots = random_roots(g, num_walks * num_roots, 5);
  for (auto const choose : {root_choice::by_degree, root_choice::uniform}) {
    multidim_params const params{.length = 30, .choose = choose, .seed = 5};
    multidim_walks const whole = multidim_walk(g, roots, num_roots, params, {.num_threads = 1}, 1000);
    for (int const threads : {2, 3, 7}) {
      expect_same(whole, multidim_walk(g, roots, num_roots, params, {.num_threads = threads}, 1000));
    }
    for (std::int64_t first = 0, size = 1; first < num_walks; first += size, size = 3 * size + 1) {
      std::int64_t const n = std::min(size, num_walks - first);
      auto const some = std::span(roots).subspan(static_cast<std::size_t>(first * num_roots),
                                                 static_cast<std::size_t>(n * num_roots));
      multidim_walks const part = multidim_walk(g, some, num_roots, params, cpu_exec{}, 1000 + first);
      for (std::int64_t i = 0; i < n; ++i) { ASSERT_EQ(sample_of(part, i), sample_of(whole, first + i)); }
    }
  }
}

TEST(MultidimInvariants, ALongerWalkBeginsAsAShorterOne)
{
  graph const g = make_zoo(6);
  auto const roots = random_roots(g, 40, 6);
  multidim_walks const shorter = multidim_walk(g, roots, 4, {.length = 10});
  multidim_walks const longer = multidim_walk(g, roots, 4, {.length = 25});
  for (std::int64_t i = 0; i < 10; ++i) {
    auto sample = sample_of(longer, i);
    sample.vertices.resize(14);
    sample.slots.resize(10);
    sample.length = std::min(sample.length, 10);
    EXPECT_EQ(sample, sample_of(shorter, i));
  }
}

/// A wheel: vertex 0 joined to 1 .. 6, which form a ring.
graph make_wheel()
{
  std::vector<test_edge> edges;
  for (vertex_id v = 1; v <= 6; ++v) {
    vertex_id const next = v % 6 + 1;
    for (auto const& [from, to] : {std::pair{0U, v}, {v, 0U}, {v, next}, {next, v}}) { edges.push_back({from, to}); }
  }
  return make_graph(7, edges);
}

TEST(MultidimInvariants, KnownAnswers)
{
  // Worked out by a program in another language that follows docs/reproducibility.md.
  graph const g = make_wheel();
  struct answer {
    root_choice choose;
    std::int64_t walk;
    multidim_sample sample;
  };
  constexpr std::int64_t far = (std::int64_t{1} << 40U) + 7;
  for (auto const& [choose, walk, sample] :
       {answer{
            root_choice::by_degree, 0, {{0, 3, 5, 5, 4, 4, 3, 5, 4, 2, 0, 2, 4}, {0, 2, 0, 2, 0, 0, 1, 1, 1, 2}, 10}},
        answer{
            root_choice::by_degree, far, {{0, 3, 5, 3, 0, 2, 0, 4, 3, 4, 0, 4, 5}, {0, 0, 1, 1, 2, 1, 0, 2, 1, 0}, 10}},
        answer{root_choice::uniform, 0, {{0, 3, 5, 4, 4, 3, 3, 4, 3, 3, 0, 2, 4}, {1, 2, 0, 2, 0, 0, 1, 1, 1, 2}, 10}},
        answer{root_choice::uniform,
               far,
               {{0, 3, 5, 2, 1, 1, 0, 4, 3, 2, 0, 4, 3}, {1, 0, 1, 1, 2, 1, 0, 2, 1, 0}, 10}}}) {
    multidim_params const params{.length = 10, .choose = choose, .seed = 42};
    multidim_walks const out = multidim_walk(g, std::vector<vertex_id>{0, 3, 5}, 3, params, cpu_exec{}, walk);
    EXPECT_EQ(sample_of(out, 0), sample);
  }
}

TEST(MultidimInvariants, DeadEnds)
{
  graph const path = make_graph(4, {{0, 1}, {1, 2}, {2, 3}});
  auto const walk = [&](std::vector<vertex_id> const& roots, root_choice choose) {
    multidim_walks const out =
        multidim_walk(path, roots, static_cast<std::int64_t>(roots.size()), {.length = 4, .choose = choose});
    return sample_of(out, 0);
  };
  for (auto const choose : {root_choice::by_degree, root_choice::uniform}) {
    EXPECT_EQ(walk({0}, choose), (multidim_sample{{0, 1, 2, 3, no_vertex}, {0, 0, 0, -1}, 3}));
    EXPECT_EQ(walk({3, 3}, choose),
              (multidim_sample{{3, 3, no_vertex, no_vertex, no_vertex, no_vertex}, {-1, -1, -1, -1}, 0}));
  }
  // By degree, a root without out-edges is never chosen: not before a root that has some, and not after it.
  EXPECT_EQ(walk({3, 1, 3}, root_choice::by_degree),
            (multidim_sample{{3, 1, 3, 2, 3, no_vertex, no_vertex}, {1, 1, -1, -1}, 2}));
}

TEST(MultidimInvariants, UniformWalksEndAtADeadRootOfMany)
{
  // One of the two roots is dead: the walk goes on as long as the other one is chosen, half of the time.
  graph const ring = make_graph(4, {{0, 1}, {1, 2}, {2, 0}});
  constexpr std::int64_t n = 20'000;
  std::vector<vertex_id> roots;
  for (std::int64_t i = 0; i < n; ++i) { roots.insert(roots.end(), {3, 0}); }
  multidim_walks const out = multidim_walk(ring, roots, 2, {.length = 20, .choose = root_choice::uniform});
  double steps = 0;
  for (auto const length : out.lengths) { steps += length; }
  // The length is geometric: mean 1, variance 2 (cut at 20, which changes neither by more than 1e-4).
  EXPECT_NEAR(steps / n, 1, 5 * std::sqrt(2.0 / n));
}

TEST(MultidimInvariants, NoRootsGiveNoSamples)
{
  for (graph const& g : {make_zoo(7), graph()}) {
    multidim_walks const out = multidim_walk(g, {}, 3, {});
    EXPECT_EQ(out.num_walks, 0);
    EXPECT_EQ(out.num_roots, 3);
    EXPECT_EQ(out.length, 100);
    EXPECT_EQ(out.vertices.size() + out.slots.size() + out.lengths.size(), 0);
  }
}

// The verifier itself must be able to fail.
class MultidimVerifier : public ::testing::Test {
 protected:
  template <class Change>
  [[nodiscard]] std::string after(Change change) const
  {
    graph const g = make_graph(4, {{0, 1}, {1, 2}, {2, 3}});
    std::vector<vertex_id> const roots = {3, 0};
    multidim_params const params{.length = 4};
    multidim_walks out = multidim_walk(g, roots, 2, params);  // 3 0 | 1 2 3 -, all by root 1
    EXPECT_EQ(multidim_verifier(g, params)(roots, 2, out), "");
    change(out);
    return multidim_verifier(g, params)(roots, 2, out);
  }
};

TEST_F(MultidimVerifier, FindsOtherRoots)
{
  EXPECT_EQ(after([](auto& out) { out.vertices[0] = 0; }), "sample 0: its roots are others");
}
TEST_F(MultidimVerifier, FindsAMissingEdge)
{
  EXPECT_EQ(after([](auto& out) { out.vertices[3] = 3; }), "sample 0: step 1: root 1: 1 -> 3 is no edge");
}
TEST_F(MultidimVerifier, FindsTheWrongRoot)
{
  EXPECT_EQ(after([](auto& out) { out.slots[1] = 0; }), "sample 0: step 1: root 0: 3 -> 2 is no edge");
}
TEST_F(MultidimVerifier, FindsARootThatIsNone)
{
  EXPECT_EQ(after([](auto& out) { out.slots[0] = 2; }), "sample 0: step 0: root 2");
}
TEST_F(MultidimVerifier, FindsAnEarlyEnd)
{
  EXPECT_EQ(after([](auto& out) { out.lengths[0] = 2; }), "sample 0: ends after 2 steps, but could go on");
}
TEST_F(MultidimVerifier, FindsWhatFollowsTheEnd)
{
  EXPECT_EQ(after([](auto& out) { out.slots[3] = 0; }), "sample 0: step 3 after its end holds 4294967295, 0");
}

}  // namespace
}  // namespace tendril::test
