#include "samplers/layers/layer_tables.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>

#include "base/parallel.hpp"  // parallel_ranges
#include "core/layers.hpp"

namespace tendril::samplers {
namespace {

constexpr std::int64_t vertices_a_range = 4096;
constexpr std::int64_t edges_a_range = std::int64_t{1} << 16U;

/// The largest of all weights of a graph.
float largest_of(csr_arrays const& graph, cpu_exec const& exec)
{
  float largest = 0;
  std::mutex merge;
  base::parallel_ranges(exec, graph.num_edges, edges_a_range, [&](std::int64_t begin, std::int64_t end) {
    float const own = *std::max_element(graph.weights + begin, graph.weights + end);
    std::lock_guard const lock(merge);
    largest = std::max(largest, own);
  });
  return largest;
}

void add(std::uint64_t& to, std::uint64_t term)
{
  std::atomic_ref<std::uint64_t>(to).fetch_add(term, std::memory_order_relaxed);
}

}  // namespace

buffer<float> make_column_norms(csr_arrays const& graph, propagation matrix, cpu_exec const& exec)
{
  std::int64_t const n = graph.num_vertices;
  buffer<core::square_sum> sums(n);
  std::fill(sums.begin(), sums.end(), core::square_sum{});
  bool const by_weight = matrix == propagation::weights && graph.num_edges > 0;
  float const largest = by_weight ? largest_of(graph, exec) : 0.0F;
  int const exponent = largest > 0 ? core::exponent_above(largest) : 0;
  base::parallel_ranges(exec, n, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      auto const degree = static_cast<std::uint32_t>(graph.indptr[v + 1] - graph.indptr[v]);
      for (edge_id e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e) {
        std::uint64_t const term =
            core::column_term(matrix, degree, by_weight ? core::scaled_square(graph.weights[e], exponent) : 0.0F);
        add(sums[graph.indices[e]].high, term >> 32U);
        add(sums[graph.indices[e]].low, term & 0xffffffffU);
      }
    }
  });
  buffer<float> out(n, *exec.memory);
  base::parallel_ranges(exec, n, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t u = begin; u < end; ++u) {
      auto const degree = static_cast<std::uint32_t>(graph.indptr[u + 1] - graph.indptr[u]);
      out[u] = core::column_norm(matrix, sums[u], degree);
    }
  });
  return out;
}

vertex_table make_vertex_table(std::int64_t num_vertices, float const* weights, cpu_exec const& exec)
{
  // One row that leads to every vertex.
  buffer<vertex_id> targets(num_vertices);
  std::iota(targets.begin(), targets.end(), vertex_id{0});
  edge_id const indptr[2] = {0, num_vertices};
  csr_arrays const row{1, num_vertices, indptr, targets.data(), weights, {}, {}};
  vertex_table out{plan::make_alias_records(row, exec), buffer<float>(num_vertices, *exec.memory)};
  auto const size = static_cast<std::uint32_t>(num_vertices);
  float const largest = core::largest_weight(size, [&](std::uint32_t i) { return weights[i]; });
  if (!(largest > 0)) {
    std::fill(out.probabilities.begin(), out.probabilities.end(), 0.0F);
    return out;
  }
  auto const scale = core::fixed_point::of(largest, size);
  std::uint64_t total = 0;
  for (std::int64_t v = 0; v < num_vertices; ++v) { total += scale(weights[v]); }
  for (std::int64_t v = 0; v < num_vertices; ++v) {
    out.probabilities[v] = core::vertex_probability(scale(weights[v]), total);
  }
  return out;
}

square_table make_square_table(csr_arrays const& graph, propagation matrix, cpu_exec const& exec)
{
  buffer<float> squares(graph.num_edges);
  float const largest = matrix == propagation::weights ? largest_of(graph, exec) : 0.0F;
  int const exponent = largest > 0 ? core::exponent_above(largest) : 0;
  base::parallel_ranges(exec, graph.num_edges, edges_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (edge_id e = begin; e < end; ++e) {
      squares[e] = matrix == propagation::weights ? core::scaled_square(graph.weights[e], exponent)
                                                  : core::neighbor_square(graph.degree(graph.indices[e]));
    }
  });
  csr_arrays squared = graph;
  squared.weights = squares.data();
  square_table out{plan::make_prefix_sums(squared, exec), buffer<float>(graph.num_vertices, *exec.memory), 0};
  std::mutex merge;
  base::parallel_ranges(exec, graph.num_vertices, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
    float own = 0;
    for (std::int64_t v = begin; v < end; ++v) {
      edge_id const first = graph.indptr[v];
      auto const degree = static_cast<std::uint32_t>(graph.indptr[v + 1] - first);
      float const bound = core::largest_weight(degree, [&](std::uint32_t i) { return squares[first + i]; });
      out.row_norms[v] = bound > 0 ? core::row_norm(matrix, degree, out.prefix_sums[first + degree - 1],
                                                    core::fixed_point::of(bound, degree))
                                   : 0.0F;
      own = std::max(own, out.row_norms[v]);
    }
    std::lock_guard const lock(merge);
    out.largest_norm = std::max(out.largest_norm, own);
  });
  return out;
}

}  // namespace tendril::samplers
