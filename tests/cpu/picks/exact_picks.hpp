#pragma once

// Exact distributions of k picks from a neighbourhood, by enumeration.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu/walks/exact_walks.hpp"  // outcome_probabilities

namespace tendril::test {

/// Ordered picks of positions: independent ones, or successive draws from what is left until nothing of positive
/// weight is.
inline outcome_probabilities exact_picks(std::vector<double> const& weights, std::size_t k, bool replace)
{
  outcome_probabilities out;
  std::vector<double> left = weights;
  auto const draw = [&](auto const& self, outcome const& picked, double probability) -> void {
    double total = 0;
    for (auto const w : left) { total += w; }
    if (picked.size() == k || total == 0) {
      out[picked] += probability;
      return;
    }
    for (std::size_t i = 0; i < left.size(); ++i) {
      double const w = left[i];
      if (w == 0) { continue; }
      outcome next = picked;
      next.push_back(static_cast<vertex_id>(i));
      if (!replace) { left[i] = 0; }
      self(self, next, probability * w / total);
      left[i] = w;
    }
  };
  draw(draw, {}, 1.0);
  return out;
}

/// The same without regard to order.
inline outcome_probabilities unordered(outcome_probabilities const& ordered)
{
  outcome_probabilities out;
  for (auto const& [picks, probability] : ordered) {
    outcome sorted = picks;
    std::sort(sorted.begin(), sorted.end());
    out[sorted] += probability;
  }
  return out;
}

}  // namespace tendril::test
