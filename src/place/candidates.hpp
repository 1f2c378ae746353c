// What may lie on a GPU and what its bytes are worth there: the choice that every placement makes.

#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

namespace tendril::place {

/// A block of lists, or a region of an array, of one of the graphs that share a budget.
struct candidate {
  float density;       ///< Reads per byte.
  std::int32_t part;   ///< Of the graph.
  std::int32_t array;  ///< Of the array; -1: a block.
  std::int64_t index;  ///< Of the block or the region.
  std::int64_t bytes;
};

/// Calls take(candidate) for those with the most reads per byte, in that order, as far as they fit into `budget` bytes.
/// Ties go to the first part, array and index.
template <class Take>
void take_densest(std::vector<candidate> all, std::int64_t budget, Take const& take)
{
  std::sort(all.begin(), all.end(), [](candidate const& a, candidate const& b) {
    if (a.density != b.density) { return a.density > b.density; }
    return std::tie(a.part, a.array, a.index) < std::tie(b.part, b.array, b.index);
  });
  for (candidate const& c : all) {
    if (c.bytes > budget) { continue; }
    budget -= c.bytes;
    take(c);
  }
}

}  // namespace tendril::place
