// Applies an order to a graph: each new row is an old one with other targets, sorted by them.

#include <tendril/renumber.hpp>

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "base/expects.hpp"      // TENDRIL_EXPECTS
#include "base/parallel.hpp"     // parallel_ranges
#include "base/vertex_work.hpp"  // vertex_work
#include "build/gather.hpp"      // gather, gather_labels
#include "build/offsets.hpp"     // sum_up
#include "build/orders.hpp"      // degree_order, …
#include "build/sort.hpp"        // bucket_sorter
#include "graph/check.hpp"       // edge_ids_of
#include "graph/places.hpp"      // expect_in_host_memory, expect_vertices

namespace tendril {
namespace build {
namespace {

constexpr std::int64_t vertices_a_range = std::int64_t{1} << 16U;

[[noreturn]] void refuse_repeated(std::span<vertex_id const> order, cpu_exec const& exec)
{
  buffer<std::int64_t> places(std::ssize(order), *exec.memory);
  std::fill(places.begin(), places.end(), -1);
  for (std::int64_t i = 0; i < std::ssize(order); ++i) {
    vertex_id const v = order[static_cast<std::size_t>(i)];
    if (places[v] >= 0) {
      throw argument_error(
          fmt::format("order: vertex {} at positions {} and {}, expected each vertex once", v, places[v], i));
    }
    places[v] = i;
  }
  throw argument_error("order: it changed while it was read");
}

/// The new number of each vertex. @throws argument_error unless `order` holds each vertex once.
buffer<vertex_id> ranks_of(std::span<vertex_id const> order, std::int64_t num_vertices, cpu_exec const& exec)
{
  TENDRIL_EXPECTS(std::ssize(order) == num_vertices, "order: {} vertices, expected each of the graph's {} once",
                  order.size(), num_vertices);
  validation::expect_vertices("order", order, num_vertices);
  buffer<vertex_id> ranks(num_vertices, *exec.memory);
  std::fill(ranks.begin(), ranks.end(), no_vertex);
  std::atomic<bool> repeated{false};
  base::parallel_ranges(exec, num_vertices, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::atomic_ref rank(ranks[order[static_cast<std::size_t>(i)]]);
      if (rank.exchange(static_cast<vertex_id>(i), std::memory_order_relaxed) != no_vertex) { repeated = true; }
    }
  });
  if (repeated) { refuse_repeated(order, exec); }
  return ranks;
}

/// The edges of the result.
template <class View>
void write_rows(View const& g, graph const& input, std::span<vertex_id const> order, graph_arrays& arrays,
                cpu_exec const& exec)
{
  buffer<vertex_id> const ranks = ranks_of(order, g.num_vertices, exec);
  buffer<edge_id> indptr(g.num_vertices + 1, *exec.memory);
  indptr[0] = 0;
  base::parallel_ranges(exec, g.num_vertices, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) { indptr[i + 1] = g.degree(order[static_cast<std::size_t>(i)]); }
  });
  sum_up(indptr.span().subspan(1), exec);

  arc_column_buffers::kinds const kinds{g.has_weights(), input.bytes_per_edge_label(), input.has_edge_ids()};
  edge_id_view const ids = validation::edge_ids_of(input.arrays());
  buffer<vertex_id> indices(g.num_edges, *exec.memory);
  arc_column_buffers columns(kinds, g.num_edges, *exec.memory);
  auto const to = columns.view();
  bucket const all_ranks{0, static_cast<std::uint64_t>(std::max<std::int64_t>(g.num_vertices - 1, 0)), 0};
  base::vertex_work const work(g.num_vertices, [&](std::int64_t i) { return indptr[i]; });
  work.for_each_range("renumbering", exec, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t largest = 0;
    for (std::int64_t i = begin; i < end; ++i) { largest = std::max(largest, indptr[i + 1] - indptr[i]); }
    buffer<std::uint64_t> keys(largest, *exec.memory);
    bucket_sorter sorter(kinds, largest, false, *exec.memory);
    for (std::int64_t i = begin; i < end; ++i) {
      auto const row = g.row(order[static_cast<std::size_t>(i)]);
      std::int64_t size = 0;
      for (vertex_id const x : row) { keys[size++] = ranks[x]; }
      auto const sorted = sorter.sort(all_ranks, keys.data(), size);
      for (std::int64_t j = 0; j < size; ++j) {
        std::int64_t const e = indptr[i] + j;
        indices[e] = static_cast<vertex_id>(sorted.key(j));
        if (!kinds.any()) { continue; }
        auto const at = static_cast<std::uint32_t>(sorted.position(j));
        if (to.weights) { to.weights[e] = row.weight(at); }
        if (to.narrow_labels) { to.narrow_labels[e] = static_cast<std::uint8_t>(row.label(at)); }
        if (to.wide_labels) { to.wide_labels[e] = row.label(at); }
        if (to.edge_ids) { to.edge_ids[e] = ids[row.edge(at)]; }
      }
    }
  });
  arrays.indptr = std::move(indptr);
  arrays.indices = std::move(indices);
  if (kinds.weights) { arrays.weights = std::move(columns.weights); }
  if (kinds.bytes_per_label == 1) { arrays.edge_labels = shared_array(std::move(columns.narrow_labels)); }
  if (kinds.bytes_per_label == 2) { arrays.edge_labels = shared_array(std::move(columns.wide_labels)); }
  if (kinds.edge_ids) { arrays.edge_ids = std::move(columns.edge_ids); }
}

}  // namespace
}  // namespace build

buffer<vertex_id> order_vertices(graph const& input, order_params const& params, cpu_exec const& exec)
{
  validation::expect_in_host_memory(input);
  input.check(exec);
  if (input.num_vertices() == 0) { return {}; }
  if (exec.on_progress) { exec.on_progress({"ordering", 0, input.num_vertices()}); }
  switch (params.order) {
    case vertex_order::degree: return build::degree_order(input, exec);
    case vertex_order::bfs: return build::breadth_first_order(input, exec);
    case vertex_order::rcm: return build::cuthill_mckee_order(input, exec);
    case vertex_order::llp: return build::label_propagation_order(input, params.seed, exec);
  }
  throw argument_error(
      fmt::format("order: {}, expected {}", static_cast<int>(params.order), list_names<vertex_order>()));
}

graph renumber(graph const& input, std::span<vertex_id const> order, cpu_exec const& exec)
{
  validation::expect_in_host_memory(input);
  input.check(exec);
  auto const& from = input.arrays();
  std::int64_t const num_vertices = input.num_vertices();
  graph_arrays arrays;
  input.view().visit([&](auto const& g) { build::write_rows(g, input, order, arrays, exec); });
  arrays.node_types = build::gather_labels(from.node_types, order, num_vertices, exec);
  if (from.original_ids.empty()) {
    buffer<vertex_id> ids(num_vertices, *exec.memory);
    std::copy(order.begin(), order.end(), ids.begin());
    arrays.original_ids = std::move(ids);
  } else {
    arrays.original_ids = build::gather(from.original_ids.data(), num_vertices, order, num_vertices, exec);
  }
  arrays.edge_label_names = from.edge_label_names;
  arrays.node_type_names = from.node_type_names;
  arrays.symmetric = from.symmetric;
  arrays.metadata = from.metadata;
  return graph(std::move(arrays), input.content());
}

graph renumber(graph const& input, order_params const& params, cpu_exec const& exec)
{
  return renumber(input, order_vertices(input, params, exec).span(), exec);
}

}  // namespace tendril
