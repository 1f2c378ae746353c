#pragma once

// What the tests of cut graphs share.

#include <cstdint>
#include <random>
#include <vector>

#include <dlfcn.h>

#include <tendril/partition.hpp>

#include "support/binary_files.hpp"
#include "support/karate.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {

inline std::vector<std::int64_t> const part_counts =
    is_sanitized ? std::vector<std::int64_t>{3, 67} : std::vector<std::int64_t>{1, 2, 3, 7, 64, 100};

/// Graphs with and without each array, skewed and even, one without edges and one without vertices.
inline std::vector<graph> graphs_to_cut()
{
  std::vector<graph> out{make_zoo(1),       make_full_graph(), make_karate(), make_star({1, 2, 0, 5}),
                         make_graph(5, {}), make_graph(0, {})};
  return out;
}

/// A graph of up to 300 vertices, a few of which have most edges.
inline graph random_graph(std::uint64_t seed)
{
  std::mt19937_64 random(seed);
  auto const below = [&](std::uint64_t n) { return random() % n; };
  std::uint64_t const size = 1 + below(300);
  std::vector<test_edge> edges;
  for (std::uint64_t e = below(3000); e > 0; --e) {
    vertex_id const from = below(3) == 0 ? static_cast<vertex_id>(size / 2) : static_cast<vertex_id>(below(size));
    edges.push_back({from, static_cast<vertex_id>(below(size)), static_cast<float>(below(100)),
                     static_cast<std::uint8_t>(below(5))});
  }
  return make_graph(static_cast<std::int64_t>(size), edges);
}

inline bool has_metis()
{
  void* const library = dlopen("libmetis.so.5", RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) { dlclose(library); }
  return library != nullptr;
}

}  // namespace tendril::test
