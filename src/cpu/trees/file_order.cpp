#include "cpu/trees/file_order.hpp"

#include <algorithm>
#include <numeric>

#include <tendril/buffer.hpp>

#include "base/parallel.hpp"  // parallel_ranges

namespace tendril::cpu {
namespace {

constexpr std::int64_t places_a_task = 4096;

}  // namespace

void file_order::visit(std::span<vertex_id const> vertices, cpu_exec const& exec,
                       std::function<void(graph_view const&, std::span<std::int64_t const>)> const& f)
{
  if (vertices.empty()) { return; }
  graph_regions const& regions = pair_.regions();
  auto const region_of = [&](vertex_id v) {
    return static_cast<std::size_t>(v == no_vertex ? regions.size() - 1 : regions.region_of(v));
  };
  // The places of each region, one region behind the other.
  std::vector<std::int64_t> begin(static_cast<std::size_t>(regions.size()) + 1);
  for (vertex_id const v : vertices) { ++begin[region_of(v) + 1]; }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  buffer<std::int64_t> places(std::ssize(vertices), *exec.memory);
  std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
  for (std::int64_t i = 0; i < std::ssize(vertices); ++i) {
    places[next[region_of(vertices[static_cast<std::size_t>(i)])]++] = i;
  }

  auto const size_of = [&](std::int64_t region) {
    return begin[static_cast<std::size_t>(region) + 1] - begin[static_cast<std::size_t>(region)];
  };
  auto const visited_from = [&](std::int64_t region) {
    while (region < regions.size() && size_of(region) == 0) { ++region; }
    return region;
  };
  auto const begin_reading = [&](std::int64_t region) {
    if (region < regions.size()) { pair_.begin_reading(region, size_of(region)); }
  };
  cpu_exec visiting = exec;
  visiting.on_progress = {};
  std::int64_t region = visited_from(0);
  begin_reading(region);
  while (region < regions.size()) {
    auto const here = places.span().subspan(static_cast<std::size_t>(begin[static_cast<std::size_t>(region)]),
                                            static_cast<std::size_t>(size_of(region)));
    std::vector<vertex_id> visited;
    visited.reserve(here.size());
    for (std::int64_t const place : here) {
      vertex_id const v = vertices[static_cast<std::size_t>(place)];
      if (v != no_vertex) { visited.push_back(v); }
    }
    graph_view const& view = pair_.turn_to(region, visited);
    std::int64_t const following = visited_from(region + 1);
    begin_reading(following);
    base::parallel_ranges(visiting, std::ssize(here), places_a_task, [&](std::int64_t first, std::int64_t last) {
      f(view, here.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)));
    });
    region = following;
  }
}

}  // namespace tendril::cpu
