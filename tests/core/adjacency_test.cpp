// Searches in sorted neighbours, against the standard library's.

#include "core/adjacency.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tendril {
namespace {

/// Sorted values with repeats, and questions that hit, miss, and lie beyond both ends.
std::vector<vertex_id> sorted_values(std::size_t size, std::mt19937_64& random)
{
  std::vector<vertex_id> values(size);
  std::uint64_t const range = 1 + random() % (4 * size + 1);
  for (auto& value : values) { value = static_cast<vertex_id>(10 + random() % range); }
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<vertex_id> questions(std::vector<vertex_id> const& values)
{
  std::vector<vertex_id> asked{0, 1, 9, 0x7fffffffU, 0x80000000U, 0xfffffffeU, 0xffffffffU};
  for (vertex_id const value : values) { asked.insert(asked.end(), {value - 1, value, value + 1}); }
  return asked;
}

TEST(adjacency, contains_what_a_binary_search_finds)
{
  std::mt19937_64 random(1);
  for (std::size_t size = 0; size < 200; ++size) {
    auto const values = sorted_values(size, random);
    for (vertex_id const x : questions(values)) {
      ASSERT_EQ(core::contains(values.data(), static_cast<std::uint32_t>(size), x),
                std::binary_search(values.begin(), values.end(), x))
          << x << " in " << size;
    }
  }
}

TEST(adjacency, contains_the_largest_ids)
{
  std::vector<vertex_id> const values{0, 0x7fffffffU, 0x80000000U, 0xfffffffeU};
  for (vertex_id const x : values) { EXPECT_TRUE(core::contains(values.data(), 4, x)) << x; }
  for (vertex_id const x : {1U, 0x7ffffffeU, 0x80000001U, 0xfffffffdU}) {
    EXPECT_FALSE(core::contains(values.data(), 4, x)) << x;
  }
}

TEST(adjacency, halving_finds_in_as_many_steps_as_the_size_has_bits)
{
  std::vector<vertex_id> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) { values[i] = static_cast<vertex_id>(2 * i); }
  vertex_id const* first = values.data();
  std::uint32_t size = 1000;
  int steps = 0;
  for (; size > 1; ++steps) { core::search_halve(first, size, 777); }
  EXPECT_EQ(steps, 10);
  EXPECT_EQ(*first, 776U);  // the last value not above 777
}

TEST(adjacency, a_gallop_stops_at_the_lower_bound)
{
  std::mt19937_64 random(2);
  for (std::uint32_t size = 0; size < 70; ++size) {
    auto const values = sorted_values(size, random);
    for (std::uint32_t from = 0; from <= size; ++from) {
      for (vertex_id const x : questions(values)) {
        auto const expected = std::lower_bound(values.begin() + from, values.end(), x) - values.begin();
        ASSERT_EQ(core::gallop(values.data(), size, from, x), expected) << x << " from " << from << " of " << size;
      }
    }
  }
}

TEST(adjacency, ascending_gallops_find_the_intersection)
{
  std::mt19937_64 random(3);
  for (std::size_t const size : {10UL, 1000UL, 100'000UL}) {
    auto const values = sorted_values(size, random);
    auto asked = sorted_values(500, random);
    std::uint32_t at = 0;
    for (vertex_id const x : asked) {
      at = core::gallop(values.data(), static_cast<std::uint32_t>(size), at, x);
      ASSERT_EQ(at < size && values[at] == x, std::binary_search(values.begin(), values.end(), x));
    }
  }
}

}  // namespace
}  // namespace tendril
