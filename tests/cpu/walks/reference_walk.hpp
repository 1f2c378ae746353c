#pragma once

// The contract of walks, written a second time from docs/reproducibility.md: one walker, plain loops, the standard
// library's logarithm and binary search, no code of the engine's but the Philox block and the key of a domain (which
// have known answers of their own). It covers the rules uniform, reject, its and scan with every application.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include <tendril/graph.hpp>
#include <tendril/walk.hpp>

#include "core/random.hpp"  // draw_block, make_key

namespace tendril::test {

class reference_walk {
 public:
  /// @param rule  The planned rule.
  reference_walk(graph const& graph, walk_params const& params, sampling_rule rule)
      : graph_(graph.csr()), params_(params), rule_(rule)
  {
    second_order_ = params.second_order || params.p != 1 || params.q != 1;
    auto const which = !params.metapath.empty() ? core::domain::metapath_walk
                       : second_order_          ? core::domain::second_order_walk
                                                : core::domain::first_order_walk;
    step_key_ = core::make_key(params.seed, which);
    end_key_ = core::make_key(params.seed, core::domain::walk_end);
  }

  /// The row of walk `walk` from `start`; its length in `steps`.
  [[nodiscard]] std::vector<vertex_id> operator()(vertex_id start, std::uint64_t walk, std::int32_t& steps) const
  {
    std::vector<vertex_id> row = {start};
    vertex_id before = no_vertex;
    bool dead = of_types() && graph_.node_types[start] != params_.metapath[0];
    while (!dead && static_cast<std::int64_t>(row.size()) <= params_.length) {
      auto const step = static_cast<std::uint32_t>(row.size() - 1);
      auto const ends = core::draw_block(end_key_, walk, step, 0);
      if (happens(ends.low(), params_.stop_prob)) { break; }
      if (happens(ends.high(), params_.restart_prob)) {
        row.push_back(start);
        before = no_vertex;
        continue;
      }
      auto const next = choose(walk, step, row.back(), before);
      if (!next) {
        dead = true;
      } else {
        before = row.back();
        row.push_back(*next);
      }
    }
    steps = static_cast<std::int32_t>(row.size() - 1);
    row.resize(static_cast<std::size_t>(params_.length) + 1,
               dead && params_.dead_ends == dead_end::repeat ? row.back() : no_vertex);
    return row;
  }

 private:
  __extension__ using uint128 = unsigned __int128;

  /// floor(bits / 2^64 * size)
  static std::uint64_t scaled(std::uint64_t bits, std::uint64_t size)
  {
    return static_cast<std::uint64_t>((uint128{bits} * size) >> 64U);
  }

  static bool happens(std::uint64_t bits, double p)
  {
    return static_cast<long double>(bits) < std::ldexp(static_cast<long double>(p), 64);
  }

  [[nodiscard]] bool of_types() const
  {
    return !params_.metapath.empty() && params_.metapath_of == metapath_kind::vertex_types;
  }

  /// The edges that a step may follow, whatever their weights.
  [[nodiscard]] std::vector<edge_id> candidates(vertex_id v, std::uint32_t step) const
  {
    std::vector<edge_id> out;
    for (edge_id e = graph_.indptr[v]; e < graph_.indptr[v + 1]; ++e) {
      auto const& schema = params_.metapath;
      bool const fits =
          schema.empty() || (of_types() ? graph_.node_types[graph_.indices[e]] == schema[(step + 1) % schema.size()]
                                        : graph_.edge_labels[e] == schema[step % schema.size()]);
      if (fits) { out.push_back(e); }
    }
    return out;
  }

  [[nodiscard]] float weight(edge_id e) const { return params_.weighted ? graph_.weights[e] : 1.0F; }

  /// The factor of p and q for a candidate.
  [[nodiscard]] float bias(vertex_id x, vertex_id before) const
  {
    if (!second_order_ || before == no_vertex) { return 1; }
    if (x == before) { return static_cast<float>(1 / params_.p); }
    bool const near = std::binary_search(graph_.indices + graph_.indptr[before],
                                         graph_.indices + graph_.indptr[before + std::int64_t{1}], x);
    return near ? 1.0F : static_cast<float>(1 / params_.q);
  }

  [[nodiscard]] std::optional<vertex_id> choose(std::uint64_t walk, std::uint32_t step, vertex_id v,
                                                vertex_id before) const
  {
    auto const edges = candidates(v, step);
    auto const size = static_cast<std::uint64_t>(edges.size());
    if (size == 0) { return std::nullopt; }
    auto const target = [&](std::uint64_t i) { return graph_.indices[edges[i]]; };
    auto const block = [&](std::uint32_t draw) { return core::draw_block(step_key_, walk, step, draw); };
    if (rule_ == sampling_rule::uniform) { return target(scaled(block(0).low(), size)); }
    if (rule_ == sampling_rule::its) { return invert(edges, block(0).low()); }
    if (rule_ == sampling_rule::reject) {
      double largest = 0;
      for (auto const e : edges) { largest = std::max(largest, double{weight(e)}); }
      if (largest == 0) { return std::nullopt; }
      bool const biased = second_order_ && before != no_vertex;
      double const most = std::max({1.0F, static_cast<float>(1 / params_.p), static_cast<float>(1 / params_.q)});
      double const bound = biased ? largest * most : largest;
      for (std::uint32_t trial = 0; trial < 32 + std::min<std::uint64_t>(size, 992); ++trial) {
        std::uint64_t const i = scaled(block(trial).low(), size);
        double const level = std::ldexp(static_cast<double>(block(trial).high() >> 11U), -53) * bound;
        if (level < double{weight(edges[i])} * bias(target(i), before)) { return target(i); }
      }
    }
    return race(edges, graph_.indptr[v], walk, step, before);
  }

  /// The candidate with the smallest exponential over its weight. `first`: the first edge of the neighbourhood.
  [[nodiscard]] std::optional<vertex_id> race(std::vector<edge_id> const& edges, edge_id first, std::uint64_t walk,
                                              std::uint32_t step, vertex_id before) const
  {
    std::optional<vertex_id> winner;
    long double best = 0;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      vertex_id const x = graph_.indices[edges[i]];
      float const w = weight(edges[i]) * bias(x, before);
      if (!(w > 0)) { continue; }
      // A scan numbers the whole neighbourhood, a race after trials its candidates.
      auto const number = rule_ == sampling_rule::scan ? static_cast<std::size_t>(edges[i] - first) : i;
      auto const offset = static_cast<std::uint32_t>(number / 128 * 32 + number % 32);
      auto const word = [&](std::uint32_t first_draw) -> std::uint64_t {
        return core::draw_block(step_key_, walk, step, first_draw + offset).word[number / 32 % 4];
      };
      std::uint64_t const bits = (word(0x80000000U) << 32U) | word(0xC0000000U);
      long double const v = std::ldexp(static_cast<long double>(bits) + 0.5L, -64);
      long double const key = -std::log1p(-v) / static_cast<long double>(w);
      if (!winner || key < best) {
        winner = x;
        best = key;
      }
    }
    return winner;
  }

  /// The first candidate whose prefix sum of integer weights exceeds bits / 2^64 of their sum.
  [[nodiscard]] std::optional<vertex_id> invert(std::vector<edge_id> const& edges, std::uint64_t bits) const
  {
    float largest = 0;
    for (auto const e : edges) { largest = std::max(largest, weight(e)); }
    if (largest == 0) { return std::nullopt; }
    // The largest weight gets 62 - ceil(log2 size) bits.
    int bits_of_size = 0;
    while ((std::size_t{1} << static_cast<unsigned>(bits_of_size)) < edges.size()) { ++bits_of_size; }
    int exponent = 0;
    (void)std::frexp(largest, &exponent);
    auto const integer = [&](edge_id e) -> std::uint64_t {
      if (weight(e) == 0) { return 0; }
      auto const x = std::ldexp(static_cast<long double>(weight(e)), 62 - bits_of_size - exponent);
      return static_cast<std::uint64_t>(std::max(1.0L, std::floor(x + 0.5L)));
    };
    std::uint64_t sum = 0;
    for (auto const e : edges) { sum += integer(e); }
    std::uint64_t const wanted = scaled(bits, sum);
    std::uint64_t prefix = 0;
    for (auto const e : edges) {
      prefix += integer(e);
      if (prefix > wanted) { return graph_.indices[e]; }
    }
    return std::nullopt;
  }

  csr_arrays graph_;
  walk_params params_;
  sampling_rule rule_;
  bool second_order_ = false;
  rng_key step_key_, end_key_;
};

}  // namespace tendril::test
