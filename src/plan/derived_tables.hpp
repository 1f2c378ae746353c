// The tables that planners choose from: what each is called, how large it is, and under which descriptor a graph keeps
// it. A table may be of the graph's own rows, or of its rows cut by label (label_groups).

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/derived_cache.hpp"
#include "plan/tables.hpp"

namespace tendril::plan {

/// How rows are cut; nothing: not at all.
using row_cut = std::optional<grouping>;

/// The descriptor of a table with entries for rows or their edges.
template <class T>
struct row_table {
  using value = T;
  constexpr explicit row_table(row_cut by = {}) : cut(by) {}
  [[nodiscard]] constexpr std::uint64_t key() const { return cut ? 1 + static_cast<std::uint64_t>(*cut) : 0; }
  row_cut cut;
};

struct statistics_table : row_table<weight_statistics> {
  using row_table::row_table;
};

struct vertex_records_table : row_table<buffer<vertex_record>> {
  using row_table::row_table;
  [[nodiscard]] static constexpr std::int64_t bytes(std::int64_t num_rows) { return 16 * num_rows; }
};

struct edge_records_table : row_table<buffer<edge_record>> {
  using row_table::row_table;
  static constexpr char const* name = "edge records";
  [[nodiscard]] static constexpr std::int64_t bytes(edge_id num_edges) { return 8 * num_edges; }
};

/// With the vertices that buckets choose between.
struct alias_records_table : row_table<buffer<alias_record>> {
  using row_table::row_table;
  static constexpr char const* name = "alias table";
  [[nodiscard]] static constexpr std::int64_t bytes(edge_id num_edges) { return 16 * num_edges; }
};

/// With positions in rows instead.
struct alias_buckets_table : row_table<buffer<core::alias_bucket>> {
  using row_table::row_table;
  static constexpr char const* name = "alias table";
  [[nodiscard]] static constexpr std::int64_t bytes(edge_id num_edges) { return 16 * num_edges; }
};

struct prefix_sums_table : row_table<buffer<std::uint64_t>> {
  using row_table::row_table;
  static constexpr char const* name = "prefix sums";
  [[nodiscard]] static constexpr std::int64_t bytes(edge_id num_edges) { return 8 * num_edges; }
};

/// Instead of any of the last three, where memory is short.
struct weight_sums_table : row_table<weight_sums> {
  using row_table::row_table;
  static constexpr char const* name = "sums of weights";
  [[nodiscard]] static constexpr std::int64_t bytes(std::int64_t num_rows, edge_id num_edges)
  {
    return 16 * num_rows + 24 * core::num_weight_sums(num_edges);
  }
};

/// The rows that are cut.
struct label_groups_table : keyed_table<label_groups, grouping> {
  using keyed_table::keyed_table;
  static constexpr char const* name = "neighbours grouped by label";
  [[nodiscard]] static constexpr std::int64_t bytes(std::int64_t num_rows, edge_id num_edges, bool weighted)
  {
    return 8 * (num_rows + 1) + (weighted ? 8 : 4) * num_edges;
  }
};

/// labels_in_use.
struct labels_in_use_table : keyed_table<std::vector<char>, grouping> {
  using keyed_table::keyed_table;
};

}  // namespace tendril::plan
