#pragma once

// Graphs small enough to reason about, and applications to walk on them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <tendril/graph.hpp>
#include <tendril/walk.hpp>

#include "support/to_array.hpp"

namespace tendril::test {

struct test_edge {
  vertex_id from, to;
  float weight = 1;
  std::uint8_t label = 0;
};

/// Which optional arrays a graph gets.
struct columns {
  bool weights = true;
  bool labels = true;
};

/// The CSR of `edges` in the order (from, to, place in the list), without the library's builder.
/// @param types  [num_vertices] or empty.
inline graph make_graph(std::int64_t num_vertices, std::vector<test_edge> edges, columns has = {},
                        std::vector<std::uint8_t> const& types = {})
{
  std::stable_sort(edges.begin(), edges.end(), [](test_edge const& a, test_edge const& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  });
  std::vector<edge_id> indptr(static_cast<std::size_t>(num_vertices) + 1, 0);
  std::vector<vertex_id> indices;
  std::vector<float> weights;
  std::vector<std::uint8_t> labels;
  for (auto const& e : edges) {
    ++indptr[e.from + std::size_t{1}];
    indices.push_back(e.to);
    weights.push_back(e.weight);
    labels.push_back(e.label);
  }
  for (std::size_t v = 1; v < indptr.size(); ++v) { indptr[v] += indptr[v - 1]; }
  graph_arrays arrays;
  arrays.indptr = to_array(indptr);
  arrays.indices = to_array(indices);
  if (has.weights) { arrays.weights = to_array(weights); }
  if (has.labels) { arrays.edge_labels = to_array(labels); }
  if (!types.empty()) { arrays.node_types = to_array(types); }
  return graph(std::move(arrays));
}

/// Edges from vertex 0 to the vertices 1 .. weights.size(), which have none.
inline graph make_star(std::vector<float> const& weights)
{
  auto const degree = static_cast<edge_id>(weights.size());
  buffer<edge_id> indptr(degree + 2);
  buffer<vertex_id> indices(degree);
  std::fill(indptr.begin(), indptr.end(), degree);
  indptr[0] = 0;
  for (edge_id e = 0; e < degree; ++e) { indices[e] = static_cast<vertex_id>(e + 1); }
  graph_arrays arrays;
  arrays.indptr = std::move(indptr);
  arrays.indices = std::move(indices);
  arrays.weights = to_array(weights);
  return graph(std::move(arrays));
}

/// A directed graph of 64 vertices with everything that trips an engine up: a hub (0) that leads to most others, a
/// vertex whose weights are all 0 (1), one with a self loop and parallel edges (2), vertices without out-edges (50 to
/// 59) and without any edge (60 to 63), weights of 0 and across 12 orders of magnitude, three edge labels and three
/// vertex types.
inline graph make_zoo(std::uint64_t seed)
{
  std::mt19937_64 random(seed);
  auto const below = [&](std::uint64_t n) { return random() % n; };
  auto const weight = [&] {
    return below(6) == 0 ? 0.0F : static_cast<float>(std::pow(10.0, static_cast<double>(below(1200)) / 100.0 - 6.0));
  };
  auto const label = [&] { return static_cast<std::uint8_t>(below(3)); };
  std::vector<test_edge> edges;
  for (vertex_id v = 0; v < 60; ++v) {
    if (below(8) != 0) { edges.push_back({0, v, weight(), label()}); }
  }
  for (vertex_id v = 3; v < 20; ++v) { edges.push_back({1, v, 0.0F, label()}); }
  for (std::uint8_t k = 0; k < 6; ++k) {
    edges.push_back({2, 2, weight(), k});
    edges.push_back({2, 7, weight(), static_cast<std::uint8_t>(k % 3)});
  }
  for (vertex_id v = 3; v < 50; ++v) {
    for (std::uint64_t k = 1 + below(7); k > 0; --k) {
      edges.push_back({v, static_cast<vertex_id>(below(60)), weight(), label()});
    }
  }
  edges.push_back({3, 0, 1.0F, 0});  // the hub has a way in
  std::vector<std::uint8_t> types(64);
  for (auto& t : types) { t = static_cast<std::uint8_t>(below(3)); }
  return make_graph(64, edges, {}, types);
}

struct application {
  std::string name;
  walk_params params;
};

/// Every kind of walk with every rule that fits it.
inline std::vector<application> all_applications(std::int64_t length)
{
  using enum sampling_rule;
  std::vector<application> out;
  auto const add = [&](std::string const& kind, walk_params params, std::vector<sampling_rule> const& rules) {
    params.length = length;
    for (auto const rule : rules) {
      params.rule = rule;
      out.push_back({kind + (params.weighted ? " weighted " : " ") + std::string(to_string(rule)), params});
    }
  };
  for (bool const weighted : {false, true}) {
    std::vector<sampling_rule> const first =
        weighted ? std::vector{automatic, scan, reject, alias, its} : std::vector{automatic, uniform, scan};
    std::vector<sampling_rule> const second =
        weighted ? std::vector{automatic, scan, reject, alias} : std::vector{automatic, scan, reject};
    walk_params p;
    p.weighted = weighted;
    add("deepwalk", p, first);
    p.dead_ends = dead_end::repeat;
    add("deepwalk repeat", p, {automatic});
    p.dead_ends = dead_end::stop;
    p.stop_prob = 0.15;
    add("ppr", p, first);
    p.restart_prob = 0.2;
    add("ppr and restart", p, {automatic});
    p.stop_prob = 0;
    add("restart", p, first);
    p.p = 0.5;
    p.q = 2;
    add("node2vec(0.5, 2) restart", p, second);
    p.restart_prob = 0;
    add("node2vec(0.5, 2)", p, second);
    p.p = 4;
    p.q = 0.25;
    add("node2vec(4, 0.25)", p, second);
    p.stop_prob = 0.1;
    add("node2vec(4, 0.25) ppr", p, second);
    walk_params m;
    m.weighted = weighted;
    m.metapath = {0, 2, 1};
    add("metapath of labels", m, first);
    m.metapath_of = metapath_kind::vertex_types;
    add("metapath of types", m, first);
    m.stop_prob = 0.1;
    m.dead_ends = dead_end::repeat;
    add("metapath of types ppr repeat", m, {automatic});
  }
  return out;
}

/// `copies` walks from every vertex.
inline std::vector<vertex_id> starts_everywhere(graph const& graph, int copies)
{
  std::vector<vertex_id> starts;
  for (std::int64_t i = 0; i < graph.num_vertices() * copies; ++i) {
    starts.push_back(static_cast<vertex_id>(i % graph.num_vertices()));
  }
  return starts;
}

/// Any vertices of a graph, isolated ones among them, some of them twice.
inline std::vector<vertex_id> random_roots(graph const& g, std::int64_t count, std::uint64_t seed)
{
  std::mt19937_64 random(seed);
  std::vector<vertex_id> roots(static_cast<std::size_t>(count));
  for (auto& v : roots) { v = static_cast<vertex_id>(random() % static_cast<std::uint64_t>(g.num_vertices())); }
  return roots;
}

/// The same, where each count has other ones.
inline std::vector<vertex_id> random_roots(graph const& g, std::int64_t count)
{
  return random_roots(g, count, static_cast<std::uint64_t>(count));
}

}  // namespace tendril::test
