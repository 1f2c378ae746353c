#include "formats/stored_csr.hpp"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "base/parallel.hpp"  // parallel_ranges
#include "formats/elements.hpp"
#include "graph/check.hpp"  // expect_ascending_offsets

namespace tendril::formats {
namespace {

graph make_graph(std::string const& path, graph_arrays arrays)
{
  try {
    return graph(std::move(arrays));
  } catch (argument_error const& error) {
    throw format_error(fmt::format("{}: {}", path, error.what()));
  }
}

bool has_ascending_neighbors(graph_arrays const& arrays, cpu_exec const& exec)
{
  std::atomic<bool> ascending{true};
  base::parallel_ranges(exec, arrays.indptr.size() - 1, elements_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end && ascending.load(std::memory_order_relaxed); ++v) {
      vertex_id const* const neighbors = arrays.indices.data();
      if (!std::is_sorted(neighbors + arrays.indptr[v], neighbors + arrays.indptr[v + 1])) { ascending = false; }
    }
  });
  return ascending;
}

void expect_vertices_in_range(graph_arrays const& arrays, cpu_exec const& exec)
{
  std::int64_t const num_vertices = arrays.indptr.size() - 1;
  base::parallel_ranges(exec, arrays.indices.size(), elements_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (edge_id e = begin; e < end; ++e) {
      if (arrays.indices[e] >= num_vertices) {
        throw format_error(
            fmt::format("edge {}: neighbour {}, expected an id below {}", e, arrays.indices[e], num_vertices));
      }
    }
  });
}

/// The ids of edges whose order is `order`, positions in `ids`.
shared_array<edge_id> compose(shared_array<edge_id> const& ids, shared_array<edge_id> const& order,
                              cpu_exec const& exec)
{
  buffer<edge_id> composed(order.size(), *exec.memory);
  base::parallel_ranges(exec, order.size(), elements_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) { composed[i] = ids[order[i]]; }
  });
  return composed;
}

}  // namespace

graph from_stored_csr(std::string const& path, graph_arrays arrays, cpu_exec const& exec)
{
  graph stored = make_graph(path, std::move(arrays));
  try {
    validation::expect_ascending_offsets(stored, exec);
    if (has_ascending_neighbors(stored.arrays(), exec)) { return stored; }
    expect_vertices_in_range(stored.arrays(), exec);
    build_options options;
    options.keep_edge_ids = !stored.arrays().edge_ids.empty();
    graph sorted = build_graph(stored, options, exec);
    if (!options.keep_edge_ids) { return sorted; }
    graph_arrays parts = sorted.arrays();
    parts.edge_ids = compose(stored.arrays().edge_ids, parts.edge_ids, exec);
    return graph(std::move(parts));
  } catch (format_error const& error) {
    throw format_error(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace tendril::formats
