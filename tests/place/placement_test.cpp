// Which lists of a placed graph lie on the GPU, and that all of them are what they were, wherever they lie.

#include "place/placement.hpp"

#include <algorithm>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/generate.hpp>

#include "support/any_lists.hpp"
#include "support/list_graph.hpp"
#include "support/to_array.hpp"

namespace tendril {
namespace {

using place::edge_array;
using place::placement;
using place::plan_placement;
using test::compressed_forms;
using test::from_lists;
using test::to_array;

/// A graph whose blocks are small, large and wide, some of them without edges.
graph mixed()
{
  std::vector<std::vector<vertex_id>> lists(1000);
  std::mt19937_64 random(5);
  for (std::size_t v = 0; v < lists.size(); ++v) {
    std::size_t const degree = v % 97 == 0 ? 700 : v / 50 % 3 == 1 ? 0 : random() % 20;
    for (std::size_t i = 0; i < degree; ++i) { lists[v].push_back(static_cast<vertex_id>(random() % lists.size())); }
    std::sort(lists[v].begin(), lists[v].end());
  }
  return from_lists(lists);
}

/// The lists of a graph at their new places, as a graph in host memory.
graph moved_graph(graph const& g, placement const& plan, std::span<std::uint64_t const> starts)
{
  compressed_lists const& from = g.arrays().compressed;
  auto [blocks, wide] = place::move_directory(from, starts, plan);
  buffer<std::uint32_t> words(plan.all_bytes / 4 + list_codes::words_beyond);
  place::copy_moved(from, plan, 0, 4 * static_cast<std::uint64_t>(words.size()), words.data());
  graph_arrays arrays = g.arrays();
  arrays.compressed = {std::move(blocks), std::move(wide), std::move(words),
                       from.num_vertices, from.num_edges,  from.form};
  return graph(std::move(arrays));
}

void expect_equal_lists(graph const& a, graph const& b)
{
  graph const left = to_csr(a), right = to_csr(b);
  ASSERT_EQ(left.num_edges(), right.num_edges());
  EXPECT_TRUE(std::equal(left.csr().indptr, left.csr().indptr + left.num_vertices() + 1, right.csr().indptr));
  EXPECT_TRUE(std::equal(left.csr().indices, left.csr().indices + left.num_edges(), right.csr().indices));
}

std::vector<float> random_reads(graph const& g, std::uint64_t seed)
{
  std::mt19937_64 random(seed);
  std::vector<float> out(static_cast<std::size_t>(g.num_vertices()));
  for (float& x : out) { x = static_cast<float>(random() % 100); }
  return out;
}

TEST(Placement, KeepsEveryList)
{
  for (graph const& plain : {mixed(), generate_web({4'000, 12}, {}), generate_regular(regular_graph::star, 40'000),
                             generate_regular(regular_graph::ring, 12), graph()}) {
    for (graph_form const form : compressed_forms) {
      SCOPED_TRACE(to_string(form));
      graph const g = compress(plain, form);
      compressed_lists const& lists = g.arrays().compressed;
      auto const starts = place::block_starts(lists, {});
      ASSERT_EQ(starts.size(), lists.blocks.size() + 1);
      std::int64_t const all = 4 * (lists.words.size() - std::int64_t{list_codes::words_beyond});
      for (double const share : {0.0, 0.3, 0.8, 1.0}) {
        SCOPED_TRACE(share);
        auto const budget = static_cast<std::int64_t>(share * static_cast<double>(all));
        placement const plan = plan_placement(lists, starts.span(), random_reads(g, 3), {}, budget, {});
        EXPECT_EQ(plan.all_bytes, all);
        EXPECT_LE(plan.gpu_bytes, budget);
        EXPECT_EQ(plan.gpu_bytes == all, budget == all);
        graph const moved = moved_graph(g, plan, starts.span());
        EXPECT_NO_THROW(moved.validate());
        expect_equal_lists(moved, g);
      }
    }
  }
}

/// 36 vertices, of which each block of 12 has lists of 12 bytes in all: one neighbour at a width of 8 bits each, or less.
/// Places of such blocks are counted in large units, so that a list without edges may be said to begin behind the block.
TEST(Placement, KeepsBlocksThatEndWithEmptyListsBehindAHub)
{
  constexpr std::size_t n = 300'003;
  static_assert(n % list_block::vertices == 0);
  std::vector<std::vector<vertex_id>> lists(n);
  for (std::size_t const hub : {std::size_t{0}, n - list_block::vertices}) {
    for (vertex_id x = 1; x < 250'000; ++x) { lists[hub].push_back(x); }
  }
  for (graph_form const form : compressed_forms) {
    graph const g = compress(from_lists(lists), form);
    EXPECT_NO_THROW(graph(g.arrays()).check());
    auto const starts = place::block_starts(g.arrays().compressed, {});
    ASSERT_FALSE(starts.empty());
    auto const plan = plan_placement(g.arrays().compressed, starts.span(), random_reads(g, 1), {}, 300'000, {});
    graph const moved = moved_graph(g, plan, starts.span());
    EXPECT_NO_THROW(moved.check());
    expect_equal_lists(moved, g);
  }
}

TEST(Placement, TakesTheMostReadsPerByteFirst)
{
  std::vector<std::vector<vertex_id>> ring(44);
  for (std::size_t v = 0; v < ring.size(); ++v) { ring[v] = {static_cast<vertex_id>((v + 22) % 44)}; }
  ring[13] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 16, 17};
  graph const g = compress(from_lists(ring), graph_form::packed);
  compressed_lists const& lists = g.arrays().compressed;
  auto const starts = place::block_starts(lists, {});
  ASSERT_EQ(starts.size(), 6);
  auto const bytes = [&](std::int64_t b) { return static_cast<std::int64_t>(starts[b + 1] - starts[b]); };
  ASSERT_GT(bytes(1), bytes(0));
  ASSERT_EQ(bytes(0), bytes(2));
  std::vector<float> reads(44);
  auto const hot = [&](std::int64_t budget) {
    return plan_placement(lists, starts.span(), reads, {}, budget, {}).is_hot;
  };
  reads[30] = 2;  // block 2
  reads[13] = 2;  // block 1, which is larger
  reads[43] = 1;  // block 3
  EXPECT_EQ(hot(bytes(2)), (std::vector<char>{0, 0, 1, 0, 0}));
  EXPECT_EQ(hot(bytes(2) - 1), (std::vector<char>{0, 0, 0, 0, 0}));
  EXPECT_EQ(hot(bytes(2) + bytes(3)), (std::vector<char>{0, 0, 1, 1, 0}));
  EXPECT_EQ(hot(bytes(1) + bytes(2)), (std::vector<char>{0, 1, 1, 0, 0}));
  EXPECT_EQ(hot(bytes(1) + bytes(2) + bytes(3)), (std::vector<char>{0, 1, 1, 1, 0}));
  reads.assign(44, 1);  // the same per byte but of block 1: the first
  EXPECT_EQ(hot(bytes(0)), (std::vector<char>{1, 0, 0, 0, 0}));
  EXPECT_EQ(hot(2 * bytes(0)), (std::vector<char>{1, 0, 1, 0, 0}));
}

/// Graphs that share a budget are ranked together, as the edge types of one graph are.
TEST(Placement, PartsShareABudget)
{
  graph const a = compress(mixed(), graph_form::packed);
  graph const b = compress(generate_web({3'000, 12}, {}), graph_form::runs);
  auto const starts_of = [](graph const& g) { return place::block_starts(g.arrays().compressed, {}); };
  auto const starts_a = starts_of(a), starts_b = starts_of(b);
  auto reads_a = random_reads(a, 5), reads_b = random_reads(b, 6);
  auto const plan = [&](std::int64_t budget) {
    std::vector<place::placed_part> const parts{{a.arrays().compressed, starts_a.span(), reads_a, {}},
                                                {b.arrays().compressed, starts_b.span(), reads_b, {}}};
    return place::plan_placements(parts, budget, {});
  };
  // What one leaves over the other takes, and every cut of the budget is as good a one as there is.
  for (std::int64_t const budget : {2'000, 5'000, 20'000, 1 << 30}) {
    auto const both = plan(budget);
    EXPECT_LE(both[0].gpu_bytes + both[1].gpu_bytes, budget);
    expect_equal_lists(moved_graph(a, both[0], starts_a.span()), a);
    expect_equal_lists(moved_graph(b, both[1], starts_b.span()), b);
  }
  EXPECT_EQ(plan(1 << 30)[1].gpu_bytes, plan(1 << 30)[1].all_bytes);
  for (float& x : reads_b) { x *= 1e6F; }
  auto const second = plan(20'000);
  EXPECT_LT(second[0].gpu_bytes, 2'000);
  EXPECT_GT(second[1].gpu_bytes, 18'000);
  auto const alone = plan_placement(b.arrays().compressed, starts_b.span(), reads_b, {}, second[1].gpu_bytes, {});
  EXPECT_GE(place::share_on_gpu(b.arrays().compressed, second[1], reads_b, {}),
            place::share_on_gpu(b.arrays().compressed, alone, reads_b, {}) - 0.01);
}

TEST(Placement, SharesOfReadsAreThoseOfHotBlocks)
{
  graph const g = compress(mixed(), graph_form::best);
  compressed_lists const& lists = g.arrays().compressed;
  auto const starts = place::block_starts(lists, {});
  auto const reads = random_reads(g, 9);
  double before = -1;
  for (std::int64_t budget = 0; before < 1; budget += 997) {
    placement const plan = plan_placement(lists, starts.span(), reads, {}, budget, {});
    double there = 0, all = 0;
    for (std::size_t v = 0; v < reads.size(); ++v) {
      there += plan.is_hot[v / list_block::vertices] != 0 ? static_cast<double>(reads[v]) : 0;
      all += static_cast<double>(reads[v]);
    }
    bool const whole = plan.gpu_bytes == plan.all_bytes;
    double const share = place::share_on_gpu(lists, plan, reads, {});
    EXPECT_NEAR(share, whole ? 1 : there / all, 1e-9);
    EXPECT_GE(share, before - 0.05);  // the order is greedy
    before = share;
    ASSERT_LT(budget, 4 * lists.words.size() + 997);
  }
}

TEST(Placement, CopiesAnyRangeOfTheLists)
{
  graph const g = compress(generate_web({5'000, 12}, {}), graph_form::best);
  compressed_lists const& lists = g.arrays().compressed;
  auto const starts = place::block_starts(lists, {});
  placement const plan = plan_placement(lists, starts.span(), random_reads(g, 4), {}, 2 * lists.words.size(), {});
  EXPECT_GT(plan.moves.size(), 20U);
  auto const bytes = static_cast<std::uint64_t>(4 * lists.words.size());
  std::vector<std::uint32_t> whole(static_cast<std::size_t>(lists.words.size()));
  place::copy_moved(lists, plan, 0, bytes, whole.data());
  for (std::uint64_t const range : {std::uint64_t{4}, std::uint64_t{100}, std::uint64_t{4096}}) {
    std::vector<std::uint32_t> pieces(whole.size(), 7);
    for (std::uint64_t at = 0; at < bytes; at += range) {
      place::copy_moved(lists, plan, at, std::min(at + range, bytes), pieces.data() + at / 4);
    }
    EXPECT_EQ(pieces, whole) << range;
  }
}

TEST(Placement, CutsLieBetweenLists)
{
  graph const g = compress(generate_rmat({.scale = 14, .edge_factor = 16}, {}), graph_form::best);
  compressed_lists const& lists = g.arrays().compressed;
  auto const starts = place::block_starts(lists, {});
  placement const plan = plan_placement(lists, starts.span(), random_reads(g, 6), {}, 100'000, {});
  auto const cuts = place::cuts_of(starts.span(), plan);
  ASSERT_GT(cuts.size(), 4U);
  EXPECT_EQ(cuts.front(), static_cast<std::uint64_t>(plan.gpu_bytes));
  EXPECT_EQ(cuts.back(), static_cast<std::uint64_t>(plan.all_bytes));
  for (std::size_t i = 0; i + 2 < cuts.size(); ++i) { EXPECT_GE(cuts[i + 1] - cuts[i], 65536U); }
  // Each list ends before the next cut: read it from words that end there.
  graph const moved = moved_graph(g, plan, starts.span());
  auto const moved_starts = place::block_starts(moved.arrays().compressed, {});
  EXPECT_TRUE(moved_starts.empty());  // its blocks don't follow each other
  compressed_lists const& there = moved.arrays().compressed;
  for (std::int64_t b = 0; b + 1 < lists.blocks.size(); ++b) {
    half_head const& head = there.blocks[b].halves[0].head;
    if (head.is(block_kind::wide)) { continue; }
    std::uint64_t const begin = head.base(), end = begin + (starts[b + 1] - starts[b]);
    auto const next = std::upper_bound(cuts.begin(), cuts.end(), begin);
    if (begin >= cuts.front() && next != cuts.end()) { EXPECT_LE(end, *next) << b; }
  }
  // All on the GPU: nothing to cut.
  placement const whole = plan_placement(lists, starts.span(), random_reads(g, 6), {}, 1 << 30, {});
  EXPECT_EQ(place::cuts_of(starts.span(), whole),
            std::vector<std::uint64_t>{static_cast<std::uint64_t>(whole.all_bytes)});
}

/// Files of other writers may have their lists in any order: here, as another placement left them.
TEST(Placement, ListsInAnyOrderAreWrittenAnew)
{
  graph const plain = mixed();
  for (graph_form const form : compressed_forms) {
    graph const g = compress(plain, form);
    auto const starts = place::block_starts(g.arrays().compressed, {});
    placement const plan = plan_placement(g.arrays().compressed, starts.span(), random_reads(g, 8), {}, 3'000, {});
    graph const foreign = moved_graph(g, plan, starts.span());
    ASSERT_TRUE(place::block_starts(foreign.arrays().compressed, {}).empty());
    graph_arrays arrays = foreign.arrays();
    arrays.compressed = place::rewritten(foreign, {});
    graph const again(std::move(arrays));
    EXPECT_FALSE(place::block_starts(again.arrays().compressed, {}).empty());
    expect_equal_lists(again, g);
  }
}

/// Regions of 2 MiB of weights compete with lists; what no list needs comes last.
TEST(Placement, RegionsOfEdgeArraysAreRankedWithLists)
{
  std::vector<std::vector<vertex_id>> lists_of(1300);
  for (std::size_t v = 0; v < lists_of.size(); ++v) {
    for (vertex_id i = 0; i < 1000; ++i) { lists_of[v].push_back(i); }
  }
  graph const g = compress(from_lists(lists_of), graph_form::runs);  // some 150 bytes a list, 4,000 bytes of weights
  compressed_lists const& lists = g.arrays().compressed;
  auto const starts = place::block_starts(lists, {});
  std::vector<float> reads(1300);
  for (std::size_t v = 600; v < 700; ++v) { reads[v] = 1; }  // edges 600,000 to 700,000: regions 1 of 0 to 2
  std::vector<edge_array> const arrays{{4 * g.num_edges(), 32, 1}, {8 * g.num_edges(), 64, 0}};
  ASSERT_EQ(arrays[0].num_regions(), 3);
  ASSERT_EQ(arrays[1].num_regions(), 5);
  auto const plan = [&](std::int64_t budget) {
    return plan_placement(lists, starts.span(), reads, arrays, budget, {});
  };
  constexpr std::int64_t region = edge_array::region_bytes;
  placement const one = plan(region + region / 2);
  EXPECT_EQ(one.regions_on_gpu[0], (std::vector<char>{0, 1, 0}));
  EXPECT_EQ(one.regions_on_gpu[1], (std::vector<char>{0, 0, 0, 0, 0}));
  EXPECT_EQ(one.gpu_edge_bytes, region);
  EXPECT_EQ(place::share_on_gpu(lists, one, reads, {}), 1);
  std::int64_t const all = plan(0).all_bytes + arrays[0].bytes() + arrays[1].bytes();
  placement const most = plan(all - 1);
  EXPECT_EQ(most.gpu_bytes, most.all_bytes);
  EXPECT_EQ(most.regions_on_gpu[0], (std::vector<char>{1, 1, 1}));
  EXPECT_EQ(most.regions_on_gpu[1], (std::vector<char>{1, 1, 1, 1, 0}));
  placement const whole = plan(all);
  EXPECT_EQ(whole.gpu_edge_bytes, arrays[0].bytes() + arrays[1].bytes());
}

}  // namespace
}  // namespace tendril
