// Tables that are derived from a graph once and kept with it: what rules need beyond the graph.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <tendril/graph.hpp>

#include "core/alias.hpp"        // alias_bucket
#include "core/weight_sums.hpp"  // row_weight, weight_sum

namespace tendril::plan {

/// What the planner knows of a graph's weights.
struct weight_statistics {
  buffer<float> largest;       ///< [V] each vertex's largest weight, 0 where it has no edge.
  double expected_trials = 1;  ///< Mean of degree * largest / sum over the vertices that random edges lead from.
  double mean_degree = 0;      ///< Mean degree of the same vertices: what a walker meets. See core/weight_summary.hpp.
  double most_trials = 1;      ///< Degree * largest / sum of the vertex where it is largest. On a CPU alone.
  std::int64_t num_bytes = 0;
};

/// One vertex in 16 bytes: where its edges are, how many, and the bound of its weights.
struct alignas(16) vertex_record {
  edge_id first;
  std::uint32_t degree;
  float largest;
};

/// One edge in 8 bytes: one gather instead of two.
struct alignas(8) edge_record {
  vertex_id neighbor;
  float weight;
};

/// One bucket of an alias table in 16 bytes, with the vertices it chooses between.
struct alignas(16) alias_record {
  std::uint64_t threshold;
  vertex_id here;
  vertex_id there;
};

/// What stands in for alias tables and prefix sums: core/weight_sums.hpp.
struct weight_sums {
  buffer<core::row_weight> rows;  ///< [V]
  buffer<core::weight_sum> sums;  ///< [core::num_weight_sums(E)]; where no row has an entry, anything.

  /// Row `v`, whose edges begin at `first`. @param weight_of  Of them. The row has a positive weight.
  template <class WeightOf>
  [[nodiscard]] core::summed_row<WeightOf> row(std::int64_t v, edge_id first, WeightOf weight_of) const
  {
    return {rows[v], sums.data() + first / core::summed_edges, weight_of};
  }
};

/// The neighbourhoods cut by label: row v * num_labels + label of `rows` holds v's edges with that label, in
/// neighbour order. `rows` is a graph of V * num_labels rows whose indices are the original vertices.
struct label_groups {
  csr_arrays rows;
  std::int64_t num_labels = 0;
  buffer<edge_id> indptr;
  buffer<vertex_id> indices;
  buffer<float> weights;
};

enum class grouping { by_edge_label, by_target_type };

/// Which labels occur: element l tells whether any edge (any vertex) has label l; as long as the largest one needs.
[[nodiscard]] std::vector<char> labels_in_use(graph_view const& graph, grouping by, cpu_exec const& exec);

// Builders. Each reads the view once or twice, in parallel; the result doesn't depend on the number of threads.
[[nodiscard]] weight_statistics make_weight_statistics(graph_view const& graph, cpu_exec const& exec);
[[nodiscard]] buffer<vertex_record> make_vertex_records(graph_view const& graph, float const* largest,
                                                        cpu_exec const& exec);
[[nodiscard]] buffer<edge_record> make_edge_records(graph_view const& graph, cpu_exec const& exec);
[[nodiscard]] buffer<alias_record> make_alias_records(graph_view const& graph, cpu_exec const& exec);
[[nodiscard]] buffer<core::alias_bucket> make_alias_buckets(graph_view const& graph, cpu_exec const& exec);
[[nodiscard]] buffer<std::uint64_t> make_prefix_sums(graph_view const& graph, cpu_exec const& exec);
[[nodiscard]] weight_sums make_weight_sums(graph_view const& graph, cpu_exec const& exec);
[[nodiscard]] label_groups make_label_groups(graph_view const& graph, grouping by, std::int64_t num_labels,
                                             cpu_exec const& exec);

}  // namespace tendril::plan
