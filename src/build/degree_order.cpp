// By falling degree: the vertices that most edges lead to get the smallest numbers.

#include "build/by_degree.hpp"   // sorted_by_degree
#include "build/orders.hpp"      // degree_order
#include "build/undirected.hpp"  // in_degrees

namespace tendril::build {

buffer<vertex_id> degree_order(graph const& g, cpu_exec const& exec)
{
  return g.view().visit([&](auto const& view) {
    auto const sorted = [&](auto const& degree) {
      return sorted_by_degree(view.num_vertices, direction::falling, degree, exec);
    };
    if (g.arrays().symmetric) {
      return sorted([&](std::int64_t v) { return std::int64_t{view.degree(v)}; });
    }
    // The order needs only the number of edges that enter a vertex: they are counted, not stored.
    buffer<edge_id> const in = in_degrees(view, exec);
    return sorted([&](std::int64_t v) { return view.degree(v) + in[v + 1]; });
  });
}

}  // namespace tendril::build
