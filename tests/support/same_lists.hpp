#pragma once

// Compressed lists in host memory, byte by byte.

#include <algorithm>
#include <span>

#include <gtest/gtest.h>

#include <tendril/graph.hpp>

#include "support/binary_files.hpp"  // to_vector

namespace tendril::test {

/// Equal bytes.
inline void expect_same_lists(compressed_lists const& a, compressed_lists const& b)
{
  ASSERT_EQ(to_vector(a.words), to_vector(b.words));
  ASSERT_EQ(a.blocks.size(), b.blocks.size());
  ASSERT_EQ(a.wide.size(), b.wide.size());
  auto const bytes = [](auto const& array) { return std::as_bytes(std::span(array.begin(), array.end())); };
  EXPECT_TRUE(std::ranges::equal(bytes(a.blocks), bytes(b.blocks)));
  EXPECT_TRUE(std::ranges::equal(bytes(a.wide), bytes(b.wide)));
}

}  // namespace tendril::test
