// Which neighbours a vertex of a ShaDow sample gives (Zeng et al., NeurIPS'21): k of them, uniformly, by Floyd's method or
// with replacement. A draw belongs to (hop, sample's logical id, vertex's position in the sample, pick); the hop is in the
// key. Executors: src/cpu/subgraphs/shadow.cpp, src/gpu/subgraphs/shadow.cu.

#pragma once

#include <cstdint>

#include "core/draws.hpp"  // shadow_key
#include "core/floyd.hpp"

namespace tendril::core {

/// How the neighbours of one vertex are drawn.
struct shadow_picks {
  std::uint32_t degree, num_neighbors;
  bool replace;

  [[nodiscard]] TENDRIL_HD std::uint32_t count() const
  {
    bool const all_alike = replace && degree > 0;
    return all_alike || degree > num_neighbors ? num_neighbors : degree;
  }
  /// Whether picks have to differ, so that each depends on those before it.
  [[nodiscard]] TENDRIL_HD bool are_drawn_without_replacement() const { return !replace && degree > num_neighbors; }

  /// Pick j before it is compared with earlier ones.
  [[nodiscard]] TENDRIL_HD std::uint32_t candidate(rng_key key, std::uint64_t sample, std::uint32_t position,
                                                   std::uint32_t j) const
  {
    if (!replace && degree <= num_neighbors) { return j; }
    std::uint64_t const bits = decision_draws<>{key, sample, position}.half(j);
    return replace ? bounded(bits, degree) : floyd_slot::of(bits, j, num_neighbors, degree).candidate;
  }

  /// Makes picks of candidates [num_neighbors], where they are drawn without replacement: Floyd's method.
  TENDRIL_HD void resolve(std::uint32_t* picks) const
  {
    for (std::uint32_t j = 1; j < num_neighbors; ++j) {
      picks[j] = floyd_slot{picks[j], degree - num_neighbors + j}.after(picks, j);
    }
  }
};

/// The most vertices that a sample can have, at most num_vertices.
TENDRIL_HD std::int64_t most_shadow_vertices(std::int64_t depth, std::int64_t num_neighbors, std::int64_t num_vertices)
{
  std::int64_t most = 1;
  std::int64_t hop = 1;
  for (std::int64_t h = 0; h < depth && most < num_vertices; ++h) {
    hop *= num_neighbors;  // both below 2^32 and 2^11
    most += hop;
  }
  return most < num_vertices ? most : num_vertices;
}

}  // namespace tendril::core
