#include "plan/tables.hpp"

#include <algorithm>
#include <mutex>

#include <tendril/checked.hpp>

#include "base/parallel.hpp"  // parallel_ranges
#include "core/alias.hpp"
#include "core/fixed_point.hpp"
#include "core/weight_summary.hpp"

namespace tendril::plan {
namespace {

constexpr std::int64_t vertices_a_range = 4096;

/// Sum of the fixed-point weights of one neighbourhood.
std::uint64_t fixed_total(float const* weights, std::uint32_t degree, core::fixed_point scale)
{
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < degree; ++i) { total += scale(weights[i]); }
  return total;
}

/// Calls f(vertex, first edge, degree, largest weight) for every vertex that has an edge of positive weight, and
/// g(first edge, degree) for those that have edges of weight 0 only.
template <class F, class G>
void for_each_weighted(csr_arrays const& graph, cpu_exec const& exec, F f, G g)
{
  base::parallel_ranges(exec, graph.num_vertices, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      edge_id const first = graph.indptr[v];
      auto const degree = static_cast<std::uint32_t>(graph.indptr[v + 1] - first);
      if (degree == 0) { continue; }
      float const* const weights = graph.weights + first;
      float const largest = core::largest_weight(degree, [&](std::uint32_t i) { return weights[i]; });
      if (largest > 0) {
        f(first, degree, largest);
      } else {
        g(first, degree);
      }
    }
  });
}

}  // namespace

std::vector<char> labels_in_use(csr_arrays const& graph, grouping by, cpu_exec const& exec)
{
  label_view const labels = by == grouping::by_edge_label ? graph.edge_labels : graph.node_types;
  std::int64_t const size = by == grouping::by_edge_label ? graph.num_edges : graph.num_vertices;
  std::vector<char> used(labels.empty() ? 0 : std::size_t{1} << (8U * static_cast<unsigned>(labels.bytes_per_label)));
  std::mutex merge;
  base::parallel_ranges(exec, labels.empty() ? 0 : size, std::int64_t{1} << 22U,
                        [&](std::int64_t begin, std::int64_t end) {
                          std::vector<char> seen(used.size());
                          for (std::int64_t i = begin; i < end; ++i) { seen[labels[i]] = 1; }
                          std::lock_guard const lock(merge);
                          for (std::size_t l = 0; l < used.size(); ++l) { used[l] |= seen[l]; }
                        });
  while (!used.empty() && used.back() == 0) { used.pop_back(); }
  return used;
}

weight_statistics make_weight_statistics(csr_arrays const& graph, cpu_exec const& exec)
{
  weight_statistics out{buffer<float>(graph.num_vertices, *exec.memory)};
  out.num_bytes = 4 * graph.num_vertices;
  core::weight_summary all;
  std::mutex merge;
  base::parallel_ranges(exec, graph.num_vertices, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
    core::weight_summary sum;
    for (std::int64_t v = begin; v < end; ++v) {
      edge_id const first = graph.indptr[v];
      auto const degree = static_cast<std::uint32_t>(graph.indptr[v + 1] - first);
      float const* const weights = graph.weights + first;
      float const largest = core::largest_weight(degree, [&](std::uint32_t i) { return weights[i]; });
      out.largest[v] = largest;
      if (!(largest > 0)) { continue; }
      auto const scale = core::fixed_point::of(largest, degree);
      sum += core::weight_summary::of_row(degree, largest, fixed_total(weights, degree, scale));
    }
    std::lock_guard const lock(merge);
    all += sum;
  });
  out.expected_trials = all.expected_trials();
  out.mean_degree = all.mean_degree();
  return out;
}

buffer<vertex_record> make_vertex_records(csr_arrays const& graph, float const* largest, cpu_exec const& exec)
{
  buffer<vertex_record> out(graph.num_vertices, *exec.memory);
  base::parallel_ranges(exec, graph.num_vertices, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      edge_id const first = graph.indptr[v];
      out[v] = {first, static_cast<std::uint32_t>(graph.indptr[v + 1] - first), largest[v]};
    }
  });
  return out;
}

buffer<edge_record> make_edge_records(csr_arrays const& graph, cpu_exec const& exec)
{
  buffer<edge_record> out(graph.num_edges, *exec.memory);
  base::parallel_ranges(exec, graph.num_edges, std::int64_t{1} << 16U, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t e = begin; e < end; ++e) { out[e] = {graph.indices[e], graph.weights[e]}; }
  });
  return out;
}

namespace {

/// Calls f(edge, item, bucket, first edge) for every bucket of every alias table, and g(edge) for the edges of
/// neighbourhoods without a positive weight.
template <class F, class G>
void for_each_alias_bucket(csr_arrays const& graph, cpu_exec const& exec, F f, G g)
{
  for_each_weighted(
      graph, exec,
      [&](edge_id first, std::uint32_t degree, float largest) {
        float const* const weights = graph.weights + first;
        auto const scale = core::fixed_point::of(largest, degree);
        core::alias_sweep(
            degree, fixed_total(weights, degree, scale), [&](std::uint32_t i) { return scale(weights[i]); },
            [&](std::uint32_t item, core::alias_bucket const& bucket) {
              f(first, item, bucket);
              return true;
            });
      },
      [&](edge_id first, std::uint32_t degree) {
        for (std::uint32_t i = 0; i < degree; ++i) { g(first + i); }
      });
}

}  // namespace

buffer<alias_record> make_alias_records(csr_arrays const& graph, cpu_exec const& exec)
{
  buffer<alias_record> out(graph.num_edges, *exec.memory);
  for_each_alias_bucket(
      graph, exec,
      [&](edge_id first, std::uint32_t item, core::alias_bucket const& bucket) {
        out[first + item] = {bucket.threshold, graph.indices[first + item], graph.indices[first + bucket.other]};
      },
      [&](edge_id e) {
        out[e] = {0, no_vertex, no_vertex};
      });
  return out;
}

buffer<core::alias_bucket> make_alias_buckets(csr_arrays const& graph, cpu_exec const& exec)
{
  buffer<core::alias_bucket> out(graph.num_edges, *exec.memory);
  for_each_alias_bucket(
      graph, exec,
      [&](edge_id first, std::uint32_t item, core::alias_bucket const& bucket) { out[first + item] = bucket; },
      [&](edge_id e) {
        out[e] = {0, core::no_pick};
      });
  return out;
}

buffer<std::uint64_t> make_prefix_sums(csr_arrays const& graph, cpu_exec const& exec)
{
  buffer<std::uint64_t> out(graph.num_edges, *exec.memory);
  for_each_weighted(
      graph, exec,
      [&](edge_id first, std::uint32_t degree, float largest) {
        auto const scale = core::fixed_point::of(largest, degree);
        std::uint64_t sum = 0;
        for (std::uint32_t i = 0; i < degree; ++i) {
          sum += scale(graph.weights[first + i]);
          out[first + i] = sum;
        }
      },
      [&](edge_id first, std::uint32_t degree) { std::fill_n(out.data() + first, degree, std::uint64_t{0}); });
  return out;
}

label_groups make_label_groups(csr_arrays const& graph, grouping by, std::int64_t num_labels, cpu_exec const& exec)
{
  std::int64_t const labels = num_labels;
  std::int64_t const num_rows = checked_product("rows of vertices by label", graph.num_vertices, labels);
  auto const label_of = [&](edge_id e) -> label_id {
    return by == grouping::by_edge_label ? graph.edge_labels[e] : graph.node_types[graph.indices[e]];
  };
  label_groups out;
  out.num_labels = num_labels;
  out.indptr = buffer<edge_id>(num_rows + 1, *exec.memory);
  out.indices = buffer<vertex_id>(graph.num_edges, *exec.memory);
  if (graph.weights != nullptr) { out.weights = buffer<float>(graph.num_edges, *exec.memory); }
  out.indptr[num_rows] = graph.num_edges;
  // A vertex's groups fill the same range of edge positions as its neighbourhood, so vertices are independent.
  base::parallel_ranges(exec, graph.num_vertices, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
    std::vector<edge_id> next(static_cast<std::size_t>(labels));
    for (std::int64_t v = begin; v < end; ++v) {
      edge_id const first = graph.indptr[v];
      edge_id const last = graph.indptr[v + 1];
      std::fill(next.begin(), next.end(), edge_id{0});
      for (edge_id e = first; e < last; ++e) { ++next[label_of(e)]; }
      edge_id position = first;
      for (std::int64_t l = 0; l < labels; ++l) {
        edge_id const count = next[static_cast<std::size_t>(l)];
        out.indptr[v * labels + l] = position;
        next[static_cast<std::size_t>(l)] = position;
        position += count;
      }
      for (edge_id e = first; e < last; ++e) {
        edge_id const to = next[label_of(e)]++;
        out.indices[to] = graph.indices[e];
        if (graph.weights != nullptr) { out.weights[to] = graph.weights[e]; }
      }
    }
  });
  out.rows = {num_rows, graph.num_edges, out.indptr.data(), out.indices.data(), out.weights.data(), {}, {}};
  return out;
}

}  // namespace tendril::plan
