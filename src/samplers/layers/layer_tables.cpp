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

/// Runs work(first vertex, end) in parallel; the result is the largest of what it returns.
template <class Work>
float largest_of_ranges(std::int64_t num_vertices, cpu_exec const& exec, Work work)
{
  float largest = 0;
  std::mutex merge;
  base::parallel_ranges(exec, num_vertices, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
    float const own = work(begin, end);
    std::lock_guard const lock(merge);
    largest = std::max(largest, own);
  });
  return largest;
}

/// The exponent above all weights of a graph; 0 where none is positive.
template <class View>
int exponent_above_weights(View const& graph, cpu_exec const& exec)
{
  float const largest = largest_of_ranges(graph.num_vertices, exec, [&](std::int64_t begin, std::int64_t end) {
    float own = 0;
    for (std::int64_t v = begin; v < end; ++v) {
      auto const row = graph.row(v);
      own = std::max(own, core::largest_weight(row.degree(), [&](std::uint32_t i) { return row.weight(i); }));
    }
    return own;
  });
  return largest > 0 ? core::exponent_above(largest) : 0;
}

void add(std::uint64_t& to, std::uint64_t term)
{
  std::atomic_ref<std::uint64_t>(to).fetch_add(term, std::memory_order_relaxed);
}

/// For tables that outlive the call, and so don't come from its memory.
cpu_exec without_memory(cpu_exec const& exec)
{
  cpu_exec lasting = exec;
  lasting.memory = &host_memory();
  return lasting;
}

}  // namespace

buffer<float> make_column_norms(graph_view const& graph, propagation matrix, cpu_exec const& exec)
{
  std::int64_t const n = graph.num_vertices;
  buffer<core::square_sum> sums(n);
  std::fill(sums.begin(), sums.end(), core::square_sum{});
  bool const by_weight = matrix == propagation::weights && graph.num_edges > 0;
  buffer<float> out(n, *exec.memory);
  graph.visit([&](auto const& g) {
    int const exponent = by_weight ? exponent_above_weights(g, exec) : 0;
    base::parallel_ranges(exec, n, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t v = begin; v < end; ++v) {
        auto const row = g.row(v);
        for (std::uint32_t i = 0; i < row.degree(); ++i) {
          float const square = by_weight ? core::scaled_square(row.weight(i), exponent) : 0.0F;
          std::uint64_t const term = core::column_term(matrix, row.degree(), square);
          vertex_id const u = row.neighbor(i);
          add(sums[u].high, term >> 32U);
          add(sums[u].low, term & 0xffffffffU);
        }
      }
    });
    base::parallel_ranges(exec, n, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t u = begin; u < end; ++u) { out[u] = core::column_norm(matrix, sums[u], g.degree(u)); }
    });
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

square_table make_square_table(graph_view const& graph, propagation matrix, cpu_exec const& exec)
{
  buffer<float> squares(graph.num_edges);
  square_table out;
  out.row_norms = buffer<float>(graph.num_vertices, *exec.memory);
  graph.visit([&](auto const& g) {
    bool const by_weight = matrix == propagation::weights;
    int const exponent = by_weight ? exponent_above_weights(g, exec) : 0;
    base::parallel_ranges(exec, g.num_vertices, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t v = begin; v < end; ++v) {
        auto const row = g.row(v);
        float* const to = squares.data() + row.first_edge();
        for (std::uint32_t i = 0; i < row.degree(); ++i) {
          to[i] = by_weight ? core::scaled_square(row.weight(i), exponent)
                            : core::neighbor_square(g.degree(row.neighbor(i)));
        }
      }
    });
    out.prefix_sums = plan::make_prefix_sums(g.with_weights(squares.data()), exec);
    out.largest_norm = largest_of_ranges(g.num_vertices, exec, [&](std::int64_t begin, std::int64_t end) {
      float own = 0;
      for (std::int64_t v = begin; v < end; ++v) {
        edge_id const first = g.first_edge(v);
        std::uint32_t const degree = g.degree(v);
        float const bound = core::largest_weight(degree, [&](std::uint32_t i) { return squares[first + i]; });
        out.row_norms[v] = bound > 0 ? core::row_norm(matrix, degree, out.prefix_sums[first + degree - 1],
                                                      core::fixed_point::of(bound, degree))
                                     : 0.0F;
        own = std::max(own, out.row_norms[v]);
      }
      return own;
    });
  });
  return out;
}

std::shared_ptr<vertex_table const> columns_of(graph const& graph, propagation matrix, cpu_exec const& exec)
{
  return graph.derived().get(column_table(matrix), [&] {
    cpu_exec const lasting = without_memory(exec);
    auto const norms = make_column_norms(graph.view(), matrix, lasting);
    return make_vertex_table(graph.num_vertices(), norms.data(), lasting);
  });
}

std::shared_ptr<square_table const> entries_of(graph const& graph, propagation matrix, cpu_exec const& exec)
{
  return graph.derived().get(entry_table(matrix), [&] {
    cpu_exec const lasting = without_memory(exec);
    return make_square_table(graph.view(), matrix, lasting);
  });
}

}  // namespace tendril::samplers
