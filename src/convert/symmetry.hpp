// Whether every edge has its reverse, in one pass over the rows in order: a graph larger than memory must not be searched.

#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <utility>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

#include "base/parallel.hpp"  // parallel_ranges

namespace tendril::convert {

/// A well mixed number (the finaliser of MurmurHash3, Appleby 2011).
inline std::uint64_t mixed(std::uint64_t x)
{
  x = (x ^ x >> 33U) * 0xff51afd7ed558ccdULL;
  x = (x ^ x >> 33U) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ x >> 33U;
}

/// Adds up a number for each edge upwards, made of its ends, weight and label, and subtracts that of each edge downwards:
/// 0 if edges and reverses are the same, and in 2^-128 of other cases. Changes are of the order of `exec.on_progress`.
inline bool has_all_reverses(graph const& g, cpu_exec const& exec)
{
  constexpr std::int64_t grain = std::int64_t{1} << 14U, piece = grain << 6U;
  std::atomic<std::uint64_t> sum_a{0}, sum_b{0};
  g.view().visit([&](auto const& view) {
    for (std::int64_t first = 0; first < view.num_vertices; first += piece) {
      if (exec.on_progress) { exec.on_progress({"checking", first, view.num_vertices}); }
      base::parallel_ranges(exec, std::min(piece, view.num_vertices - first), grain, [&](auto begin, auto end) {
        std::uint64_t a = 0, b = 0;
        for (std::int64_t v = first + begin; v < first + end; ++v) {
          auto const row = view.row(v);
          for (std::uint32_t i = 0; i < row.degree(); ++i) {
            std::int64_t const u = row.neighbor(i);
            if (u == v) { continue; }
            std::uint64_t const ends =
                static_cast<std::uint64_t>(std::min(u, v)) << 32U | static_cast<std::uint64_t>(std::max(u, v));
            // 0 and -0 are equal.
            std::uint64_t const weight = view.has_weights() ? std::bit_cast<std::uint32_t>(row.weight(i) + 0.0F) : 0U;
            std::uint64_t const label = view.has_edge_labels() ? row.label(i) : 0U;
            std::uint64_t const edge = mixed(ends ^ mixed(weight << 16U | label));
            std::uint64_t const other = mixed(edge + 0x9e3779b97f4a7c15ULL);
            a += v < u ? edge : 0 - edge;
            b += v < u ? other : 0 - other;
          }
        }
        sum_a += a;
        sum_b += b;
      });
    }
  });
  return sum_a == 0 && sum_b == 0;
}

}  // namespace tendril::convert
