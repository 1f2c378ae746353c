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

/// Calls f(vertex, row) for every vertex.
template <class View, class F>
void for_each_row(View const& graph, cpu_exec const& exec, F f)
{
  base::parallel_ranges(exec, graph.num_vertices, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) { f(v, graph.row(v)); }
  });
}

/// The weights of one neighbourhood as integers; 0 only for 0.
template <class Row>
class fixed_weights {
 public:
  explicit fixed_weights(Row const& row)
      : row_(row), largest_(core::largest_weight(row.degree(), [&](std::uint32_t i) { return row.weight(i); }))
  {
    if (largest_ > 0) { scale_ = core::fixed_point::of(largest_, row.degree()); }
  }

  [[nodiscard]] float largest() const { return largest_; }
  [[nodiscard]] std::uint64_t operator()(std::uint32_t i) const { return scale_(row_.weight(i)); }
  [[nodiscard]] std::uint64_t total() const
  {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < row_.degree(); ++i) { sum += (*this)(i); }
    return sum;
  }

 private:
  Row row_;
  float largest_;
  core::fixed_point scale_{};
};

/// Calls f(row, item, bucket) for every bucket of every alias table; in neighbourhoods without a positive weight `other` is
/// no_pick.
template <class View, class F>
void for_each_alias_bucket(View const& graph, cpu_exec const& exec, F f)
{
  for_each_row(graph, exec, [&](std::int64_t, auto const& row) {
    if (row.empty()) { return; }
    fixed_weights const weights(row);
    if (!(weights.largest() > 0)) {
      for (std::uint32_t i = 0; i < row.degree(); ++i) { f(row, i, core::alias_bucket{0, core::no_pick}); }
      return;
    }
    core::alias_sweep(row.degree(), weights.total(), weights,
                      [&](std::uint32_t item, core::alias_bucket const& bucket) {
                        f(row, item, bucket);
                        return true;
                      });
  });
}

}  // namespace

std::vector<char> labels_in_use(graph_view const& graph, grouping by, cpu_exec const& exec)
{
  bool const of_edges = by == grouping::by_edge_label;
  bool const are_there = of_edges ? graph.has_edge_labels() : !graph.node_types.empty();
  std::vector<char> used(are_there ? std::size_t{1} << 16U : 0);
  std::mutex merge;
  base::parallel_ranges(exec, are_there ? graph.num_vertices : 0, std::int64_t{1} << 18U,
                        [&](std::int64_t begin, std::int64_t end) {
                          std::vector<char> seen(used.size());
                          graph.visit([&](auto const& g) {
                            for (std::int64_t v = begin; v < end; ++v) {
                              if (!of_edges) {
                                seen[g.node_types[v]] = 1;
                                continue;
                              }
                              auto const row = g.row(v);
                              for (std::uint32_t i = 0; i < row.degree(); ++i) { seen[row.label(i)] = 1; }
                            }
                          });
                          std::lock_guard const lock(merge);
                          for (std::size_t l = 0; l < used.size(); ++l) { used[l] |= seen[l]; }
                        });
  while (!used.empty() && used.back() == 0) { used.pop_back(); }
  return used;
}

weight_statistics make_weight_statistics(graph_view const& graph, cpu_exec const& exec)
{
  weight_statistics out{buffer<float>(graph.num_vertices, *exec.memory)};
  out.num_bytes = 4 * graph.num_vertices;
  core::weight_summary all;
  std::mutex merge;
  graph.visit([&](auto const& g) {
    base::parallel_ranges(exec, g.num_vertices, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
      core::weight_summary sum;
      for (std::int64_t v = begin; v < end; ++v) {
        auto const row = g.row(v);
        fixed_weights const weights(row);
        float const largest = out.largest[v] = weights.largest();
        if (largest > 0) { sum += core::weight_summary::of_row(row.degree(), largest, weights.total()); }
      }
      std::lock_guard const lock(merge);
      all += sum;
    });
  });
  out.expected_trials = all.expected_trials();
  out.mean_degree = all.mean_degree();
  return out;
}

buffer<vertex_record> make_vertex_records(graph_view const& graph, float const* largest, cpu_exec const& exec)
{
  buffer<vertex_record> out(graph.num_vertices, *exec.memory);
  graph.visit([&](auto const& g) {
    for_each_row(g, exec, [&](std::int64_t v, auto const& row) {
      out[v] = {row.first_edge(), row.degree(), largest[v]};
    });
  });
  return out;
}

buffer<edge_record> make_edge_records(graph_view const& graph, cpu_exec const& exec)
{
  buffer<edge_record> out(graph.num_edges, *exec.memory);
  graph.visit([&](auto const& g) {
    for_each_row(g, exec, [&](std::int64_t, auto const& row) {
      edge_record* const to = out.data() + row.first_edge();
      for (std::uint32_t i = 0; i < row.degree(); ++i) { to[i] = {row.neighbor(i), row.weight(i)}; }
    });
  });
  return out;
}

buffer<alias_record> make_alias_records(graph_view const& graph, cpu_exec const& exec)
{
  buffer<alias_record> out(graph.num_edges, *exec.memory);
  graph.visit([&](auto const& g) {
    for_each_alias_bucket(g, exec, [&](auto const& row, std::uint32_t item, core::alias_bucket const& bucket) {
      bool const is_full = bucket.other != core::no_pick;
      out[row.edge(item)] = {bucket.threshold, is_full ? row.neighbor(item) : no_vertex,
                             is_full ? row.neighbor(bucket.other) : no_vertex};
    });
  });
  return out;
}

buffer<core::alias_bucket> make_alias_buckets(graph_view const& graph, cpu_exec const& exec)
{
  buffer<core::alias_bucket> out(graph.num_edges, *exec.memory);
  graph.visit([&](auto const& g) {
    for_each_alias_bucket(g, exec, [&](auto const& row, std::uint32_t item, core::alias_bucket const& bucket) {
      out[row.edge(item)] = bucket;
    });
  });
  return out;
}

buffer<std::uint64_t> make_prefix_sums(graph_view const& graph, cpu_exec const& exec)
{
  buffer<std::uint64_t> out(graph.num_edges, *exec.memory);
  graph.visit([&](auto const& g) {
    for_each_row(g, exec, [&](std::int64_t, auto const& row) {
      fixed_weights const weights(row);
      std::uint64_t* const to = out.data() + row.first_edge();
      std::uint64_t sum = 0;
      for (std::uint32_t i = 0; i < row.degree(); ++i) { to[i] = sum += weights(i); }
    });
  });
  return out;
}

weight_sums make_weight_sums(graph_view const& graph, cpu_exec const& exec)
{
  weight_sums out{buffer<core::row_weight>(graph.num_vertices, *exec.memory),
                  buffer<core::weight_sum>(core::num_weight_sums(graph.num_edges), *exec.memory)};
  graph.visit([&](auto const& g) {
    for_each_row(g, exec, [&](std::int64_t v, auto const& row) {
      fixed_weights const weights(row);
      bool const any = weights.largest() > 0;
      out.rows[v] = {any ? weights.total() : 0, weights.largest(), row.degree()};
      if (!any) { return; }
      core::weight_sum* const sums = out.sums.data() + row.first_edge() / core::summed_edges;
      core::summed_row const summed(out.rows[v], sums, [&](std::uint32_t i) { return row.weight(i); });
      core::weight_sum sum{};
      for (std::uint32_t c = 1; c <= (row.degree() - 1) / core::summed_edges; ++c) {
        sums[c] = sum += summed.sum_of(c - 1);
      }
    });
  });
  return out;
}

label_groups make_label_groups(graph_view const& graph, grouping by, std::int64_t num_labels, cpu_exec const& exec)
{
  std::int64_t const labels = num_labels;
  std::int64_t const num_rows = checked_product("rows of vertices by label", graph.num_vertices, labels);
  bool const has_weights = graph.has_weights();
  label_groups out;
  out.num_labels = num_labels;
  out.indptr = buffer<edge_id>(num_rows + 1, *exec.memory);
  out.indices = buffer<vertex_id>(graph.num_edges, *exec.memory);
  if (has_weights) { out.weights = buffer<float>(graph.num_edges, *exec.memory); }
  out.indptr[num_rows] = graph.num_edges;
  // A vertex's groups fill the same range of edge positions as its neighbourhood, so vertices are independent.
  graph.visit([&](auto const& g) {
    base::parallel_ranges(exec, g.num_vertices, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
      std::vector<edge_id> next(static_cast<std::size_t>(labels));
      for (std::int64_t v = begin; v < end; ++v) {
        auto const row = g.row(v);
        auto const label_of = [&](std::uint32_t i) -> label_id {
          return by == grouping::by_edge_label ? row.label(i) : g.node_types[row.neighbor(i)];
        };
        std::fill(next.begin(), next.end(), edge_id{0});
        for (std::uint32_t i = 0; i < row.degree(); ++i) { ++next[label_of(i)]; }
        edge_id position = row.first_edge();
        for (std::int64_t l = 0; l < labels; ++l) {
          edge_id const count = next[static_cast<std::size_t>(l)];
          out.indptr[v * labels + l] = position;
          next[static_cast<std::size_t>(l)] = position;
          position += count;
        }
        for (std::uint32_t i = 0; i < row.degree(); ++i) {
          edge_id const to = next[label_of(i)]++;
          out.indices[to] = row.neighbor(i);
          if (has_weights) { out.weights[to] = row.weight(i); }
        }
      }
    });
  });
  out.rows = {num_rows, graph.num_edges, out.indptr.data(), out.indices.data(), out.weights.data(), {}, {}};
  return out;
}

}  // namespace tendril::plan
