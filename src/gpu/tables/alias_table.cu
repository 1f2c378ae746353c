// Alias tables, bucket for bucket those of the CPU's sweep. In each row the items are partitioned stably into light and
// heavy ones (a bit an edge, its scan, a scatter), their fixed-point weights are added up in that order by one scan over
// all rows (modulo 2^64: differences within a row are exact), and every bucket is then worked out by itself with a binary
// search (core::alias_bucket_of). All passes are cut by edges. They run over batches of whole rows, so that scratch
// memory, 12.25 bytes an edge, stays bounded.
// At least 8 bytes an edge are read and 16 written: for the 31.4 M edges of R-MAT scale 20 0.75 GB, 0.16 ms at 4.6 TB/s;
// the passes move about 85 bytes an edge (0.58 ms), beside the searches, which mostly hit the caches.
// CPU twin: src/plan/tables.cpp. The rule: src/core/alias.hpp.

#include <cub/device/device_scan.cuh>

#include "core/alias.hpp"
#include "gpu/device/limits.hpp"
#include "gpu/tables/row_sums.cuh"
#include "gpu/tables/tables.hpp"

namespace tendril::gpu {
namespace {

/// Weights with what is known of their rows.
struct weighted_rows {
  edge_arrays graph;
  float const* largest;         ///< [num_vertices]
  std::uint64_t const* totals;  ///< [num_vertices]
};

/// A batch's items by weight. Positions count from the batch's first edge.
struct item_partition {
  edge_id first_edge;
  std::uint32_t* light;   ///< [n / 32], a bit an edge: whether its weight is at most average.
  std::uint32_t* before;  ///< [n / 32]: lights in all words before this one, modulo 2^32.
  std::uint32_t* order;   ///< [n]: the item (index in its row) at each position of its row's partition.
  std::uint64_t* sums;    ///< [n]: fixed-point weights in that order; inclusive sums after the scan.

  /// Any thread.
  [[nodiscard]] __device__ bool is_light(edge_id e) const
  {
    edge_id const i = e - first_edge;
    return ((light[i / 32] >> (i % 32)) & 1U) != 0;
  }
  /// Lights of the batch before edge e, modulo 2^32. Any thread.
  [[nodiscard]] __device__ std::uint32_t lights_before(edge_id e) const
  {
    edge_id const i = e - first_edge;
    return before[i / 32] + static_cast<std::uint32_t>(__popc(light[i / 32] & ((1U << (i % 32)) - 1U)));
  }
};

/// Where an edge stands in the partition of its row.
struct item_place {
  edge_id first;
  std::uint32_t degree, num_lights;
  std::uint32_t item;      ///< Index of the edge in its row.
  std::uint32_t position;  ///< And in the partition.
};

/// Any thread.
__device__ item_place place_of(edge_arrays const& graph, item_partition const& items, edge_id e, std::int64_t row)
{
  edge_id const first = graph.first_edge(row);
  edge_id const last = graph.first_edge(row + 1) - 1;
  std::uint32_t const start = items.lights_before(first);
  std::uint32_t const num_lights = items.lights_before(last) - start + (items.is_light(last) ? 1 : 0);
  auto const item = static_cast<std::uint32_t>(e - first);
  std::uint32_t const lights = items.lights_before(e) - start;
  return {first, static_cast<std::uint32_t>(last - first + 1), num_lights, item,
          items.is_light(e) ? lights : num_lights + (item - lights)};
}

/// Tells light items from heavy ones. A warp's 32 edges make one word; `before` gets the number of its lights.
__global__ __launch_bounds__(tile_threads) void classify_kernel(weighted_rows rows, tile_view tiles,
                                                                item_partition items)
{
  edge_id const begin = tiles.first_edge + static_cast<edge_id>(blockIdx.x) * tile_edges + threadIdx.x;
  for (int round = 0; round < edges_a_thread; ++round) {
    edge_id const e = begin + round * tile_threads;
    bool light = false;
    if (e < tiles.last_edge) {
      std::int64_t const row = tiles.row_of_edge(e);
      std::uint64_t const degree = rows.graph.degree(row);
      light = fixed_weight(rows.graph, rows.largest, e, row) * degree <= rows.totals[row];
    }
    unsigned const word = __ballot_sync(full_warp, light);
    if (lane_id() == 0 && e < tiles.last_edge) {
      items.light[(e - items.first_edge) / 32] = word;
      items.before[(e - items.first_edge) / 32] = static_cast<std::uint32_t>(__popc(word));
    }
  }
}

/// Brings items and weights into the order of the partition.
__global__ __launch_bounds__(tile_threads) void partition_kernel(weighted_rows rows, tile_view tiles,
                                                                 item_partition items)
{
  for_each_tile_edge(tiles, [&](edge_id e, std::int64_t row) {
    item_place const place = place_of(rows.graph, items, e, row);
    edge_id const to = place.first - items.first_edge + place.position;
    items.order[to] = place.item;
    items.sums[to] = fixed_weight(rows.graph, rows.largest, e, row);
  });
}

// What makes a record of a bucket, given its threshold, its edge, the edge of its other item, their row and its first
// edge; and of an edge of a row without a positive weight. Any thread.

template <class View>
struct alias_records {
  using record = plan::alias_record;
  View view;

  __device__ record bucket(std::uint64_t threshold, edge_id here, edge_id there, std::int64_t row, edge_id) const
  {
    return {threshold, view.edge_target(here, row), view.edge_target(there, row)};
  }
  __device__ static record nothing() { return {0, no_vertex, no_vertex}; }
};

struct alias_buckets {
  using record = core::alias_bucket;

  __device__ record bucket(std::uint64_t threshold, edge_id, edge_id there, std::int64_t, edge_id first) const
  {
    return {threshold, static_cast<std::uint32_t>(there - first)};
  }
  __device__ static record nothing() { return {0, core::no_pick}; }
};

template <class View>
struct alias_hop_records {
  using record = alias_hop_record;
  View view;

  __device__ packed_place place(vertex_id v) const { return packed_place::of(view.first_edge(v), view.degree(v)); }
  __device__ record bucket(std::uint64_t threshold, edge_id here, edge_id there, std::int64_t row, edge_id) const
  {
    vertex_id const a = view.edge_target(here, row);
    vertex_id const b = view.edge_target(there, row);
    return {threshold, a, b, place(a), place(b)};
  }
  __device__ static record nothing() { return {0, no_vertex, no_vertex, {0}, {0}}; }
};

/// Works out each edge's bucket.
template <class Records>
__global__ __launch_bounds__(tile_threads) void buckets_kernel(weighted_rows rows, tile_view tiles,
                                                               item_partition items, Records const records,
                                                               typename Records::record* out)
{
  for_each_tile_edge(tiles, [&](edge_id e, std::int64_t row) {
    if (!(rows.largest[row] > 0)) {
      out[e] = records.nothing();
      return;
    }
    item_place const place = place_of(rows.graph, items, e, row);
    edge_id const start = place.first - items.first_edge;
    std::uint64_t const before_row = start == 0 ? 0 : items.sums[start - 1];
    auto const prefix_of = [&](std::uint32_t n) { return n == 0 ? 0 : items.sums[start + n - 1] - before_row; };
    core::alias_partition<decltype(prefix_of)> const partition{place.degree, place.num_lights, rows.totals[row],
                                                               prefix_of};
    core::alias_bucket const bucket = core::alias_bucket_of(partition, place.position);
    edge_id const other = bucket.other == place.position ? e : place.first + items.order[start + bucket.other];
    out[e] = records.bucket(bucket.threshold, e, other, row, place.first);
  });
}

/// The table of one batch.
template <class Records>
void make_batch(weighted_rows const& rows, row_batch const& batch, Records const& records,
                typename Records::record* out, gpu_exec const& exec)
{
  auto& memory = memory_of(exec);
  std::int64_t const words = (batch.num_edges() + 31) / 32;
  buffer<std::uint32_t> light(words, memory);
  buffer<std::uint32_t> before(words, memory);
  buffer<std::uint32_t> order(batch.num_edges(), memory);
  buffer<std::uint64_t> sums(batch.num_edges(), memory);
  item_partition const items{batch.first_edge, light.data(), before.data(), order.data(), sums.data()};
  edge_tiles const tiles(rows.graph, batch, exec);

  classify_kernel<<<tiles.num_blocks(), tile_threads, 0, exec.stream>>>(rows, tiles.view(), items);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, before.data(), before.data(), words, exec.stream);
  });
  partition_kernel<<<tiles.num_blocks(), tile_threads, 0, exec.stream>>>(rows, tiles.view(), items);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, sums.data(), sums.data(), sums.size(), exec.stream);
  });
  buckets_kernel<<<tiles.num_blocks(), tile_threads, 0, exec.stream>>>(rows, tiles.view(), items, records, out);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

template <class Records>
buffer<typename Records::record> make_table(edge_arrays const& graph, Records const& records, std::int64_t most_edges,
                                            gpu_exec const& exec)
{
  device_guard const guard(exec.device);
  buffer<typename Records::record> out(graph.num_edges, memory_of(exec));
  if (out.empty()) { return out; }
  buffer<float> largest;
  buffer<std::uint64_t> totals;
  {
    edge_tiles const tiles(graph, all_rows(graph), exec);
    largest = make_largest_weights(graph, &tiles, exec);
    totals = make_fixed_totals(graph, largest.data(), &tiles, exec);
  }
  weighted_rows const rows{graph, largest.data(), totals.data()};
  for (row_batch const& batch : make_row_batches(graph, most_edges, graph.num_vertices, exec)) {
    if (batch.num_edges() > 0) { make_batch(rows, batch, records, out.data(), exec); }
  }
  return out;
}

}  // namespace

buffer<plan::alias_record> make_alias_records(graph_view const& graph, gpu_exec const& exec, std::int64_t most_edges)
{
  return graph.visit([&]<class View>(View const& view) {
    return make_table(view.edges(), alias_records<View>{view}, most_edges, exec);
  });
}

buffer<core::alias_bucket> make_alias_buckets(graph_view const& graph, gpu_exec const& exec, std::int64_t most_edges)
{
  return make_table(graph.edges(), alias_buckets{}, most_edges, exec);
}

buffer<alias_hop_record> make_alias_hop_records(graph_view const& graph, gpu_exec const& exec, std::int64_t most_edges)
{
  expect_below_power("alias records with places: number of edges", graph.num_edges, 40);
  expect_below_power("alias records with places: largest degree", largest_degree(graph, exec), 24);
  return graph.visit([&]<class View>(View const& view) {
    return make_table(view.edges(), alias_hop_records<View>{view}, most_edges, exec);
  });
}

}  // namespace tendril::gpu
