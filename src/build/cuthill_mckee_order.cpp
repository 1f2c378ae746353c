// Reverse Cuthill-McKee: breadth first with neighbours by rising degree, from a vertex at the border of its component;
// all of it reversed. E. Cuthill, J. McKee, "Reducing the bandwidth of sparse symmetric matrices", ACM '69; A. George, "Computer
// implementation of the finite element method", 1971 (the reversal). The border is found as in A. George, J. Liu, "An
// implementation of a pseudoperipheral node finder", TOMS '79: from the vertex of smallest degree, go on with one of
// smallest degree in the last level, as long as there are more levels from there.

#include <algorithm>
#include <utility>

#include "build/breadth_first.hpp"  // breadth_first, for_each_component
#include "build/by_degree.hpp"      // sorted_by_degree
#include "build/orders.hpp"         // cuthill_mckee_order

namespace tendril::build {
namespace {

constexpr int max_searches = 16;  // a component; three or four are usual

}  // namespace

buffer<vertex_id> cuthill_mckee_order(graph const& g, cpu_exec const& exec)
{
  return visit_undirected(g, exec, [&](auto const& edges) {
    auto const by_degree = [&edges](vertex_id a, vertex_id b) {
      return std::pair(edges.degree(a), a) < std::pair(edges.degree(b), b);
    };
    auto const starts = sorted_by_degree(
        edges.num_vertices(), direction::rising, [&](std::int64_t v) { return edges.degree(v); }, exec);
    auto const arrange = [&](vertex_id* first, vertex_id* last) { std::sort(first, last, by_degree); };
    breadth_first search(edges, arrange, exec);
    for_each_component(search, starts.span(), exec, [&](vertex_id v, std::int64_t begin) {
      search_result found = search.search(v, begin);
      for (int i = 1; i < max_searches; ++i) {
        auto const last = search.queue().subspan(static_cast<std::size_t>(found.last_level),
                                                 static_cast<std::size_t>(found.end - found.last_level));
        vertex_id const next = *std::min_element(last.begin(), last.end(), by_degree);
        if (next == v) { break; }
        v = next;
        std::int64_t const num_levels = found.num_levels;
        search.forget(found);
        found = search.search(v, begin);
        if (found.num_levels <= num_levels) { break; }
      }
      return found.end;
    });
    auto order = search.take_queue();
    std::reverse(order.begin(), order.end());
    return order;
  });
}

}  // namespace tendril::build
