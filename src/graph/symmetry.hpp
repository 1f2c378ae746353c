// Whether every edge has its reverse, in one pass over the rows in order: nothing is searched, so that it takes no more
// than reading the graph, and a graph may be larger than memory.

#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <utility>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

#include "base/vertex_work.hpp"

namespace tendril::validation {

/// A well mixed number (the finaliser of MurmurHash3, Appleby 2011).
inline std::uint64_t mixed(std::uint64_t x)
{
  x = (x ^ x >> 33U) * 0xff51afd7ed558ccdULL;
  x = (x ^ x >> 33U) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ x >> 33U;
}

/// Adds up 128 bits for each edge upwards, made of its ends, weight and label, and subtracts those of each edge downwards.
class reverse_sum {
 public:
  template <class View>
  void add_row(View const& g, std::int64_t v)
  {
    auto const row = g.row(v);
    bool const has_attributes = g.has_weights() || g.has_edge_labels();
    std::uint32_t i = 0;
    for (vertex_id const target : row) {
      add(v, target, has_attributes ? attributes_of(g, row, i) : 0);
      ++i;
    }
  }
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> value() const { return {a_, b_}; }

 private:
  template <class View, class Row>
  [[nodiscard]] static std::uint64_t attributes_of(View const& g, Row const& row, std::uint32_t i)
  {
    // 0 and -0 are equal.
    std::uint64_t const weight = g.has_weights() ? std::bit_cast<std::uint32_t>(row.weight(i) + 0.0F) : 0U;
    std::uint64_t const label = g.has_edge_labels() ? row.label(i) : 0U;
    return mixed(weight << 16U | label);
  }

  void add(std::int64_t v, std::int64_t u, std::uint64_t attributes)
  {
    auto const ends = static_cast<std::uint64_t>(std::min(u, v)) << 32U | static_cast<std::uint64_t>(std::max(u, v));
    std::uint64_t const edge = mixed(ends ^ attributes);
    std::uint64_t const other = mixed(edge + 0x9e3779b97f4a7c15ULL);
    std::uint64_t const sign = u > v ? 0 : ~std::uint64_t{0};
    std::uint64_t const counts = u == v ? 0 : ~std::uint64_t{0};
    a_ += ((edge ^ sign) - sign) & counts;
    b_ += ((other ^ sign) - sign) & counts;
  }

  std::uint64_t a_ = 0, b_ = 0;
};

/// Whether edges and reverses are the same, of parallel ones in any order: 128 bits of sums are 0 then, and in 2^-128 of
/// other cases. Progress is reported as "symmetry".
inline bool has_all_reverses(graph_view const& graph, cpu_exec const& exec)
{
  std::atomic<std::uint64_t> sum_a{0}, sum_b{0};
  graph.visit([&](auto const& g) {
    base::vertex_work const work(g.num_vertices, [&](std::int64_t v) { return g.first_edge(v); });
    work.for_each_range("symmetry", exec, [&](std::int64_t begin, std::int64_t end) {
      reverse_sum sum;
      for (std::int64_t v = begin; v < end; ++v) { sum.add_row(g, v); }
      auto const [a, b] = sum.value();
      sum_a += a;
      sum_b += b;
    });
  });
  return sum_a == 0 && sum_b == 0;
}

}  // namespace tendril::validation
