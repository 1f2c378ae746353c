// Breadth first from the vertex of largest degree of each component, neighbours by id.

#include "build/breadth_first.hpp"  // breadth_first, for_each_component
#include "build/by_degree.hpp"      // sorted_by_degree
#include "build/orders.hpp"         // breadth_first_order

namespace tendril::build {

buffer<vertex_id> breadth_first_order(graph const& g, cpu_exec const& exec)
{
  return visit_undirected(g, exec, [&](auto const& edges) {
    auto const starts = sorted_by_degree(
        edges.num_vertices(), direction::falling, [&](std::int64_t v) { return edges.degree(v); }, exec);
    auto const as_they_are = [](vertex_id*, vertex_id*) {};
    breadth_first search(edges, as_they_are, exec);
    for_each_component(search, starts.span(), exec,
                       [&](vertex_id v, std::int64_t begin) { return search.search(v, begin).end; });
    return search.take_queue();
  });
}

}  // namespace tendril::build
