// Induced subgraphs. Samples are sorted in parallel; then the vertices of all samples, whatever sample they are in, are
// rows that are counted and written in parallel. The question of membership: src/core/sample_members.hpp. GPU twin:
// src/gpu/subgraphs/induce_small.cu and src/gpu/subgraphs/induce_large.cu.

#include "cpu/subgraphs/subgraph.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <vector>

#include "base/parallel.hpp"  // parallel_ranges
#include "core/sample_members.hpp"
#include "cpu/arguments.hpp"
#include "samplers/subgraphs/subgraph_checks.hpp"

namespace tendril {
namespace {

constexpr std::int64_t samples_a_range = 16;
constexpr std::int64_t rows_a_range = 256;

/// The sets of all samples, each sorted and with a filter.
class sorted_samples {
 public:
  sorted_samples(buffer<vertex_id> const& nodes, buffer<std::int64_t> const& offsets, cpu_exec const& exec)
      : offsets_(offsets), vertices_(nodes.size()), order_(nodes.size()), filter_(nodes.size())
  {
    std::mutex merge;
    std::int64_t first_bad = std::numeric_limits<std::int64_t>::max();
    base::parallel_ranges(exec, offsets.size() - 1, samples_a_range, [&](std::int64_t from, std::int64_t to) {
      std::vector<std::uint64_t> keys;
      for (std::int64_t s = from; s < to; ++s) {
        if (sort(nodes, s, keys)) { continue; }
        std::lock_guard const lock(merge);
        first_bad = std::min(first_bad, s);
      }
    });
    if (first_bad < std::numeric_limits<std::int64_t>::max()) {
      samplers::check_distinct({nodes.data() + offsets[first_bad], nodes.data() + offsets[first_bad + 1]}, first_bad);
    }
  }

  [[nodiscard]] core::sample_members members(std::int64_t sample) const
  {
    std::int64_t const begin = offsets_[sample];
    return {vertices_.data() + begin, static_cast<std::uint32_t>(offsets_[sample + 1] - begin), filter_.data() + begin};
  }
  /// Where in its sample the vertex was that is now at a place of the sorted one.
  [[nodiscard]] std::uint32_t position(std::int64_t sample, std::uint32_t place) const
  {
    return order_[offsets_[sample] + place];
  }

 private:
  /// Whether the vertices are distinct.
  bool sort(buffer<vertex_id> const& nodes, std::int64_t sample, std::vector<std::uint64_t>& keys)
  {
    std::int64_t const begin = offsets_[sample];
    auto const size = static_cast<std::uint32_t>(offsets_[sample + 1] - begin);
    keys.resize(size);
    for (std::uint32_t i = 0; i < size; ++i) { keys[i] = (std::uint64_t{nodes[begin + i]} << 32U) | i; }
    if (!std::is_sorted(keys.begin(), keys.end())) { std::sort(keys.begin(), keys.end()); }
    bool distinct = true;
    std::fill_n(filter_.data() + begin, size, 0U);
    for (std::uint32_t i = 0; i < size; ++i) {
      auto const v = static_cast<vertex_id>(keys[i] >> 32U);
      vertices_[begin + i] = v;
      order_[begin + i] = static_cast<std::uint32_t>(keys[i]);
      auto const bit = core::member_bit::of(v, size);
      filter_[begin + bit.word] |= bit.mask;
      distinct = distinct && (i == 0 || vertices_[begin + i - 1] != v);
    }
    return distinct;
  }

  buffer<std::int64_t> const& offsets_;
  buffer<vertex_id> vertices_;
  buffer<std::uint32_t> order_;
  buffer<std::uint32_t> filter_;
};

/// Calls f(position in the sample, i) for every edge i of a vertex into the sample, in the order of its list.
template <class Row, class F>
void for_each_inner_edge(Row const& edges, sorted_samples const& samples, std::int64_t sample, F f)
{
  auto const members = samples.members(sample);
  if (core::reads_list(edges.degree(), members.size)) {
    for (std::uint32_t i = 0; i < edges.degree(); ++i) {
      std::uint32_t const place = members.find(edges.neighbor(i));
      if (place != core::no_member) { f(samples.position(sample, place), i); }
    }
    return;
  }
  for (std::uint32_t place = 0; place < members.size; ++place) {
    auto const run = core::find_run(edges, members.vertices[place]);
    for (std::uint32_t i = 0; i < run.count; ++i) { f(samples.position(sample, place), run.first + i); }
  }
}

/// Calls f(row, sample) for the rows [from, to).
template <class F>
void for_each_row(buffer<std::int64_t> const& offsets, std::int64_t from, std::int64_t to, F f)
{
  std::int64_t sample = std::upper_bound(offsets.begin(), offsets.end(), from) - offsets.begin() - 1;
  for (std::int64_t row = from; row < to; ++row) {
    while (offsets[sample + 1] <= row) { ++sample; }
    f(row, sample);
  }
}

}  // namespace

subgraphs cpu::induce(graph const& graph, buffer<vertex_id> nodes, buffer<std::int64_t> node_offsets,
                      cpu_exec const& exec)
{
  graph_view const view = graph.view();
  sorted_samples const samples(nodes, node_offsets, exec);
  std::int64_t const num_rows = nodes.size();
  buffer<std::int64_t> row_offsets(num_rows + 1);
  view.visit([&](auto const& g) {
    base::parallel_ranges(exec, num_rows, rows_a_range, [&](std::int64_t from, std::int64_t to) {
      for_each_row(node_offsets, from, to, [&](std::int64_t row, std::int64_t sample) {
        std::int64_t count = 0;
        for_each_inner_edge(g.row(nodes[row]), samples, sample, [&](std::uint32_t, std::uint32_t) { ++count; });
        row_offsets[row + 1] = count;
      });
    });
  });
  row_offsets[0] = 0;
  for (std::int64_t row = 0; row < num_rows; ++row) { row_offsets[row + 1] += row_offsets[row]; }

  subgraphs out;
  out.num_samples = node_offsets.size() - 1;
  std::int64_t const num_edges = row_offsets[num_rows];
  out.row = buffer<std::int64_t>(num_edges, *exec.memory);
  out.col = buffer<std::int64_t>(num_edges, *exec.memory);
  out.edges = buffer<edge_id>(num_edges, *exec.memory);
  out.edge_offsets = buffer<std::int64_t>(out.num_samples + 1, *exec.memory);
  for (std::int64_t s = 0; s <= out.num_samples; ++s) { out.edge_offsets[s] = row_offsets[node_offsets[s]]; }
  view.visit([&](auto const& g) {
    base::parallel_ranges(exec, num_rows, rows_a_range, [&](std::int64_t from, std::int64_t to) {
      for_each_row(node_offsets, from, to, [&](std::int64_t row, std::int64_t sample) {
        std::int64_t at = row_offsets[row];
        if (at == row_offsets[row + 1]) { return; }
        auto const edges = g.row(nodes[row]);
        for_each_inner_edge(edges, samples, sample, [&](std::uint32_t position, std::uint32_t i) {
          out.row[at] = row - node_offsets[sample];
          out.col[at] = position;
          out.edges[at] = edges.edge(i);
          ++at;
        });
      });
    });
  });
  out.nodes = std::move(nodes);
  out.node_offsets = std::move(node_offsets);
  return out;
}

subgraphs induced_subgraphs(graph const& graph, std::span<vertex_id const> nodes,
                            std::span<std::int64_t const> node_offsets, cpu_exec const& exec)
{
  cpu::check_in_host_memory(graph);
  samplers::check_sample_cuts(nodes, node_offsets, graph.num_vertices());
  buffer<vertex_id> own_nodes(static_cast<std::int64_t>(nodes.size()), *exec.memory);
  buffer<std::int64_t> own_offsets(static_cast<std::int64_t>(node_offsets.size()), *exec.memory);
  std::copy(nodes.begin(), nodes.end(), own_nodes.begin());
  std::copy(node_offsets.begin(), node_offsets.end(), own_offsets.begin());
  return cpu::induce(graph, std::move(own_nodes), std::move(own_offsets), exec);
}

}  // namespace tendril
