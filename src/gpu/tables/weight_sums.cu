// Sums of weights, entry for entry those of the CPU. A thread adds up 64 edges of one row, a scan over all entries adds
// these up (modulo 2^64: differences within a row are exact), and each entry gets the difference to its row's begin. Reads
// 4 bytes an edge, and moves 100 bytes for 64 edges. CPU twin: src/plan/tables.cpp. The rule: src/core/weight_sums.hpp.

#include <optional>

#include <cub/device/device_scan.cuh>

#include "gpu/tables/row_sums.cuh"
#include "gpu/tables/tables.hpp"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;

struct add_sums {
  __device__ core::weight_sum operator()(core::weight_sum a, core::weight_sum const& b) const { return a += b; }
};

/// Rows, and the entries of their sums.
struct summed_rows {
  edge_arrays graph;
  core::row_weight const* rows;

  /// The row that entry `s` belongs to, and which of the row's entries it is: 0 if it belongs to none.
  struct entry {
    std::int64_t row;
    edge_id first;
    std::uint32_t number;
  };
  /// Any thread.
  [[nodiscard]] __device__ entry at(std::int64_t s) const
  {
    edge_id const e = s * core::summed_edges;  // the row of an entry has this edge
    if (e >= graph.num_edges) { return {0, 0, 0}; }
    std::int64_t const row = row_of(graph.first_edges, 0, graph.num_vertices - 1, e);
    edge_id const first = graph.first_edge(row);
    std::int64_t const number = s - first / core::summed_edges;
    bool const is_entry = number * core::summed_edges < rows[row].degree && rows[row].total > 0;
    return {row, first, is_entry ? static_cast<std::uint32_t>(number) : 0};
  }
};

__global__ __launch_bounds__(block_threads) void row_weights_kernel(edge_arrays const graph, float const* largest,
                                                                    std::uint64_t const* totals, core::row_weight* out)
{
  for (std::int64_t row = global_thread(); row < graph.num_vertices; row += grid_stride()) {
    out[row] = {totals[row], largest[row], graph.degree(row)};
  }
}

/// The sum over the 64 edges before the one that each entry stands at.
__global__ __launch_bounds__(block_threads) void parts_kernel(summed_rows const rows, std::int64_t size,
                                                              core::weight_sum* out)
{
  for (std::int64_t s = global_thread(); s < size; s += grid_stride()) {
    auto const entry = rows.at(s);
    core::weight_sum part{};
    if (entry.number > 0) {
      auto const weight_of = [&](std::uint32_t i) { return rows.graph.weight(entry.first + i); };
      part = core::summed_row(rows.rows[entry.row], nullptr, weight_of).sum_of(entry.number - 1);
    }
    out[s] = part;
  }
}

/// Entries from the sums over all entries up to each.
__global__ __launch_bounds__(block_threads) void entries_kernel(summed_rows const rows, std::int64_t size,
                                                                core::weight_sum const* up_to, core::weight_sum* out)
{
  for (std::int64_t s = global_thread(); s < size; s += grid_stride()) {
    auto const entry = rows.at(s);
    core::weight_sum const before = up_to[entry.first / core::summed_edges];
    core::weight_sum const all = up_to[s];
    out[s] = entry.number == 0
                 ? core::weight_sum{}
                 : core::weight_sum{all.all - before.all, all.light - before.light, all.lights - before.lights};
  }
}

}  // namespace

plan::weight_sums make_weight_sums(graph_view const& view, gpu_exec const& exec)
{
  device_guard const guard(exec.device);
  auto& memory = memory_of(exec);
  edge_arrays const graph = view.edges();
  std::int64_t const size = core::num_weight_sums(graph.num_edges);
  plan::weight_sums out{buffer<core::row_weight>(graph.num_vertices, memory), buffer<core::weight_sum>(size, memory)};
  if (graph.num_vertices == 0) { return out; }
  std::optional<edge_tiles> tiles;
  if (graph.num_edges > 0) { tiles.emplace(graph, all_rows(graph), exec); }
  auto const largest = make_largest_weights(graph, tiles ? &*tiles : nullptr, exec);
  auto const totals = make_fixed_totals(graph, largest.data(), tiles ? &*tiles : nullptr, exec);
  auto const blocks_for = [](std::int64_t n) { return grid_blocks(n, block_threads); };
  row_weights_kernel<<<blocks_for(graph.num_vertices), block_threads, 0, exec.stream>>>(graph, largest.data(),
                                                                                        totals.data(), out.rows.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  buffer<core::weight_sum> parts(size, memory);
  summed_rows const rows{graph, out.rows.data()};
  parts_kernel<<<blocks_for(size), block_threads, 0, exec.stream>>>(rows, size, parts.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveScan(scratch, bytes, parts.data(), parts.data(), add_sums{}, size, exec.stream);
  });
  entries_kernel<<<blocks_for(size), block_threads, 0, exec.stream>>>(rows, size, parts.data(), out.sums.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  return out;
}

}  // namespace tendril::gpu
