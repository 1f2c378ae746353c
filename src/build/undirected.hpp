// A graph whose edges lead both ways, for orders of vertices: the edges of a vertex are those that leave it and, unless
// the graph is symmetric, those that enter it.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

#include "base/vertex_work.hpp"  // vertex_work
#include "build/offsets.hpp"     // sum_up

namespace tendril::build {

/// The edges that enter each vertex, by their sources. Those of v are [begin[v], begin[v + 1]); sources ascend.
struct in_edges {
  buffer<edge_id> begins;  ///< [num_vertices + 1]
  buffer<vertex_id> sources;
};

/// Calls f(v, x) for each edge v -> x, in parallel.
template <class View, class F>
void for_each_edge(View const& g, cpu_exec const& exec, F&& f)
{
  base::vertex_work const work(g.num_vertices, [&g](std::int64_t v) { return g.first_edge(v); });
  work.for_each_range(nullptr, exec, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      for (vertex_id const x : g.row(v)) { f(static_cast<vertex_id>(v), x); }
    }
  });
}

/// The number of edges that enter each vertex, in [num_vertices + 1] elements, the first of which is 0.
template <class View>
buffer<edge_id> in_degrees(View const& g, cpu_exec const& exec)
{
  buffer<edge_id> degrees(g.num_vertices + 1, *exec.memory);
  std::fill(degrees.begin(), degrees.end(), 0);
  for_each_edge(g, exec, [&](vertex_id, vertex_id x) {
    std::atomic_ref(degrees[std::int64_t{x} + 1]).fetch_add(1, std::memory_order_relaxed);
  });
  return degrees;
}

template <class View>
in_edges transpose(View const& g, cpu_exec const& exec)
{
  in_edges in{in_degrees(g, exec), buffer<vertex_id>(g.num_edges, *exec.memory)};
  auto& begins = in.begins;
  sum_up(begins.span(), exec);
  // While edges are put in, begins[v] is where the next edge into v goes, and in the end where those of v + 1 begin.
  for_each_edge(g, exec, [&](vertex_id v, vertex_id x) {
    in.sources[std::atomic_ref(begins[x]).fetch_add(1, std::memory_order_relaxed)] = v;
  });
  std::memmove(begins.data() + 1, begins.data(), static_cast<std::size_t>(g.num_vertices) * sizeof(edge_id));
  begins[0] = 0;
  // Threads put them in any order.
  base::vertex_work const work(g.num_vertices, [&](std::int64_t v) { return begins[v]; });
  work.for_each_range(nullptr, exec, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      auto* const first = in.sources.data() + begins[v];
      auto* const last = in.sources.data() + begins[v + 1];
      if (!std::is_sorted(first, last)) { std::sort(first, last); }
    }
  });
  return in;
}

/// A view of a graph and of the edges into its vertices. Owns nothing; trivially copyable.
template <class View>
class undirected_view {
 public:
  /// @param in  Null: the graph is symmetric.
  undirected_view(View const& out, in_edges const* in)
      : out_(out),
        begins_(in == nullptr ? nullptr : in->begins.data()),
        sources_(in == nullptr ? nullptr : in->sources.data())
  {
  }

  [[nodiscard]] std::int64_t num_vertices() const { return out_.num_vertices; }
  [[nodiscard]] std::int64_t degree(std::int64_t v) const
  {
    return out_.degree(v) + (begins_ == nullptr ? 0 : begins_[v + 1] - begins_[v]);
  }

  /// Calls f(x) for the other end of each edge of v, in any order.
  template <class F>
  void for_each_end(std::int64_t v, F&& f) const
  {
    for (vertex_id const x : out_.row(v)) { f(x); }
    if (begins_ == nullptr) { return; }
    for (edge_id e = begins_[v]; e < begins_[v + 1]; ++e) { f(sources_[e]); }
  }

  /// Calls f(x) for each neighbour of v other than v itself, ascending.
  template <class F>
  void for_each_neighbor(std::int64_t v, F&& f) const
  {
    auto const self = static_cast<vertex_id>(v);
    vertex_id last = self;
    auto const visit = [&](vertex_id x) {
      if (x != last && x != self) { f(x); }
      last = x;
    };
    edge_id e = begins_ == nullptr ? 0 : begins_[v];
    edge_id const end = begins_ == nullptr ? 0 : begins_[v + 1];
    for (vertex_id const x : out_.row(v)) {
      for (; e < end && sources_[e] < x; ++e) { visit(sources_[e]); }
      visit(x);
    }
    for (; e < end; ++e) { visit(sources_[e]); }
  }

 private:
  View out_;
  edge_id const* begins_;
  vertex_id const* sources_;
};

/// Calls f with the undirected view of a graph, whose content is checked, and returns what f returns.
template <class F>
decltype(auto) visit_undirected(graph const& g, cpu_exec const& exec, F&& f)
{
  return g.view().visit([&](auto const& view) {
    if (g.arrays().symmetric) { return f(undirected_view(view, nullptr)); }
    in_edges const in = transpose(view, exec);
    return f(undirected_view(view, &in));
  });
}

}  // namespace tendril::build
