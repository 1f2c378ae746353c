#pragma once

// Graphs of several types that are small enough to reason about, all ways to sample them, and seeds.

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/minibatch.hpp>

#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {

/// Times of so many edges: few different ones, so that many are equal, some below zero.
inline std::vector<std::int64_t> make_times(std::int64_t count, std::uint64_t seed)
{
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> out(static_cast<std::size_t>(count));
  for (auto& t : out) { t = static_cast<std::int64_t>(random() % 12) - 4; }
  return out;
}

/// Edges from `from` rows to `to` vertices, with weights some of which are 0: a hub (0), parallel edges, rows without.
inline graph make_between(std::int64_t from, std::int64_t to, std::int64_t rows, std::uint64_t seed)
{
  std::mt19937_64 random(seed);
  std::vector<test_edge> edges;
  for (std::int64_t v = 0; v < from; ++v) {
    for (std::uint64_t k = v == 0 ? 150 : v % 5 == 4 ? 0 : random() % 9; k > 0; --k) {
      edges.push_back({static_cast<vertex_id>(v), static_cast<vertex_id>(random() % static_cast<std::uint64_t>(to)),
                       static_cast<float>(random() % 4)});
    }
  }
  return make_graph(rows, edges);
}

/// Three vertex types of 64, 30 and 8 vertices; five edge types: 0 -> 0 (the zoo), 0 -> 1, 1 -> 0, 1 -> 2, and 0 -> 2
/// without an edge. Nothing leads from type 2.
/// @param timed  Edge types 0, 1 and 3 have times.
inline hetero_graph make_hetero_zoo(std::uint64_t seed, bool timed)
{
  std::vector<edge_type> types;
  types.push_back({0, 0, make_zoo(seed), {}});
  types.push_back({0, 1, make_between(64, 30, 64, seed + 1), {}});
  types.push_back({1, 0, make_between(30, 64, 64, seed + 2), {}});
  types.push_back({1, 2, make_between(30, 8, 40, seed + 3), {}});
  types.push_back({0, 2, make_graph(64, {}, {.weights = false}), {}});
  for (std::size_t const t : {0U, 1U, 3U}) {
    if (timed) { types[t].order = order_by_time(types[t].edges, make_times(types[t].edges.num_edges(), seed + t)); }
  }
  return {{64, 30, 8}, std::move(types)};
}

inline hetero_graph make_timed_zoo(std::uint64_t seed)
{
  graph const g = make_zoo(seed);
  return hetero_graph(g, order_by_time(g, make_times(g.num_edges(), seed)));
}

/// Seeds of one, two or three types: repeats, dead ends, a lonely one.
struct seed_lists {
  std::vector<std::vector<vertex_id>> vertices;
  std::vector<std::vector<std::int64_t>> times;

  /// Valid as long as this lives. @param timed  With times.
  [[nodiscard]] batch_seeds spans(bool timed) const
  {
    batch_seeds out;
    for (auto const& list : vertices) { out.vertices.emplace_back(list); }
    for (auto const& list : times) {
      if (timed) { out.times.emplace_back(list); }
    }
    return out;
  }
};

inline seed_lists one_type_seeds() { return {{{5, 0, 61, 5, 2, 50, 1, 33, 0, 5}}, {{3, 7, 7, -2, 0, 4, 7, 2, -9, 5}}}; }
inline seed_lists three_type_seeds() { return {{{5, 0, 61, 5, 1}, {}, {7, 7, 2}}, {{3, 7, 7, -2, 1}, {}, {4, 4, 0}}}; }
inline seed_lists middle_type_seeds() { return {{{}, {0, 4, 1, 0, 29}, {}}, {{}, {2, 7, -4, 0, 4}, {}}}; }

/// Every combination of what can be chosen, for a graph of one type or several, with times or without. Under a sanitizer
/// so many of them that any value of a choice still meets any value of each other one.
inline std::vector<minibatch_params> every_way(bool one_type, bool timed, std::vector<std::int64_t> const& fanouts)
{
  std::vector<minibatch_params> out;
  for (int bits = 0; bits < 32; ++bits) {
    for (auto const subgraph : {subgraph_type::directional, subgraph_type::bidirectional, subgraph_type::induced}) {
      minibatch_params p{.num_neighbors = fanouts,
                         .replace = (bits & 1) != 0,
                         .weighted = (bits & 2) != 0,
                         .disjoint = (bits & 4) != 0,
                         .subgraph = subgraph,
                         .frontier = (bits & 8) != 0 ? batch_frontier::all : batch_frontier::fresh,
                         .temporal = (bits & 16) != 0 ? temporal_strategy::last : temporal_strategy::uniform,
                         .seed = static_cast<std::uint64_t>(bits)};
      if (timed && (p.weighted || !p.disjoint)) { continue; }
      if (!timed && p.temporal == temporal_strategy::last) { continue; }
      if (!one_type && subgraph == subgraph_type::bidirectional) { continue; }
      out.push_back(p);
    }
  }
  for (int bits = 0; bits < 32; ++bits) {
    for (auto const subgraph : {subgraph_type::directional, subgraph_type::bidirectional, subgraph_type::induced}) {
      minibatch_params const p{.num_neighbors = fanouts,
                               .disjoint = (bits & 1) != 0,
                               .subgraph = subgraph,
                               .frontier = (bits & 2) != 0 ? batch_frontier::all : batch_frontier::fresh,
                               .choice = neighbor_choice::labor,
                               .normalize = (bits & 4) != 0,
                               .layer_dependency = (bits & 8) != 0,
                               .batch_dependency = (bits & 16) != 0 ? 3 : 1,
                               .seed = static_cast<std::uint64_t>(bits)};
      if (timed && !p.disjoint) { continue; }
      if (!one_type && subgraph == subgraph_type::bidirectional) { continue; }
      out.push_back(p);
    }
  }
  std::size_t const stride = unless_sanitized<std::size_t>(1, !one_type ? 3 : timed ? 1 : 5);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < out.size(); i += stride) { out[kept++] = out[i]; }
  out.resize(kept);
  return out;
}

inline std::string name_of(minibatch_params const& p)
{
  std::string out = testing::PrintToString(p.num_neighbors);
  if (!p.num_neighbors_of_type.empty()) { out = testing::PrintToString(p.num_neighbors_of_type); }
  out += p.replace ? " replace" : "";
  out += p.weighted ? " weighted" : "";
  out += p.disjoint ? " disjoint" : "";
  out += p.subgraph == subgraph_type::bidirectional ? " bidirectional" : "";
  out += p.subgraph == subgraph_type::induced ? " induced" : "";
  out += p.frontier == batch_frontier::all ? " all" : "";
  out += p.temporal == temporal_strategy::last ? " last" : "";
  if (p.choice == neighbor_choice::labor) {
    out += p.normalize ? " labor" : " labor with plain weights";
    out += p.layer_dependency ? " layer-dependent" : "";
    out += p.batch_dependency > 1 ? " batch-dependent" : "";
  }
  return out;
}

inline std::vector<std::vector<std::int64_t>> const every_fanout = {{1}, {4, 3}, {-1},      {2, -1},      {-1, 2},
                                                                    {0}, {0, 5}, {3, 0, 2}, {2, 2, 2, 2}, {200, 1}};

}  // namespace tendril::test
