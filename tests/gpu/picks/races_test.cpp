// Races of k-hop trees and of mini-batches on the GPU are the CPU's, slot by slot, however they are scheduled, and whether
// they guess or not: for degrees from 0 to beyond what one block takes, and weights that fool a guess.

#include "gpu/picks/race.hpp"

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include <tendril/generate.hpp>
#include <tendril/sample.hpp>

#include "core/draws.hpp"
#include "gpu/batches/minibatch_picks_support.hpp"
#include "gpu/picks/lists.hpp"
#include "gpu/trees/khop.hpp"

namespace tendril::test {
namespace {

/// A way to schedule a race.
struct race_way {
  std::string name;
  gpu::race_execution how;
};

std::vector<race_way> const race_ways = {{"by degree, guessed", {.by_degree = true, .guessed = true}},
                                         {"by degree", {.by_degree = true, .guessed = false}},
                                         {"in order, guessed", {.by_degree = false, .guessed = true}},
                                         {"in order", {.by_degree = false, .guessed = false}}};

/// Scratch memory of a race, full of garbage: what was there before doesn't matter.
buffer<char> dirty_scratch(std::int64_t most_vertices, std::uint32_t k, gpu_exec const& exec)
{
  buffer<char> out(gpu::race_scratch_bytes(most_vertices, k), memory_of(exec));
  EXPECT_EQ(cudaMemset(out.data(), 0x5a, static_cast<std::size_t>(out.size())), cudaSuccess);
  return out;
}

/// Who races: every vertex `copies` times, in no order.
struct racers {
  int copies = 1;
  std::uint32_t num_groups = 1;  ///< Batches or trees of mini-batches that the vertices belong to.
  std::int64_t beyond = 0;       ///< What the kernels' bound of mini-batches exceeds the number of vertices by.
};

/// Races of one hop of k-hop trees.
class TreeRaces : public gpu_test {
 protected:
  static constexpr int copies_of_hubs = 400;

  void compare(graph const& g, std::vector<graph> const& forms, racers const& who, std::uint32_t k) const
  {
    std::vector<vertex_id> parents = starts_everywhere(g, who.copies);
    std::mt19937_64 random(static_cast<std::uint64_t>(who.copies));
    std::shuffle(parents.begin(), parents.end(), random);
    auto const trees =
        khop_sample(g, parents, {.fanouts = {k}, .weighted = true, .seed = seed}, cpu_exec{}, first_root, true);
    tree_hop const& expected = trees.hops.front();
    auto const from = on_gpu(parents, exec);
    std::int64_t const size = from.size();
    for (auto const& there : forms) {
      for (auto const& way : race_ways) {
        SCOPED_TRACE(testing::Message() << "fan-out " << k << ", " << way.name);
        buffer<vertex_id> vertices(size * k, memory_of(exec));
        buffer<edge_id> edges(size * k, memory_of(exec));
        auto scratch = dirty_scratch(size, k, exec);
        gpu::khop_job job;
        job.graph = there.view();
        job.parents = {from.data(), size, size, 1, nullptr};
        job.first_root = static_cast<std::uint64_t>(first_root);
        job.key = core::khop_key(seed, 1);
        job.fanout = job.most_picks = k;
        job.vertices = vertices.data();
        job.edges = edges.data();
        gpu::race_hop(job, scratch.data(), way.how, exec);
        synchronize(exec);
        expect_same(on_host(vertices), expected.vertices, parents, k);
        expect_same(on_host(edges), expected.edges, parents, k);
      }
    }
  }

 private:
  static constexpr std::uint64_t seed = 17;
  static constexpr std::int64_t first_root = 0xfffffff0LL;  // logical ids cross 2^32

  template <class T>
  static void expect_same(buffer<T> const& got, buffer<T> const& expected, std::vector<vertex_id> const& parents,
                          std::uint32_t k)
  {
    ASSERT_EQ(got.size(), expected.size());
    auto const at = std::mismatch(got.begin(), got.end(), expected.begin()).first - got.begin();
    if (at == got.size()) { return; }
    ADD_FAILURE() << "slot " << at % k << " of parent " << at / k << ", vertex "
                  << parents[static_cast<std::size_t>(at / k)] << ": " << got[at] << ", expected " << expected[at];
  }
};

/// Races of one hop of mini-batches.
class BatchRaces : public picks_test {
 protected:
  static constexpr int copies_of_hubs = 1200;

  void compare(graph const& g, std::vector<graph> const& forms, racers const& who, std::uint32_t k)
  {
    compare(g, forms, make_frontier(g, who.copies, who.num_groups, who.beyond), k);
  }

  void compare(graph const& g, std::vector<graph> const& forms, frontier const& f, std::uint32_t k)
  {
    std::vector<std::pair<std::string, enqueue>> ways;
    for (auto const& way : race_ways) {
      ways.emplace_back(way.name, [this, how = way.how](gpu::expansion const& what) {
        scratch_ = dirty_scratch(what.most_vertices, what.fanout, exec);
        gpu::pick_race(what, scratch_.data(), how, exec);
      });
    }
    picks_test::compare(g, forms, nullptr, f, k, pick_choice::race, ways);
  }

 private:
  buffer<char> scratch_;  ///< Until the stream is synchronised.
};

// Both ---------------------------------------------------------------------------------------------------------------

struct name_of_race {
  template <class Races>
  static std::string GetName(int)
  {
    return std::is_same_v<Races, TreeRaces> ? "Trees" : "Batches";
  }
};

template <class Races>
class RacesOnGpu : public Races {
 protected:
  /// Races on every form of the graph.
  void compare(graph const& g, racers const& who, std::vector<std::uint32_t> const& fanouts)
  {
    auto const forms = all_forms_on_gpu(g, this->exec);
    for (std::uint32_t const k : fanouts) { Races::compare(g, forms, who, k); }
  }
};

using both = testing::Types<TreeRaces, BatchRaces>;
TYPED_TEST_SUITE(RacesOnGpu, both, name_of_race);

TYPED_TEST(RacesOnGpu, AreTheCpus)
{
  graph const g = make_lists(all_degrees());
  std::vector<std::uint32_t> even, odd;
  for (std::uint32_t const k : all_fanouts) { (k % 2 == 0 ? even : odd).push_back(k); }
  this->compare(g, {.copies = 4, .num_groups = 7}, even);
  this->compare(g, {.copies = 4, .num_groups = 7, .beyond = 1000}, odd);
}

// Buffers that shared memory doesn't hold; more picks than edges.
TYPED_TEST(RacesOnGpu, OfLargeFanoutsAreTheCpus)
{
  this->compare(make_lists(all_degrees()), {.copies = 1, .num_groups = 3, .beyond = 5},
                {1000, 4096, 4097, 5000, 70'000});
}

TYPED_TEST(RacesOnGpu, AreTheCpusWhateverTheWeights)
{
  auto const shapes = fooling_shapes();
  std::vector<std::uint32_t> degrees;
  for (std::uint32_t const degree : {6U, 30U, 100U, 240U, 1300U, 5000U, 9000U, 40'000U, 300'000U}) {
    degrees.insert(degrees.end(), shapes.size(), degree);
  }
  this->compare(make_lists(degrees, shapes), {.copies = 2, .num_groups = 5, .beyond = 10}, {1, 5, 10, 30, 32, 33, 300});
}

// More parts of hubs than there is room for: what doesn't fit is a block's work.
TYPED_TEST(RacesOnGpu, OfMoreHubsThanFitAreTheCpus)
{
  this->compare(make_lists({70'000, 100'000, 5, 0, 30'000}), {.copies = TestFixture::copies_of_hubs, .num_groups = 3},
                {10, 32, 100});
}

// Frontiers that keep all warps busy: work is cut more coarsely, and taken several vertices at a time.
TYPED_TEST(RacesOnGpu, OfLargeFrontiersAreTheCpus)
{
  std::vector<std::uint32_t> degrees(3000);
  std::mt19937_64 random(3);
  for (auto& d : degrees) { d = std::min(50'000U, 6000U / static_cast<std::uint32_t>(random() % 3000 + 1)); }
  degrees[17] = 40'000;  // hubs of several blocks, however coarsely work is cut
  degrees[1999] = 33'000;
  this->compare(make_lists(degrees), {.copies = 8, .num_groups = 2, .beyond = 100'000}, {5, 15, 30, 40});
}

// Trees --------------------------------------------------------------------------------------------------------------

class TreeRacesOnGpu : public TreeRaces {};

// A launch takes less than 2^22 parents; the roots behind them have logical ids of their own.
TEST_F(TreeRacesOnGpu, OfMoreParentsThanALaunchTakesAreTheCpus)
{
  graph const g = generate_rmat({.scale = 10, .edge_factor = 4, .seed = 2}, {}, {.has_weights = true});
  racers const who{.copies = (1 << 12) + 3};
  ASSERT_GT(g.num_vertices() * who.copies, std::int64_t{1} << 22U);
  compare(g, all_forms_on_gpu(g, exec), who, 2);
}

// Batches ------------------------------------------------------------------------------------------------------------

class BatchRacesOnGpu : public BatchRaces {};

/// A tree for which one of the bits of vertex v that belong to no candidate, but to the last stretch, are all zero.
std::uint32_t tree_with_zero_bits(rng_key key, vertex_id v, std::uint32_t degree)
{
  for (std::uint32_t tree = 1;; ++tree) {
    std::uint64_t const item = v | (std::uint64_t{tree} << 32U);
    for (std::uint32_t i = degree; i % core::race_stretch != 0; ++i) {
      auto const block = core::race_high_block(key, item, pick_step, 0, core::race_block_offset(i));
      if (core::select_word(block, core::race_word(i)) < 512) { return tree; }  // 23 bits are looked at
    }
  }
}

// A warp's list, a block's, a hub's last part; the neighbours' edges lie behind them, with weights of their own.
TEST_F(BatchRacesOnGpu, DontSeeWhatFillsUpAStretch)
{
  std::vector<std::uint32_t> const degrees = {200, 1500, 20'100, 300};
  graph const g = make_lists(degrees, {[](std::uint32_t, std::mt19937_64&) { return 1.0F; }});
  auto const there = all_forms_on_gpu(g, exec);
  frontier f;
  for (vertex_id v = 0; v < 3; ++v) {
    gpu::batch_group whom;
    whom.key = core::make_key(31, core::domain::minibatch, v);
    whom.tree = tree_with_zero_bits(whom.key, v, degrees[v]);
    f.vertices.push_back(v);
    f.group_of.push_back(v);
    f.groups.push_back(whom);
  }
  f.bound = f.size();
  for (std::uint32_t const k : {5U, 10U, 40U}) { compare(g, there, f, k); }
}

TEST_F(BatchRacesOnGpu, OfNoVertex)
{
  graph const g = make_lists({3, 50, 2000});
  auto const there = all_forms_on_gpu(g, exec);
  for (std::int64_t const bound : {0, 1, 500}) {
    frontier f;
    f.groups.resize(1);
    f.bound = bound;
    for (std::uint32_t const k : {3U, 70U}) { compare(g, there, f, k); }
  }
}

}  // namespace
}  // namespace tendril::test
