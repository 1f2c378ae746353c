// Hash sets of neighbours: they fit where the offsets put them, and answer as a binary search does.

#include "core/adjacency_set.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tendril {
namespace {

using rows = std::vector<std::vector<vertex_id>>;

struct sets {
  std::vector<vertex_id> slots;
  std::vector<core::adjacency_set_range> places;
};

/// The sets of all rows, whose neighbours are put in in the order given.
sets build(rows const& neighbors)
{
  std::size_t num_edges = 0;
  for (auto const& row : neighbors) { num_edges += row.size(); }
  sets out;
  out.slots.assign(static_cast<std::size_t>(core::adjacency_set_slots(static_cast<std::int64_t>(neighbors.size()),
                                                                      static_cast<edge_id>(num_edges))),
                   no_vertex);
  std::uint64_t first = 0;
  for (std::size_t v = 0; v < neighbors.size(); ++v) {
    auto const degree = static_cast<std::uint32_t>(neighbors[v].size());
    out.places.push_back(core::adjacency_set_place(v, first, degree));
    for (vertex_id const x : neighbors[v]) { core::adjacency_set_insert(out.slots.data(), out.places.back(), x); }
    first += degree;
  }
  return out;
}

void expect_answers(rows const& neighbors, std::vector<vertex_id> const& questions)
{
  sets const built = build(neighbors);
  for (std::size_t v = 0; v < neighbors.size(); ++v) {
    auto sorted = neighbors[v];
    std::sort(sorted.begin(), sorted.end());
    for (vertex_id const x : questions) {
      ASSERT_EQ(core::adjacency_set_contains(built.slots.data(), built.places[v], x),
                std::binary_search(sorted.begin(), sorted.end(), x))
          << x << " among the " << sorted.size() << " of row " << v;
    }
    for (vertex_id const x : sorted) {
      ASSERT_TRUE(core::adjacency_set_contains(built.slots.data(), built.places[v], x)) << x << " in row " << v;
    }
  }
}

std::vector<vertex_id> all_below(vertex_id end)
{
  std::vector<vertex_id> out(end);
  for (vertex_id v = 0; v < end; ++v) { out[v] = v; }
  return out;
}

TEST(adjacency_set, lies_between_its_neighbours_and_keeps_an_empty_slot)
{
  for (std::uint64_t first = 0; first < 64; ++first) {
    for (std::uint32_t degree = 0; degree < 3000; ++degree) {
      auto const here = core::adjacency_set_place(7, first, degree);
      auto const next = core::adjacency_set_place(8, first + degree, 1);
      ASSERT_EQ(here.first_bucket + here.num_buckets, next.first_bucket);
      ASSERT_GE(here.num_buckets, 1U);
      ASSERT_GT(core::adjacency_bucket_slots * here.num_buckets, degree);
      ASSERT_GE(2 * core::adjacency_bucket_slots * here.num_buckets, 3 * degree);
    }
  }
  // The largest row there can be, in the largest graph.
  auto const giant = core::adjacency_set_place(max_num_vertices - 1, std::uint64_t{1} << 40U, 0xffffffffU);
  EXPECT_GT(std::uint64_t{core::adjacency_bucket_slots} * giant.num_buckets, 0xffffffffU);
  EXPECT_EQ(core::adjacency_set_slots(0, 0), 0);
  EXPECT_EQ(core::adjacency_set_slots(1, 0), 8);
}

TEST(adjacency_set, answers_every_question_about_small_graphs)
{
  std::mt19937_64 random(1);
  for (int repeat = 0; repeat < 60; ++repeat) {
    auto const size = static_cast<vertex_id>(1 + random() % 100);
    rows neighbors(size);
    for (auto& row : neighbors) {
      row.resize(random() % (3 * static_cast<std::size_t>(size)));  // repeats, self loops, isolated vertices
      for (auto& x : row) { x = static_cast<vertex_id>(random() % size); }
    }
    expect_answers(neighbors, all_below(size + 2));
    if (HasFatalFailure()) { return; }
  }
}

TEST(adjacency_set, may_be_full_of_different_neighbours)
{
  std::mt19937_64 random(2);
  for (std::size_t const degree : {1UL, 5UL, 8UL, 100UL, 5000UL, 1UL << 20U}) {
    std::vector<vertex_id> row(degree);
    auto const stride = static_cast<vertex_id>(0xfffffff0U / degree);
    for (std::size_t i = 0; i < degree; ++i) { row[i] = static_cast<vertex_id>(i) * stride; }
    std::vector<vertex_id> questions{0, 1, 2, 0x80000000U, 0xfffffffeU};
    for (int i = 0; i < 1000; ++i) {
      questions.push_back(static_cast<vertex_id>(random() % 0xffffffffU));
      questions.push_back(row[random() % degree]);
    }
    expect_answers({{}, row, {}, all_below(static_cast<vertex_id>(std::min(degree, 2000UL)))}, questions);
  }
}

TEST(adjacency_set, searches_end_where_all_hashes_collide)
{
  // Neighbours that all want the last bucket of 20: the set fills from there, around its end.
  constexpr std::uint32_t degree = 100;
  auto const place = core::adjacency_set_place(0, 0, degree);
  ASSERT_EQ(place.num_buckets, 20U);
  std::vector<vertex_id> row;
  std::vector<vertex_id> others;
  for (vertex_id x = 0; others.size() < degree; ++x) {
    if (core::adjacency_set_bucket(place.num_buckets, x) != place.num_buckets - 1) { continue; }
    (row.size() < degree ? row : others).push_back(x);
  }
  expect_answers({row}, others);
}

TEST(adjacency_set, answers_in_any_order_of_insertion)
{
  std::mt19937_64 random(3);
  std::vector<vertex_id> row(3000);
  for (auto& x : row) { x = static_cast<vertex_id>(random() % 10'000); }
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::shuffle(row.begin(), row.end(), random);
    expect_answers({row}, all_below(10'001));
  }
}

}  // namespace
}  // namespace tendril
