// What a graph alone tells about how often each row is used: the static scores of caches.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <tendril/error.hpp>
#include <tendril/feature_cache.hpp>

#include "base/expects.hpp"
#include "base/parallel.hpp"

namespace tendril {
namespace {

using counts = std::vector<std::uint64_t>;

constexpr std::int64_t grain = 1 << 14;

void expect_on_host(hetero_graph const& graph)
{
  TENDRIL_EXPECTS(graph.device() < 0, "the graph lies on GPU {}, expected host memory", graph.device());
}

std::vector<counts> zeros_of(hetero_graph const& graph)
{
  std::vector<counts> made;
  for (std::int64_t const size : graph.num_vertices()) { made.emplace_back(static_cast<std::size_t>(size), 0); }
  return made;
}

/// Adds share(v) to what each neighbour of each vertex v has. Sums of integers don't depend on their order.
template <class Share>
void add_to_neighbors(edge_type const& type, std::int64_t num_vertices, Share const& share, counts& sums,
                      cpu_exec const& exec)
{
  type.edges.view().visit([&](auto const& view) {
    base::parallel_ranges(exec, num_vertices, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t v = begin; v < end; ++v) {
        std::uint64_t const part = share(static_cast<std::size_t>(v));
        for (vertex_id const to : view.row(v)) { std::atomic_ref(sums[to]).fetch_add(part, std::memory_order_relaxed); }
      }
    });
  });
}

std::vector<std::vector<double>> as_doubles(std::vector<counts> const& from, double scale)
{
  std::vector<std::vector<double>> made;
  for (counts const& one : from) {
    made.emplace_back(one.size());
    for (std::size_t v = 0; v < one.size(); ++v) { made.back()[v] = static_cast<double>(one[v]) * scale; }
  }
  return made;
}

std::size_t index(std::int32_t type) { return static_cast<std::size_t>(type); }

}  // namespace

std::vector<std::vector<double>> neighbor_counts(hetero_graph const& graph, cpu_exec const& exec)
{
  expect_on_host(graph);
  auto sums = zeros_of(graph);
  for (edge_type const& type : graph.edge_types()) {
    add_to_neighbors(
        type, graph.num_vertices()[index(type.from)], [](std::size_t) { return 1U; }, sums[index(type.to)], exec);
  }
  return as_doubles(sums, 1);
}

std::vector<std::vector<double>> pageranks(hetero_graph const& graph, int iterations, cpu_exec const& exec)
{
  TENDRIL_EXPECTS(iterations >= 0, "{} iterations, expected 0 or more", iterations);
  expect_on_host(graph);
  constexpr std::uint64_t whole = std::uint64_t{1} << 62U;  // all ranks together
  constexpr std::uint64_t restart_percent = 15;

  std::uint64_t num_vertices = 0;
  for (std::int64_t const size : graph.num_vertices()) { num_vertices += static_cast<std::uint64_t>(size); }
  if (num_vertices == 0) { return as_doubles(zeros_of(graph), 1); }
  auto degrees = zeros_of(graph);
  for (edge_type const& type : graph.edge_types()) {
    counts& of = degrees[index(type.from)];
    for (std::size_t v = 0; v < of.size(); ++v) { of[v] += type.edges.view().degree(static_cast<std::int64_t>(v)); }
  }
  auto ranks = zeros_of(graph);
  for (counts& one : ranks) { one.assign(one.size(), whole / num_vertices); }
  for (int i = 0; i < iterations; ++i) {
    auto next = zeros_of(graph);
    for (edge_type const& type : graph.edge_types()) {
      counts const& from = ranks[index(type.from)];
      counts const& many = degrees[index(type.from)];
      auto const share = [&](std::size_t v) { return many[v] == 0 ? 0 : from[v] / many[v]; };
      add_to_neighbors(type, static_cast<std::int64_t>(from.size()), share, next[index(type.to)], exec);
    }
    for (counts& one : next) {
      for (std::uint64_t& rank : one) {
        rank = rank / 100 * (100 - restart_percent) + whole / num_vertices / 100 * restart_percent;
      }
    }
    ranks = std::move(next);
  }
  return as_doubles(ranks, 1.0 / static_cast<double>(whole));
}

}  // namespace tendril
