#include "graph_stats.hpp"

#include <algorithm>
#include <limits>
#include <mutex>

#include <tendril/buffer.hpp>

namespace tendril::cli {
namespace {

constexpr std::int64_t grain = 4096;  // vertices a thread takes at once

std::vector<std::int64_t> count_labels(label_view labels, std::int64_t size, int num_threads)
{
  std::vector<std::int64_t> counts;
  std::mutex guard;
#pragma omp parallel num_threads(num_threads)
  {
    std::vector<std::int64_t> mine(std::size_t{1} << (8 * labels.bytes_per_label));
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < size; ++i) { ++mine[labels[i]]; }
    std::lock_guard const lock(guard);
    counts.resize(mine.size());
    for (std::size_t i = 0; i < mine.size(); ++i) { counts[i] += mine[i]; }
  }
  while (!counts.empty() && counts.back() == 0) { counts.pop_back(); }
  return counts;
}

void measure_degrees(graph_view const& g, graph_stats& stats)
{
  buffer<std::int64_t> degrees(g.num_vertices);
  for (std::int64_t v = 0; v < g.num_vertices; ++v) { degrees[v] = g.degree(v); }
  stats.dead_ends = std::count(degrees.begin(), degrees.end(), 0);
  stats.mean_degree = static_cast<double>(g.num_edges) / static_cast<double>(g.num_vertices);
  auto from = degrees.begin();  // all before it are smaller
  for (std::size_t i = 0; i < graph_stats::percents.size(); ++i) {
    auto const rank = degrees.begin() + (g.num_vertices - 1) * graph_stats::percents[i] / 100;
    std::nth_element(from, rank, degrees.end());
    stats.degree_percentiles[i] = *rank;
    from = rank;
  }
  stats.max_degree = *std::max_element(from, degrees.end());
  stats.min_degree = *std::min_element(degrees.begin(), degrees.end());
}

template <class View>
void measure_edges(View const& g, int num_threads, graph_stats& stats)
{
  buffer<std::uint8_t> touched(g.num_vertices);
  std::fill(touched.begin(), touched.end(), std::uint8_t{0});
  std::int64_t self_loops = 0, parallel_edges = 0;
#pragma omp parallel for schedule(dynamic, grain) num_threads(num_threads) reduction(+ : self_loops, parallel_edges)
  for (std::int64_t v = 0; v < g.num_vertices; ++v) {
    auto const row = g.row(v);
    if (!row.empty()) { __atomic_store_n(&touched[v], std::uint8_t{1}, __ATOMIC_RELAXED); }
    vertex_id previous = no_vertex;
    for (vertex_id const target : row) {
      __atomic_store_n(&touched[target], std::uint8_t{1}, __ATOMIC_RELAXED);  // threads only ever store 1
      self_loops += target == v ? 1 : 0;
      parallel_edges += target == previous ? 1 : 0;
      previous = target;
    }
  }
  stats.self_loops = self_loops;
  stats.parallel_edges = parallel_edges;
  stats.isolated = std::count(touched.begin(), touched.end(), std::uint8_t{0});
}

void measure_weights(weight_view const& weights, edge_id num_edges, int num_threads, graph_stats& stats)
{
  float smallest = std::numeric_limits<float>::max(), largest = 0;
  double sum = 0;
#pragma omp parallel for schedule(static) num_threads(num_threads) \
    reduction(min : smallest) reduction(max : largest) reduction(+ : sum)
  for (edge_id e = 0; e < num_edges; ++e) {
    float const weight = weights[e];
    smallest = std::min(smallest, weight);
    largest = std::max(largest, weight);
    sum += weight;
  }
  stats.min_weight = smallest;
  stats.max_weight = largest;
  stats.sum_weights = sum;
}

}  // namespace

graph_stats measure(graph const& g, int num_threads)
{
  graph_view const view = g.view();
  graph_stats stats;
  if (view.num_vertices > 0) {
    measure_degrees(view, stats);
    view.visit([&](auto const& of_one_form) { measure_edges(of_one_form, num_threads, stats); });
  }
  edge_arrays const edges = view.edges();
  if (g.has_weights()) { measure_weights(edges.weights, edges.num_edges, num_threads, stats); }
  if (g.has_edge_labels()) { stats.edges_of_label = count_labels(edges.labels, edges.num_edges, num_threads); }
  if (g.has_node_types()) { stats.vertices_of_type = count_labels(view.node_types, view.num_vertices, num_threads); }
  return stats;
}

}  // namespace tendril::cli
