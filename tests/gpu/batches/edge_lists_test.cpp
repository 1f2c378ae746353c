// Edge lists of a batch's types, as libraries have them.

#include <tendril/gpu_array.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/gpu.hpp>

#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"

namespace tendril::test {
namespace {

using numbers = std::vector<std::int64_t>;

struct list {
  numbers row, col, edge, names;  // without names edges keep their numbers
};

class EdgeListsOnGpu : public gpu_test {
 protected:
  numbers written(std::vector<list> const& lists) const
  {
    std::vector<buffer<std::int64_t>> memory;
    std::vector<batch_edge_list> given;
    auto const there = [&](numbers const& values) -> std::int64_t const* {
      if (values.empty()) { return nullptr; }
      memory.push_back(on_gpu(values, exec));
      return memory.back().data();
    };
    std::int64_t size = 0;
    for (list const& one : lists) {
      given.push_back({there(one.row), there(one.col), there(one.edge), there(one.names), std::ssize(one.row)});
      size += std::ssize(one.row);
    }
    buffer<std::int64_t> out = on_gpu(numbers(static_cast<std::size_t>(3 * size + 1), -7), exec);
    write_edge_lists(given, out.data(), exec);
    synchronize(exec);
    return copied(out);
  }
};

TEST_F(EdgeListsOnGpu, HoldColumnsRowsAndNumbers)
{
  EXPECT_EQ(written({{{1, 2}, {3, 4}, {1, 0}, {50, 60}}, {{}, {}, {}, {}}, {{5}, {6}, {7}, {}}}),
            (numbers{3, 4, 1, 2, 60, 50, 6, 5, 7, -7}));
  EXPECT_EQ(written({}), numbers{-7});
  EXPECT_EQ(written({{{}, {}, {}, {}}}), numbers{-7});
}

/// More lists than a launch takes, some of them longer than a block.
TEST_F(EdgeListsOnGpu, OfManyTypesFollowEachOther)
{
  std::mt19937 random(3);
  std::vector<list> lists;
  numbers expected;
  for (int i = 0; i < 100; ++i) {
    std::size_t const size = i % 9 == 0 ? 0 : random() % 3000;
    list one;
    for (std::size_t k = 0; k < 4096; ++k) { one.names.push_back(random()); }
    for (std::size_t k = 0; k < size; ++k) {
      one.row.push_back(random());
      one.col.push_back(random());
      one.edge.push_back(random() % 4096);
    }
    if (i % 4 == 1) { one.names.clear(); }
    expected.insert(expected.end(), one.col.begin(), one.col.end());
    expected.insert(expected.end(), one.row.begin(), one.row.end());
    std::ranges::transform(one.edge, std::back_inserter(expected), [&](std::int64_t edge) {
      return one.names.empty() ? edge : one.names[static_cast<std::size_t>(edge)];
    });
    lists.push_back(std::move(one));
  }
  expected.push_back(-7);
  EXPECT_EQ(written(lists), expected);
}

}  // namespace
}  // namespace tendril::test
