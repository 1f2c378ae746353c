#include "plan/tables.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <span>

#include <tendril/checked.hpp>

#include "base/parallel.hpp"  // parallel_ranges
#include "base/vertex_work.hpp"
#include "core/weight_summary.hpp"
#include "plan/alias_row.hpp"
#include "plan/fixed_row.hpp"

namespace tendril::plan {
namespace {

constexpr char const* stage = "tables";

/// Calls f(begin, end) for ranges of vertices of about equal work, and reports progress.
template <class View, class F>
void for_each_range(View const& graph, cpu_exec const& exec, F f)
{
  base::vertex_work const work(graph.num_vertices, [&](std::int64_t v) { return graph.first_edge(v); });
  work.for_each_range(stage, exec, f);
}

/// Calls f(vertex, row) for every vertex.
template <class View, class F>
void for_each_row(View const& graph, cpu_exec const& exec, F f)
{
  for_each_range(graph, exec, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) { f(v, graph.row(v)); }
  });
}

/// Calls f(vertex, row, weights) for every vertex, with its weights as a fixed_row.
template <class View, class F>
void for_each_fixed_row(View const& graph, cpu_exec const& exec, F f)
{
  for_each_range(graph, exec, [&](std::int64_t begin, std::int64_t end) {
    fixed_row weights;
    for (std::int64_t v = begin; v < end; ++v) {
      auto const row = graph.row(v);
      weights.load(row);
      f(v, row, weights);
    }
  });
}

/// Calls f(row, buckets) for every row with edges; where no weight is positive, each bucket's `other` is no_pick.
template <class View, class F>
void for_each_alias_row(View const& graph, cpu_exec const& exec, F f)
{
  for_each_range(graph, exec, [&](std::int64_t begin, std::int64_t end) {
    fixed_row weights;
    alias_row table;
    std::vector<core::alias_bucket> none;
    for (std::int64_t v = begin; v < end; ++v) {
      auto const row = graph.row(v);
      if (row.empty()) { continue; }
      weights.load(row);
      if (weights.has_weight()) {
        f(row, table.build(weights.values(), weights.total()));
      } else {
        none.assign(row.degree(), {0, core::no_pick});
        f(row, std::span<core::alias_bucket const>(none));
      }
    }
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
  double most_trials = 1;
  std::mutex merge;
  graph.visit([&](auto const& g) {
    for_each_range(g, exec, [&](std::int64_t begin, std::int64_t end) {
      core::weight_summary sum;
      fixed_row weights;
      double most = 1;
      for (std::int64_t v = begin; v < end; ++v) {
        weights.load(g.row(v));
        out.largest[v] = weights.largest();
        if (!weights.has_weight()) { continue; }
        auto const summary = core::weight_summary::of_row(g.degree(v), weights.largest(), weights.total());
        sum += summary;
        most = std::max(most, summary.expected_trials());
      }
      std::lock_guard const lock(merge);
      all += sum;
      most_trials = std::max(most_trials, most);
    });
  });
  out.expected_trials = all.expected_trials();
  out.mean_degree = all.mean_degree();
  out.most_trials = most_trials;
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
    for_each_alias_row(g, exec, [&](auto const& row, std::span<core::alias_bucket const> buckets) {
      alias_record* const to = out.data() + row.first_edge();
      thread_local std::vector<vertex_id> targets;
      if (targets.size() < buckets.size()) { targets.resize(buckets.size()); }
      vertex_id* const target = targets.data();
      row.copy_to(target);
      for (std::size_t i = 0; i < buckets.size(); ++i) {
        bool const is_full = buckets[i].other != core::no_pick;
        to[i] = {buckets[i].threshold, is_full ? target[i] : no_vertex, is_full ? target[buckets[i].other] : no_vertex};
      }
    });
  });
  return out;
}

buffer<core::alias_bucket> make_alias_buckets(graph_view const& graph, cpu_exec const& exec)
{
  buffer<core::alias_bucket> out(graph.num_edges, *exec.memory);
  graph.visit([&](auto const& g) {
    for_each_alias_row(g, exec, [&](auto const& row, std::span<core::alias_bucket const> buckets) {
      std::copy(buckets.begin(), buckets.end(), out.data() + row.first_edge());
    });
  });
  return out;
}

buffer<std::uint64_t> make_prefix_sums(graph_view const& graph, cpu_exec const& exec)
{
  buffer<std::uint64_t> out(graph.num_edges, *exec.memory);
  graph.visit([&](auto const& g) {
    for_each_fixed_row(g, exec, [&](std::int64_t, auto const& row, fixed_row const& weights) {
      std::uint64_t* const to = out.data() + row.first_edge();
      if (weights.has_weight()) {
        std::partial_sum(weights.values().begin(), weights.values().end(), to);
      } else {
        std::fill_n(to, row.degree(), std::uint64_t{0});
      }
    });
  });
  return out;
}

weight_sums make_weight_sums(graph_view const& graph, cpu_exec const& exec)
{
  weight_sums out{buffer<core::row_weight>(graph.num_vertices, *exec.memory),
                  buffer<core::weight_sum>(core::num_weight_sums(graph.num_edges), *exec.memory)};
  graph.visit([&](auto const& g) {
    for_each_fixed_row(g, exec, [&](std::int64_t v, auto const& row, fixed_row const& weights) {
      out.rows[v] = {weights.total(), weights.largest(), row.degree()};
      if (!weights.has_weight()) { return; }
      core::weight_sum* const sums = out.sums.data() + row.first_edge() / core::summed_edges;
      core::summed_row const summed(out.rows[v], sums, [&](std::uint32_t i) { return row.weight(i); });
      core::fill_sums(summed, sums);
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
    for_each_range(g, exec, [&](std::int64_t begin, std::int64_t end) {
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
