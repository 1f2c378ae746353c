// The front of the GPU's induced subgraphs: checks arguments, allocates, enqueues, and says what is wrong. CPU twin:
// src/cpu/subgraphs/subgraph.cpp.

#include "gpu/subgraphs/subgraph.hpp"

#include <utility>

#include <cuda_runtime_api.h>

#include <tendril/gpu.hpp>

#include "gpu/device/check.hpp"
#include "gpu/device/copy_value.hpp"
#include "gpu/device/host_copies.hpp"
#include "graph/places.hpp"
#include "samplers/subgraphs/subgraph_checks.hpp"

namespace tendril {
namespace {

constexpr unsigned long long none = ~0ULL;

/// Says what the status tells, by the CPU's checks on a copy of what they need. Nothing if all is well.
void throw_if_bad(gpu::sample_status const& seen, gpu::sample_sets const& sets, std::int64_t num_vertices)
{
  if (seen.bad_offset != none || seen.bad_node != none) {
    samplers::check_sample_cuts(gpu::host_copy(sets.nodes, sets.num_nodes),
                                gpu::host_copy(sets.offsets, sets.num_samples + 1), num_vertices);
  }
  if (seen.bad_sample != none) {
    auto const sample = static_cast<std::int64_t>(seen.bad_sample);
    auto const cuts = gpu::host_copy(sets.offsets + sample, 2);
    samplers::check_distinct(gpu::host_copy(sets.nodes + cuts[0], cuts[1] - cuts[0]), sample);
  }
}

/// Counts of rows and where they begin, on the device.
struct row_tables {
  buffer<std::uint32_t> counts;
  buffer<std::int64_t> offsets;
};

row_tables count_rows(graph_view const& graph, gpu::sample_sets const& sets, gpu::sample_status* status,
                      gpu_exec const& exec)
{
  row_tables out{buffer<std::uint32_t>(sets.num_nodes + 1, memory_of(exec)),
                 buffer<std::int64_t>(sets.num_nodes + 1, memory_of(exec))};
  gpu::count_small(graph, sets, status, out.counts.data(), exec.stream);
  gpu::scan_counts(out.counts.data(), sets.num_nodes, out.offsets.data(), status, exec);
  return out;
}

/// @param checked  Cuts and ids are right, and no sample has more than `max_size` vertices; else max_size is unknown.
subgraphs induce_sets(graph const& graph, buffer<vertex_id> nodes, buffer<std::int64_t> offsets, bool checked,
                      std::int64_t max_size, bool ascending, gpu_exec const& exec)
{
  auto& memory = memory_of(exec);
  gpu::sample_sets const sets{offsets.size() - 1, nodes.size(), nodes.data(), offsets.data()};
  graph_view const view = graph.view();
  subgraphs out;
  out.num_samples = sets.num_samples;
  buffer<gpu::sample_status> status(1, memory);
  TENDRIL_CUDA_TRY(cudaMemsetAsync(status.data(), 0xff, sizeof(gpu::sample_status), exec.stream));
  if (!checked) { gpu::check_samples(sets, view.num_vertices, status.data(), exec.stream); }
  row_tables rows;
  gpu::sample_status seen{none, none, none, max_size, 0};
  if (sets.num_nodes > 0 && max_size <= gpu::most_small_members) {
    rows = count_rows(view, sets, status.data(), exec);
    seen = gpu::value_at(status.data(), exec);
  } else if (!checked) {
    seen = gpu::value_at(status.data(), exec);
  }
  throw_if_bad(seen, sets, view.num_vertices);
  if (sets.num_nodes == 0) {
    out.edge_offsets = buffer<std::int64_t>(sets.num_samples + 1, memory);
    TENDRIL_CUDA_TRY(cudaMemsetAsync(out.edge_offsets.data(), 0,
                                     static_cast<std::size_t>(sets.num_samples + 1) * sizeof(std::int64_t),
                                     exec.stream));
  } else if (seen.max_size <= gpu::most_small_members) {
    out.edge_offsets = buffer<std::int64_t>(sets.num_samples + 1, memory);
    out.row = buffer<std::int64_t>(seen.num_edges, memory);
    out.col = buffer<std::int64_t>(seen.num_edges, memory);
    out.edges = buffer<edge_id>(seen.num_edges, memory);
    gpu::write_small(view, sets, rows.offsets.data(), {out.row.data(), out.col.data(), out.edges.data()},
                     out.edge_offsets.data(), exec.stream);
  } else {
    rows = {};
    throw_if_bad(gpu::induce_large(view, sets, ascending, status.data(), out, exec), sets, view.num_vertices);
  }
  out.nodes = std::move(nodes);
  out.node_offsets = std::move(offsets);
  return out;
}

}  // namespace

subgraphs gpu::induce(graph const& graph, buffer<vertex_id> nodes, buffer<std::int64_t> node_offsets,
                      std::int64_t max_size, bool ascending, gpu_exec const& exec)
{
  return induce_sets(graph, std::move(nodes), std::move(node_offsets), true, max_size, ascending, exec);
}

subgraphs induced_subgraphs(graph const& graph, std::span<vertex_id const> nodes,
                            std::span<std::int64_t const> node_offsets, gpu_exec const& exec)
{
  validation::expect_on_gpu(graph, exec);
  if (node_offsets.empty()) { samplers::check_sample_cuts({}, {}, graph.num_vertices()); }
  gpu::device_guard const guard(exec.device);
  // The largest sample is not known: all are taken for small ones, and the check on the device tells otherwise.
  constexpr std::int64_t max_size = 0;
  return induce_sets(graph, gpu::device_copy(nodes, exec), gpu::device_copy(node_offsets, exec), false, max_size, false,
                     exec);
}

}  // namespace tendril
