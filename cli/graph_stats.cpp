#include "graph_stats.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>  // ssize
#include <limits>
#include <mutex>

#include <tendril/buffer.hpp>
#include <tendril/ranges.hpp>

namespace tendril::cli {
namespace {

constexpr std::int64_t rows_at_once = 256;
constexpr std::int64_t piece = std::int64_t{1} << 22U;  // elements between two reports of progress
constexpr std::int64_t small_degrees = std::int64_t{1} << 16U;
/// Elements that are worth counts of their own, which take half a megabyte and are added up in the end.
constexpr std::int64_t counted_at_once = std::int64_t{1} << 20U;

/// Calls f(begin, end) for one piece of [0, size) after the other, and reports progress between them.
template <class F>
void in_pieces(std::int64_t size, cpu_exec const& exec, F f)
{
  for (std::int64_t begin = 0; begin < size; begin += piece) {
    if (exec.on_progress) { exec.on_progress({"measuring", begin, size}); }
    f(begin, std::min(begin + piece, size));
  }
}

std::vector<std::int64_t> count_labels(label_view labels, std::int64_t size, cpu_exec const& exec)
{
  std::vector<std::int64_t> counts(std::size_t{1} << (8 * labels.bytes_per_label));
  std::mutex guard;
  for_each_range(exec, size, counted_at_once, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> mine(counts.size());
    for (std::int64_t i = begin; i < end; ++i) { ++mine[labels[i]]; }
    std::lock_guard const lock(guard);
    for (std::size_t i = 0; i < mine.size(); ++i) { counts[i] += mine[i]; }
  });
  while (!counts.empty() && counts.back() == 0) { counts.pop_back(); }
  return counts;
}

/// How often each degree occurs: small ones by number, those of hubs one by one.
struct degree_counts {
  std::vector<std::int64_t> of_small = std::vector<std::int64_t>(small_degrees);
  std::vector<std::int64_t> large;

  void add(std::int64_t degree)
  {
    if (degree < small_degrees) {
      ++of_small[static_cast<std::size_t>(degree)];
    } else {
      large.push_back(degree);
    }
  }
  void add(degree_counts const& other)
  {
    for (std::size_t d = 0; d < of_small.size(); ++d) { of_small[d] += other.of_small[d]; }
    large.insert(large.end(), other.large.begin(), other.large.end());
  }
};

template <class View>
degree_counts count_degrees(View const& g, cpu_exec const& exec)
{
  degree_counts all;
  std::mutex guard;
  for_each_range(exec, g.num_vertices, counted_at_once, [&](std::int64_t begin, std::int64_t end) {
    degree_counts mine;
    for (std::int64_t v = begin; v < end; ++v) { mine.add(g.degree(v)); }
    std::lock_guard const lock(guard);
    all.add(mine);
  });
  std::sort(all.large.begin(), all.large.end());
  return all;
}

template <class View>
void measure_degrees(View const& g, cpu_exec const& exec, graph_stats& stats)
{
  degree_counts const counts = count_degrees(g, exec);
  stats.dead_ends = counts.of_small[0];
  stats.mean_degree = static_cast<double>(g.num_edges) / static_cast<double>(g.num_vertices);
  std::int64_t const num_small = g.num_vertices - std::ssize(counts.large);
  std::int64_t seen = 0, degree = -1;  // of the first `seen` vertices in the order of degrees, this is the last one's
  auto const degree_of_rank = [&](std::int64_t rank) {  // ranks that ascend
    if (rank >= num_small) { return counts.large[static_cast<std::size_t>(rank - num_small)]; }
    while (seen <= rank) { seen += counts.of_small[static_cast<std::size_t>(++degree)]; }
    return degree;
  };
  stats.min_degree = degree_of_rank(0);
  for (std::size_t i = 0; i < graph_stats::percents.size(); ++i) {
    stats.degree_percentiles[i] = degree_of_rank((g.num_vertices - 1) * graph_stats::percents[i] / 100);
  }
  stats.max_degree = degree_of_rank(g.num_vertices - 1);
}

template <class View>
void measure_edges(View const& g, cpu_exec const& exec, graph_stats& stats)
{
  buffer<std::uint8_t> touched(g.num_vertices);
  std::fill(touched.begin(), touched.end(), std::uint8_t{0});
  std::atomic<std::int64_t> self_loops{0}, parallel_edges{0};
  in_pieces(g.num_vertices, exec, [&](std::int64_t first, std::int64_t last) {
    for_each_range(exec, last - first, rows_at_once, [&, first](std::int64_t begin, std::int64_t end) {
      std::int64_t loops = 0, repeated = 0;
      for (std::int64_t v = first + begin; v < first + end; ++v) {
        auto const row = g.row(v);
        if (!row.empty()) { __atomic_store_n(&touched[v], std::uint8_t{1}, __ATOMIC_RELAXED); }
        vertex_id previous = no_vertex;
        for (vertex_id const target : row) {
          __atomic_store_n(&touched[target], std::uint8_t{1}, __ATOMIC_RELAXED);  // threads only ever store 1
          loops += target == v ? 1 : 0;
          repeated += target == previous ? 1 : 0;
          previous = target;
        }
      }
      self_loops.fetch_add(loops, std::memory_order_relaxed);
      parallel_edges.fetch_add(repeated, std::memory_order_relaxed);
    });
  });
  stats.self_loops = self_loops;
  stats.parallel_edges = parallel_edges;
  stats.isolated = std::count(touched.begin(), touched.end(), std::uint8_t{0});
}

struct weight_stats {
  float smallest = std::numeric_limits<float>::max(), largest = 0;
  double sum = 0;
};

void measure_weights(weight_view const& weights, edge_id num_edges, cpu_exec const& exec, graph_stats& stats)
{
  // Added up in the order of the edges, so that the sum's last bits don't depend on the threads.
  std::vector<weight_stats> parts(static_cast<std::size_t>((num_edges + counted_at_once - 1) / counted_at_once));
  in_pieces(num_edges, exec, [&](edge_id first, edge_id last) {
    for_each_range(exec, last - first, counted_at_once, [&, first](edge_id begin, edge_id end) {
      weight_stats mine;
      for (edge_id e = first + begin; e < first + end; ++e) {
        float const weight = weights[e];
        mine.smallest = std::min(mine.smallest, weight);
        mine.largest = std::max(mine.largest, weight);
        mine.sum += weight;
      }
      parts[static_cast<std::size_t>((first + begin) / counted_at_once)] = mine;
    });
  });
  weight_stats all;
  for (weight_stats const& part : parts) {
    all.smallest = std::min(all.smallest, part.smallest);
    all.largest = std::max(all.largest, part.largest);
    all.sum += part.sum;
  }
  stats.min_weight = all.smallest;
  stats.max_weight = all.largest;
  stats.sum_weights = all.sum;
}

}  // namespace

graph_stats measure(graph const& g, cpu_exec const& exec)
{
  graph_view const view = g.view();
  graph_stats stats;
  if (view.num_vertices > 0) {
    view.visit([&](auto const& of_one_form) {
      measure_degrees(of_one_form, exec, stats);
      measure_edges(of_one_form, exec, stats);
    });
  }
  edge_arrays const edges = view.edges();
  if (g.has_weights()) { measure_weights(edges.weights, edges.num_edges, exec, stats); }
  if (g.has_edge_labels()) { stats.edges_of_label = count_labels(edges.labels, edges.num_edges, exec); }
  if (g.has_node_types()) { stats.vertices_of_type = count_labels(view.node_types, view.num_vertices, exec); }
  return stats;
}

}  // namespace tendril::cli
