// Which web graph has a wanted mean degree. The constants are measured means of 2.4 million rows, far apart, to 0.1%.

#pragma once

#include <cstdint>

#include "core/web_graph.hpp"

namespace tendril::core {

inline constexpr int largest_web_degree = 256;

/// The rule of a graph whose mean degree is about `edge_factor`, 0 to largest_web_degree. Below the mean of the shortest
/// lists, more pages are empty; above, runs get longer, and pages have more links of their own.
[[nodiscard]] inline web_graph web_graph_of(std::uint64_t seed, std::uint32_t num_vertices, double edge_factor)
{
  constexpr int num_lengths = 9;
  constexpr std::uint32_t shortest = 64;  // length i is shortest * 2^i
  constexpr double means[num_lengths] = {5.08, 7.01, 10.66, 18.42, 33.46, 60.91, 108.9, 191.6, 329.6};
  constexpr std::uint32_t all = 65'536;
  if (edge_factor < means[0]) {
    return {seed, num_vertices, all - static_cast<std::uint32_t>(all * (edge_factor / means[0])), shortest};
  }
  int i = 0;
  while (i + 2 < num_lengths && means[i + 1] < edge_factor) { ++i; }
  double const share = (edge_factor - means[i]) / (means[i + 1] - means[i]);
  auto const low = static_cast<double>(shortest << static_cast<unsigned>(i));
  return {seed, num_vertices, 0, static_cast<std::uint32_t>(low * (1 + share))};
}

}  // namespace tendril::core
