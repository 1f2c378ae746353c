#include <algorithm>
#include <numeric>
#include <vector>

#include <tendril/sharded_features.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "graph/check.hpp"   // view_of

namespace tendril {

std::vector<std::int64_t> hot_vertices(graph_part const& part, std::int64_t count, transport& ranks)
{
  std::int64_t const num_vertices = part.info.num_vertices;
  TENDRIL_EXPECTS(count >= 0 && count <= num_vertices, "{} hot vertices, expected 0 to {}", count, num_vertices);
  std::vector<std::int64_t> edges_to(static_cast<std::size_t>(num_vertices));
  validation::view_of(part.rows).visit([&](auto const& rows) {
    for (std::int64_t row = 0; row < rows.num_vertices; ++row) {
      for (vertex_id const v : rows.row(row)) { ++edges_to[v]; }
    }
  });
  ranks.all_reduce("edges that lead to vertices", edges_to, reduction::sum);
  std::vector<std::int64_t> out;
  for (std::int64_t v = 0; v < num_vertices; ++v) {
    if (edges_to[static_cast<std::size_t>(v)] > 0) { out.push_back(v); }
  }
  auto const last = out.begin() + std::min(count, std::ssize(out));
  std::partial_sort(out.begin(), last, out.end(), [&](std::int64_t a, std::int64_t b) {
    std::int64_t const to_a = edges_to[static_cast<std::size_t>(a)];
    std::int64_t const to_b = edges_to[static_cast<std::size_t>(b)];
    return to_a != to_b ? to_a > to_b : a < b;
  });
  out.erase(last, out.end());
  return out;
}

}  // namespace tendril
