#pragma once

// The contract of walks, written a second time from docs/reproducibility.md: one walker, plain loops, the standard
// library's logarithm and binary search, no code of the engine's but the Philox block and the key of a domain (which
// have known answers of their own). It covers the rules uniform, reject, its and scan with every application.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
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
      if (second_order_ && before != no_vertex) { return choose_biased(edges, walk, step, v, before, largest); }
      std::uint32_t const limit = 32 + std::min<std::uint32_t>(static_cast<std::uint32_t>(size), 96);
      for (std::uint32_t trial = 0; trial < limit; ++trial) {
        std::uint64_t const i = scaled(block(trial).low(), size);
        if (unit(block(trial).high()) * largest < weight(edges[i])) { return target(i); }
      }
      return invert(edges, block(limit).low());
    }
    return race(edges, graph_.indptr[v], walk, step, before);
  }

  /// The 53 upper bits as a number in [0, 1).
  static double unit(std::uint64_t bits) { return std::ldexp(static_cast<double>(bits >> 11U), -53); }

  /// A step after another one, by rejection: uniform trials, where weights differ trials by integer weights, a race.
  [[nodiscard]] std::optional<vertex_id> choose_biased(std::vector<edge_id> const& edges, std::uint64_t walk,
                                                       std::uint32_t step, vertex_id v, vertex_id before,
                                                       double largest) const
  {
    auto const block = [&](std::uint32_t draw) { return core::draw_block(step_key_, walk, step, draw); };
    auto const size = static_cast<std::uint32_t>(edges.size());
    auto const back = static_cast<float>(1 / params_.p);
    float const rest = std::max(1.0F, static_cast<float>(1 / params_.q));
    auto const away = static_cast<float>(1 / params_.q);
    bool const folds = back - rest > 4.0F * away;
    std::uint32_t num_back = 0;
    double back_weight = 0;
    for (auto const e : edges) {
      if (graph_.indices[e] == before) {
        ++num_back;
        back_weight = weight(e);
      }
    }
    bool const apart = folds && num_back < 2;
    double share = 0;
    if (apart && num_back == 1) {
      double const extra = (double{back} - double{rest}) * back_weight;
      share = extra / (extra + rest * (largest * size));
    }
    double const bound = largest * (apart ? rest : std::max(back, rest));
    std::uint32_t const blocks = folds ? 2 : 1;
    std::uint32_t const limit = 32 + std::min(size, params_.weighted ? 96U : 992U);
    for (std::uint32_t trial = 0; trial < limit; ++trial) {
      std::uint32_t const first = blocks * trial;
      if (unit(block(first + 1).high()) < share) { return before; }
      edge_id const e = edges[scaled(block(first).low(), size)];
      vertex_id const x = graph_.indices[e];
      float const factor = apart && x == before ? rest : bias(x, before);
      if (unit(folds ? block(first + 1).low() : block(first).high()) * bound < double{weight(e)} * factor) { return x; }
    }
    if (!params_.weighted) { return race(edges, graph_.indptr[v], walk, step, before); }

    auto const integers = integer_weights(edges);
    std::uint64_t of_back = 0;
    std::uint64_t of_others = 0;
    for (std::size_t i = 0; i < size; ++i) {
      (graph_.indices[edges[i]] == before ? of_back : of_others) += integers[i];
    }
    double const all_back = back * static_cast<double>(of_back);
    double const all = all_back + rest * static_cast<double>(of_others);
    for (std::uint32_t trial = 0; trial < 32 + std::min(size, 992U); ++trial) {
      std::uint32_t const first = blocks * limit + 2 * trial;
      if (unit(block(first + 1).high()) * all < all_back) { return before; }
      std::uint64_t const wanted = scaled(block(first).low(), of_others);
      std::uint64_t prefix = 0;
      for (std::size_t i = 0; i < size; ++i) {
        vertex_id const x = graph_.indices[edges[i]];
        prefix += x == before ? 0 : integers[i];
        if (prefix <= wanted) { continue; }
        if (unit(block(first + 1).low()) * rest < bias(x, before)) { return x; }
        break;
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

  /// Weights as integers: the largest one gets 62 - ceil(log2 size) bits. Empty if all are 0.
  [[nodiscard]] std::vector<std::uint64_t> integer_weights(std::vector<edge_id> const& edges) const
  {
    float largest = 0;
    for (auto const e : edges) { largest = std::max(largest, weight(e)); }
    if (largest == 0) { return {}; }
    int bits_of_size = 0;
    while ((std::size_t{1} << static_cast<unsigned>(bits_of_size)) < edges.size()) { ++bits_of_size; }
    int exponent = 0;
    (void)std::frexp(largest, &exponent);
    std::vector<std::uint64_t> out;
    for (auto const e : edges) {
      auto const x = std::ldexp(static_cast<long double>(weight(e)), 62 - bits_of_size - exponent);
      out.push_back(weight(e) == 0 ? 0 : static_cast<std::uint64_t>(std::max(1.0L, std::floor(x + 0.5L))));
    }
    return out;
  }

  /// The first candidate whose prefix sum of integer weights exceeds bits / 2^64 of their sum.
  [[nodiscard]] std::optional<vertex_id> invert(std::vector<edge_id> const& edges, std::uint64_t bits) const
  {
    auto const integers = integer_weights(edges);
    if (integers.empty()) { return std::nullopt; }
    std::uint64_t const wanted = scaled(bits, std::accumulate(integers.begin(), integers.end(), std::uint64_t{0}));
    std::uint64_t prefix = 0;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      prefix += integers[i];
      if (prefix > wanted) { return graph_.indices[edges[i]]; }
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
