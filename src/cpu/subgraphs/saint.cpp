// GraphSAINT's samplers, samples in parallel, and its coefficients. The rules: src/core/saint.hpp. GPU twin:
// src/gpu/subgraphs/saint.cu.

#include <tendril/saint.hpp>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/parallel.hpp"  // parallel_ranges
#include "core/saint.hpp"
#include "cpu/arguments.hpp"
#include "cpu/subgraphs/subgraph.hpp"
#include "samplers/subgraphs/saint_tables.hpp"

namespace tendril {
namespace {

constexpr std::int64_t vertices_at_once = std::int64_t{1} << 22U;  // drawn, of a part of a normalization

buffer<vertex_id> make_sources(graph_view const& graph)
{
  std::vector<vertex_id> found;
  for (std::int64_t v = 0; v < graph.num_vertices; ++v) {
    if (graph.degree(v) > 0) { found.push_back(static_cast<vertex_id>(v)); }
  }
  buffer<vertex_id> out(static_cast<std::int64_t>(found.size()));
  std::copy(found.begin(), found.end(), out.begin());
  return out;
}

/// The distinct vertices that a sample draws, ascending.
template <class View>
std::vector<vertex_id> draw_sample(core::saint_draws<plan::alias_record, View> const& draws, std::uint32_t budget,
                                   std::uint64_t sample)
{
  std::vector<vertex_id> drawn;
  for (std::uint32_t number = 0; number < budget; ++number) {
    draws.draw(sample, number, [&](std::uint32_t, vertex_id v) {
      if (v != no_vertex) { drawn.push_back(v); }
    });
  }
  std::sort(drawn.begin(), drawn.end());
  drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  return drawn;
}

/// Adds one to counts of what occurs, which is in range.
template <class T>
void count(buffer<T> const& what, buffer<std::int32_t>& counts)
{
  for (auto const i : what) { ++counts[i]; }
}

}  // namespace

subgraphs saint_sample(graph const& graph, saint_params const& params, std::int64_t num_samples, cpu_exec const& exec,
                       std::int64_t first_sample, std::int64_t sample_step)
{
  cpu::check_in_host_memory(graph);
  samplers::check_saint(graph, params, num_samples, first_sample, sample_step);
  buffer<std::int64_t> offsets(num_samples + 1, *exec.memory);
  std::fill(offsets.begin(), offsets.end(), std::int64_t{0});
  if (!samplers::can_draw(graph, params)) {
    return cpu::induce(graph, buffer<vertex_id>(0, *exec.memory), std::move(offsets), exec);
  }
  auto const tables = samplers::saint_tables_of(
      params, [&](propagation matrix) { return samplers::columns_of(graph, matrix, exec); },
      [&] { return graph.derived().get(samplers::saint_sources_table(), [&] { return make_sources(graph.view()); }); });
  std::vector<std::vector<vertex_id>> samples(static_cast<std::size_t>(num_samples));
  graph.view().visit([&]<class View>(View const& view) {
    auto const draws = samplers::saint_draws_of(view, params, tables);
    base::parallel_ranges(exec, num_samples, 1, [&](std::int64_t s, std::int64_t) {
      samples[static_cast<std::size_t>(s)] = draw_sample(draws, static_cast<std::uint32_t>(params.budget),
                                                         static_cast<std::uint64_t>(first_sample + s * sample_step));
    });
  });
  for (std::size_t s = 0; s < samples.size(); ++s) {
    auto const at = static_cast<std::int64_t>(s);
    offsets[at + 1] = offsets[at] + static_cast<std::int64_t>(samples[s].size());
  }
  buffer<vertex_id> nodes(offsets[num_samples], *exec.memory);
  for (std::size_t s = 0; s < samples.size(); ++s) {
    std::copy(samples[s].begin(), samples[s].end(), nodes.data() + offsets[static_cast<std::int64_t>(s)]);
  }
  return cpu::induce(graph, std::move(nodes), std::move(offsets), exec);
}

saint_coefficients saint_normalization(graph const& graph, saint_params const& params, std::int64_t num_samples,
                                       cpu_exec const& exec, std::int64_t first_sample)
{
  samplers::check_saint_count(num_samples);
  cpu::check_in_host_memory(graph);
  samplers::check_saint(graph, params, num_samples, first_sample);
  graph_view const view = graph.view();
  saint_coefficients out = samplers::empty_coefficients(graph, num_samples, *exec.memory, [&](std::int64_t size) {
    buffer<std::int32_t> counts(size, *exec.memory);
    std::fill(counts.begin(), counts.end(), 0);
    return counts;
  });
  samplers::in_parts(params, num_samples, vertices_at_once, [&](std::int64_t first, std::int64_t size) {
    subgraphs const part = saint_sample(graph, params, size, exec, first_sample + first);
    count(part.nodes, out.node_counts);
    count(part.edges, out.edge_counts);
  });
  base::parallel_ranges(exec, view.num_vertices, 4096, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t v = from; v < to; ++v) {
      out.loss[v] = core::saint_ratio(out.node_counts[v], num_samples);
      edge_id const end = view.first_edge(v + 1);
      for (edge_id e = view.first_edge(v); e < end; ++e) {
        out.aggregator[e] = core::saint_ratio(out.edge_counts[e], out.node_counts[v]);
      }
    }
  });
  return out;
}

}  // namespace tendril
