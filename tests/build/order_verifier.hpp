// Serial orders that are obviously right: neighbours in sets, a queue, and comparison sorts.
//
// What an order must satisfy: it holds each vertex once, and is the one that these functions give.

#pragma once

#include <algorithm>
#include <deque>
#include <numeric>
#include <set>
#include <vector>

#include <tendril/graph.hpp>

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

}  // namespace tendril::test
