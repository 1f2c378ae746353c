// Degrees of web-like graphs have the wanted mean (docs/generators.md).

#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include <tendril/types.hpp>

#include "core/web_shape.hpp"

namespace tendril {
namespace {

struct sampled_mean {
  double mean, error;  ///< The standard error.
};

/// Of 2^18 rows that are far apart, four in each chunk of the largest graph: almost independent.
sampled_mean mean_degree(double edge_factor)
{
  constexpr std::uint32_t samples = 1U << 18U;
  auto const n = static_cast<std::uint32_t>(max_num_vertices);
  auto const rule = core::web_graph_of(11, n, edge_factor);
  double sum = 0, squares = 0;
  for (std::uint32_t i = 0; i < samples; ++i) {
    vertex_id const v = i * (n / samples);
    double const degree = rule.row(rule.directory_of(v), v).degree();
    sum += degree;
    squares += degree * degree;
  }
  double const mean = sum / samples;
  return {mean, std::sqrt((squares / samples - mean * mean) / samples)};
}

TEST(web_graph, mean_degree_is_the_edge_factor)
{
  for (double const edge_factor : {1.0, 3.0, 6.0, 10.0, 16.0, 43.6, 85.0, 256.0}) {
    auto const degree = mean_degree(edge_factor);
    // 1% for what is between the measured lengths. Four rows of a chunk share a host at most.
    EXPECT_NEAR(degree.mean, edge_factor, 0.01 * edge_factor + 5 * degree.error) << edge_factor;
    EXPECT_LT(5 * degree.error, 0.05 * edge_factor) << "too few samples to mean anything";
  }
  EXPECT_GT(mean_degree(10.7).mean, 10 + 0.01 * 10 + 5 * mean_degree(10).error) << "a bias of 7% must be seen";
}

}  // namespace
}  // namespace tendril
