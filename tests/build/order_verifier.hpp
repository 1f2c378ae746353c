// Serial orders that are obviously right: neighbours in sets, a queue, and comparison sorts.
//
// What an order must satisfy: it holds each vertex once, and is the one that these functions give.

#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <vector>

#include <tendril/graph.hpp>

#include "core/draws.hpp"

namespace tendril::test {

/// A graph whose edges lead both ways.
struct undirected_lists {
  std::vector<std::set<vertex_id>> neighbors;  // without the vertex itself
  std::vector<std::int64_t> degrees;           // edges that leave it and, unless the graph is symmetric, enter it

  explicit undirected_lists(graph const& g)
      : neighbors(static_cast<std::size_t>(g.num_vertices())), degrees(neighbors.size(), 0)
  {
    auto const view = g.csr();
    for (vertex_id v = 0; v < neighbors.size(); ++v) {
      for (std::uint32_t i = 0; i < view.degree(v); ++i) {
        vertex_id const x = view.neighbor(v, i);
        ++degrees[v];
        if (!g.arrays().symmetric) { ++degrees[x]; }
        if (x == v) { continue; }
        neighbors[v].insert(x);
        neighbors[x].insert(v);
      }
    }
  }

  [[nodiscard]] bool rising(vertex_id a, vertex_id b) const
  {
    return degrees[a] != degrees[b] ? degrees[a] < degrees[b] : a < b;
  }
  [[nodiscard]] std::vector<vertex_id> sorted(bool falling) const
  {
    std::vector<vertex_id> all(neighbors.size());
    std::iota(all.begin(), all.end(), vertex_id{0});
    std::stable_sort(all.begin(), all.end(), [&](vertex_id a, vertex_id b) {
      return falling ? degrees[a] > degrees[b] : degrees[a] < degrees[b];
    });
    return all;
  }

  /// The component of `start`, breadth first. `depth` gets the number of levels, `last` the vertices of the last one.
  std::vector<vertex_id> search(vertex_id start, bool by_degree, int* depth = nullptr,
                                std::vector<vertex_id>* last = nullptr) const
  {
    std::vector<int> level(neighbors.size(), -1);
    std::vector<vertex_id> found;
    std::deque<vertex_id> queue{start};
    level[start] = 0;
    while (!queue.empty()) {
      vertex_id const v = queue.front();
      queue.pop_front();
      found.push_back(v);
      std::vector<vertex_id> next(neighbors[v].begin(), neighbors[v].end());
      if (by_degree) {
        std::sort(next.begin(), next.end(), [&](auto a, auto b) { return rising(a, b); });
      }
      for (vertex_id const x : next) {
        if (level[x] >= 0) { continue; }
        level[x] = level[v] + 1;
        queue.push_back(x);
      }
    }
    int const deepest = level[found.back()];
    if (depth != nullptr) { *depth = deepest; }
    if (last != nullptr) {
      std::copy_if(found.begin(), found.end(), std::back_inserter(*last), [&](auto v) { return level[v] == deepest; });
    }
    return found;
  }

  [[nodiscard]] vertex_id pseudo_peripheral(vertex_id v) const
  {
    for (int searches = 1; searches < 16; ++searches) {
      int depth = 0, next_depth = 0;
      std::vector<vertex_id> last;
      (void)search(v, true, &depth, &last);
      vertex_id const next = *std::min_element(last.begin(), last.end(), [&](auto a, auto b) { return rising(a, b); });
      (void)search(next, true, &next_depth);
      v = next;
      if (next_depth <= depth) { break; }
    }
    return v;
  }

  template <class Component>
  [[nodiscard]] std::vector<vertex_id> by_component(std::vector<vertex_id> const& starts, Component component) const
  {
    std::vector<bool> seen(neighbors.size(), false);
    std::vector<vertex_id> order;
    for (vertex_id const start : starts) {
      if (seen[start]) { continue; }
      for (vertex_id const v : component(start)) {
        seen[v] = true;
        order.push_back(v);
      }
    }
    return order;
  }
};

inline std::vector<vertex_id> expected_degree_order(graph const& g) { return undirected_lists(g).sorted(true); }

inline std::vector<vertex_id> expected_breadth_first_order(graph const& g)
{
  undirected_lists const lists(g);
  return lists.by_component(lists.sorted(true), [&](vertex_id v) { return lists.search(v, false); });
}

inline std::vector<vertex_id> expected_cuthill_mckee_order(graph const& g)
{
  undirected_lists const lists(g);
  auto order = lists.by_component(lists.sorted(false),
                                  [&](vertex_id v) { return lists.search(lists.pseudo_peripheral(v), true); });
  std::reverse(order.begin(), order.end());
  return order;
}

/// The labels of one layer, one vertex after the other; a vertex decides by the labels before the turn of its class.
/// @param shift  gamma = 2^-shift; below 0: gamma = 0.
inline std::vector<vertex_id> expected_labels(graph const& g, int shift, rng_key key)
{
  auto const size = static_cast<vertex_id>(g.num_vertices());
  std::vector<std::vector<vertex_id>> ends(size);  // as often as there are edges
  for (vertex_id v = 0; v < size; ++v) {
    for (vertex_id const x : csr_view(g.csr()).row(v)) {
      ends[v].push_back(x);
      if (!g.arrays().symmetric) { ends[x].push_back(v); }
    }
  }
  std::vector<vertex_id> labels(size);
  std::iota(labels.begin(), labels.end(), vertex_id{0});
  std::set<vertex_id> waiting(labels.begin(), labels.end());
  for (std::uint32_t round = 0; round < 8; ++round) {
    std::map<std::uint64_t, std::vector<vertex_id>> classes;
    for (vertex_id const v : waiting) { classes[core::vertex_turn(key, v, round).low() >> 61U].push_back(v); }
    std::int64_t changed = 0;
    for (auto const& [number, members] : classes) {
      auto const before = labels;
      for (vertex_id const v : members) { waiting.erase(v); }
      for (vertex_id const v : members) {
        std::map<vertex_id, std::int64_t> counts{{before[v], 0}};
        for (vertex_id const x : ends[v]) { counts[before[x]] += x != v; }
        std::uint64_t const turn = core::vertex_turn(key, v, round).high();
        std::vector<std::tuple<std::int64_t, std::uint64_t, vertex_id>> choices;  // the smallest wins
        for (auto const& [label, k] : counts) {
          std::int64_t with_it = 1;  // vertices, once v is one of them
          for (vertex_id x = 0; x < size; ++x) { with_it += x != v && before[x] == label; }
          std::uint64_t const tie = (turn ^ label) * 0x9E3779B97F4A7C15ULL;
          std::int64_t const value = shift < 0 ? k : (k << shift) - (with_it - k);  // k - gamma (s - k), times 2^shift
          choices.emplace_back(-value, tie ^ (tie >> 32U), label);
        }
        labels[v] = std::get<2>(*std::min_element(choices.begin(), choices.end()));
        changed += labels[v] != before[v];
      }
      for (vertex_id const v : members) {
        if (labels[v] != before[v]) { waiting.insert(ends[v].begin(), ends[v].end()); }
      }
    }
    if (changed * 1000 < size) { break; }
  }
  return labels;
}

inline std::vector<vertex_id> expected_label_propagation_order(graph const& g, std::uint64_t seed)
{
  std::vector<vertex_id> order(static_cast<std::size_t>(g.num_vertices()));
  std::iota(order.begin(), order.end(), vertex_id{0});
  std::uint64_t layer = 0;
  for (int const shift : {0, 2, 4, 6, 8, 10, -1}) {
    auto const labels = expected_labels(g, shift, core::vertex_order_key(seed, layer++));
    std::vector<std::size_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) { place[order[i]] = i; }
    std::stable_sort(order.begin(), order.end(),
                     [&](vertex_id a, vertex_id b) { return place[labels[a]] < place[labels[b]]; });
  }
  return order;
}

}  // namespace tendril::test
