// The edges of each vertex in order of time. Vertices are sorted in parallel; the order within one is that of (time,
// position), so threads don't change it.

#include <algorithm>
#include <utility>
#include <vector>

#include <tendril/hetero_graph.hpp>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // parallel_ranges
#include "graph/places.hpp"

namespace tendril {
namespace {

constexpr std::int64_t vertices_a_range = 1024;

/// `time_of(row, i)` is the time of edge i of a row.
template <class View, class F>
temporal_order order_by(View const& view, cpu_exec const& exec, F time_of)
{
  buffer<std::int64_t> times(view.num_edges, *exec.memory);
  buffer<std::uint32_t> ordinal(view.num_edges, *exec.memory);
  base::parallel_ranges(exec, view.num_vertices, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::pair<std::int64_t, std::uint32_t>> list;
    for (std::int64_t v = begin; v < end; ++v) {
      auto const row = view.row(v);
      edge_id const first = row.first_edge();
      std::uint32_t const degree = row.degree();
      list.resize(degree);
      for (std::uint32_t i = 0; i < degree; ++i) { list[i] = {time_of(row, i), i}; }
      if (!std::is_sorted(list.begin(), list.end())) { std::sort(list.begin(), list.end()); }
      for (std::uint32_t i = 0; i < degree; ++i) {
        times[first + i] = list[i].first;
        ordinal[first + i] = list[i].second;
      }
    }
  });
  return {std::move(times), std::move(ordinal)};
}

void expect_on_host(graph const& graph) { validation::expect_in_host_memory(graph, ", or a gpu_exec"); }

}  // namespace

temporal_order order_by_time(graph const& graph, std::span<std::int64_t const> edge_times, cpu_exec const& exec)
{
  expect_on_host(graph);
  TENDRIL_EXPECTS(std::ssize(edge_times) == graph.num_edges(), "edge_times: {} times, expected one an edge: {}",
                  edge_times.size(), graph.num_edges());
  return graph.view().visit([&](auto const& view) {
    return order_by(view, exec, [&](auto const& row, std::uint32_t i) {
      return edge_times[static_cast<std::size_t>(row.edge(i))];
    });
  });
}

temporal_order order_by_vertex_time(graph const& graph, std::span<std::int64_t const> vertex_times,
                                    cpu_exec const& exec)
{
  expect_on_host(graph);
  // A graph between two types has rows for the larger one, so its neighbours alone say how many times it takes.
  auto const past = static_cast<std::int64_t>(vertex_times.size());
  return graph.view().visit([&](auto const& view) {
    base::parallel_ranges(exec, view.num_vertices, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t v = begin; v < end; ++v) {
        auto const row = view.row(v);
        if (row.empty() || row.neighbor(row.degree() - 1) < past) { continue; }  // neighbours ascend
        std::uint32_t const i = row.find(static_cast<vertex_id>(past));
        TENDRIL_EXPECTS(false, "vertex_times: {} times, but edge {} leads to vertex {}", past, row.edge(i),
                        row.neighbor(i));
      }
    });
    return order_by(view, exec, [&](auto const& row, std::uint32_t i) { return vertex_times[row.neighbor(i)]; });
  });
}

}  // namespace tendril
