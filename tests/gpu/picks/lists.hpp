#pragma once

// Graphs for tests of picks: lists of every length that kernels treat differently, with weights of all kinds, and the
// fan-outs to try on them.

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include <tendril/graph.hpp>

#include "support/to_array.hpp"

namespace tendril::test {

using weight_shape = std::function<float(std::uint32_t, std::mt19937_64&)>;

inline float usual_weight(std::uint32_t, std::mt19937_64& random)
{
  return random() % 5 == 0 ? 0.0F : static_cast<float>(random() % 1000 + 1) / 8.0F;
}

/// Vertex i has degrees[i] edges, weighted by shapes[i % shapes.size()].
inline graph make_lists(std::vector<std::uint32_t> const& degrees,
                        std::vector<weight_shape> const& shapes = {usual_weight})
{
  auto const n = static_cast<std::int64_t>(degrees.size());
  buffer<edge_id> indptr(n + 1);
  indptr[0] = 0;
  for (std::int64_t v = 0; v < n; ++v) { indptr[v + 1] = indptr[v] + degrees[static_cast<std::size_t>(v)]; }
  buffer<vertex_id> indices(indptr[n]);
  std::vector<float> weights(static_cast<std::size_t>(indptr[n]));
  std::mt19937_64 random(5);
  for (std::int64_t v = 0; v < n; ++v) {
    std::uint32_t const degree = degrees[static_cast<std::size_t>(v)];
    auto const& weight = shapes[static_cast<std::size_t>(v) % shapes.size()];
    for (std::uint32_t i = 0; i < degree; ++i) {
      indices[indptr[v] + i] = static_cast<vertex_id>(std::uint64_t{i} * static_cast<std::uint64_t>(n) / degree);
      weights[static_cast<std::size_t>(indptr[v] + i)] = weight(i, random);
    }
  }
  graph_arrays arrays;
  arrays.indptr = std::move(indptr);
  arrays.indices = std::move(indices);
  arrays.weights = to_array(weights);
  return graph(std::move(arrays));
}

/// Weights by which a race's guess goes wrong, in either direction, and weights that hold none.
inline std::vector<weight_shape> fooling_shapes()
{
  return {
      [](std::uint32_t i, std::mt19937_64&) { return i < 1024 ? 1e6F : 1.0F; },
      [](std::uint32_t i, std::mt19937_64&) { return i < 1024 ? 1e-6F : 1.0F; },
      [](std::uint32_t i, std::mt19937_64&) { return i < 1024 ? 0.0F : 1.0F; },
      [](std::uint32_t i, std::mt19937_64&) { return i % 101 == 7 ? 2.0F : 0.0F; },
      [](std::uint32_t, std::mt19937_64&) { return 0.0F; },
      [](std::uint32_t, std::mt19937_64&) { return 3e38F; },
      [](std::uint32_t, std::mt19937_64& random) { return static_cast<float>(random() % 4) * 1e-45F; },
      [](std::uint32_t, std::mt19937_64& random) {
        return static_cast<float>(std::pow(10.0, static_cast<double>(random() % 1200) / 100 - 6));
      },
      [](std::uint32_t i, std::mt19937_64&) { return i == 77 ? 1e30F : 1e-3F; },
  };
}

inline std::vector<std::uint32_t> const few_degrees = {0,  1,  2,  3,  4,  5,  6,   7,   8,   9,  10, 11,
                                                       12, 14, 15, 16, 17, 24, 25,  26,  31,  32, 33, 34,
                                                       63, 64, 65, 66, 67, 68, 127, 128, 129, 130};
inline std::vector<std::uint32_t> const some_degrees = {150, 200, 255, 256,  257,  299,  300,
                                                        301, 384, 500, 1000, 1023, 1024, 1025};
inline std::vector<std::uint32_t> const many_degrees = {1500, 4095, 4096,  4097,  4999,    5000,
                                                        5001, 8193, 33000, 70000, 131'073, (1U << 20U) + 3};

inline std::vector<std::uint32_t> all_degrees()
{
  std::vector<std::uint32_t> out = few_degrees;
  out.insert(out.end(), some_degrees.begin(), some_degrees.end());
  out.insert(out.end(), many_degrees.begin(), many_degrees.end());
  return out;
}

inline std::vector<std::uint32_t> const all_fanouts = {1, 2, 3, 5, 10, 15, 16, 25, 31, 32, 33, 63, 64, 65, 100, 300};

}  // namespace tendril::test
