#pragma once

// A vertex of 2^22 neighbours, where short random numbers and slow rules show.

#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/graph.hpp>

#include "support/small_graphs.hpp"
#include "support/statistics.hpp"  // expect_distribution

namespace tendril::test {

/// Vertex 0 of `hub` leads to the vertices 1 to 2^22 by edges that weigh 1 + i mod 3, ten times as much in the last
/// quarter.
class hub_test : public ::testing::Test {
 protected:
  static constexpr std::uint32_t degree = std::uint32_t{1} << 22U;
  static constexpr std::uint32_t parts = 64;

  static void SetUpTestSuite()
  {
    std::vector<float> weights(degree);
    for (std::uint32_t i = 0; i < degree; ++i) { weights[i] = weight(i); }
    hub = std::make_unique<graph>(make_star(weights));
  }
  static void TearDownTestSuite() { hub.reset(); }

  static float weight(std::uint32_t i) { return static_cast<float>(1 + i % 3) * (i >= degree / 4 * 3 ? 10.0F : 1.0F); }

  /// Counts the edges drawn by their 2^16 neighbours in a row, and by their number mod 64: the high bits and the low.
  static void expect_drawn(std::vector<std::uint32_t> const& edges, bool weighted, double effect)
  {
    std::vector<double> by_range(parts), by_residue(parts);
    for (std::uint32_t i = 0; i < degree; ++i) {
      by_range[i / (degree / parts)] += weighted ? weight(i) : 1;
      by_residue[i % parts] += weighted ? weight(i) : 1;
    }
    std::vector<std::int64_t> in_range(parts), in_residue(parts);
    for (auto const i : edges) {
      ASSERT_LT(i, degree);
      ++in_range[i / (degree / parts)];
      ++in_residue[i % parts];
    }
    expect_distribution(in_range, by_range, effect);
    expect_distribution(in_residue, by_residue, effect);
  }

  inline static std::unique_ptr<graph> hub;
};

}  // namespace tendril::test
