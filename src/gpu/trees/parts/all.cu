// Copies of all neighbours are cut by edges, so that hubs unbalance nothing. Bytes a child: 4 read and 4 written, 8 more written with
// its edge; where it comes from another rank, these again. CPU twin: src/dist/trees/.

#include "gpu/trees/parts/all.hpp"

#include <cub/device/device_scan.cuh>

#include "gpu/graph/edge_tiles.cuh"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;

template <class View>
__global__ __launch_bounds__(block_threads) void count_kernel(View part, asked_slot const* slots, std::int64_t size,
                                                              std::int64_t* counts)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) { counts[i] = part.degree(slots[i].row); }
}

__global__ __launch_bounds__(block_threads) void root_begins_kernel(hop_slots parents, std::int64_t const* offsets,
                                                                    std::int64_t* begins)
{
  for (std::int64_t r = global_thread(); r <= parents.num_roots; r += grid_stride()) {
    begins[r] = offsets[(parents.unit_begin == nullptr ? r : parents.unit_begin[r]) * parents.a_unit];
  }
}

__global__ __launch_bounds__(block_threads) void places_kernel(asked_slot const* slots, std::int64_t size,
                                                               hop_slots hop, tree_place* places)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    std::int64_t const slot = slots[i].slot;
    std::int64_t const root = row_of(hop.unit_begin, 0, hop.num_roots - 1, slot / hop.a_unit);
    places[i] = {static_cast<std::uint32_t>(root),
                 static_cast<std::uint32_t>(slot - hop.unit_begin[root] * hop.a_unit)};
  }
}

/// A slot's neighbours where they are. Child k of the slot has the number `at`, from children.first on.
template <class View>
struct part_source {
  View part;
  edge_id first_edge;

  [[nodiscard]] __device__ vertex_id vertex(asked_slot const& slot, std::uint32_t k, std::int64_t) const
  {
    return part.row(slot.row).neighbor(k);
  }
  [[nodiscard]] __device__ edge_id edge(asked_slot const& slot, std::uint32_t k, std::int64_t) const
  {
    return first_edge + part.first_edge(slot.row) + k;
  }
};

/// The same where they have come from other ranks.
struct array_source {
  vertex_id const* vertices;
  edge_id const* edges;

  [[nodiscard]] __device__ vertex_id vertex(asked_slot const&, std::uint32_t, std::int64_t at) const
  {
    return vertices[at];
  }
  [[nodiscard]] __device__ edge_id edge(asked_slot const&, std::uint32_t, std::int64_t at) const { return edges[at]; }
};

/// A block a tile.
template <class Source>
__global__ __launch_bounds__(tile_threads) void take_kernel(tile_view tiles, slot_children children, Source source,
                                                            children_places to)
{
  for_each_tile_edge(tiles, [&](std::int64_t child, std::int64_t i) {
    asked_slot const slot = children.slots[i];
    std::int64_t const at = child - children.first;
    auto const k = static_cast<std::uint32_t>(child - children.begins[i]);
    std::int64_t const place = to.offsets == nullptr ? at : to.offsets[slot.slot] + k;
    to.vertices[place] = source.vertex(slot, k, at);
    if (to.edges != nullptr) { to.edges[place] = source.edge(slot, k, at); }
  });
}

template <class Source>
void take(slot_children const& children, Source const& source, children_places const& to, gpu_exec const& exec)
{
  if (children.end == children.first) { return; }
  // Whose rows are the slots, and whose edges their children.
  edge_arrays const rows{children.size, children.end, children.begins, nullptr, {}};
  edge_tiles const tiles(rows, {0, children.size, children.first, children.end}, exec);
  take_kernel<<<tiles.num_blocks(), tile_threads, 0, exec.stream>>>(tiles.view(), children, source, to);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace

void count_children(graph_view const& part, asked_slot const* slots, std::int64_t size, std::int64_t* counts,
                    cuda_stream stream)
{
  if (size == 0) { return; }
  part.visit([&](auto const& rows) {
    count_kernel<<<grid_blocks(size, block_threads), block_threads, 0, stream>>>(rows, slots, size, counts);
  });
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void make_begins(std::int64_t* counts, std::int64_t size, gpu_exec const& exec)
{
  TENDRIL_CUDA_TRY(cudaMemsetAsync(counts + size, 0, sizeof *counts, exec.stream));  // becomes the sum of all
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, counts, counts, size + 1, exec.stream);
  });
}

void find_root_begins(hop_slots const& parents, std::int64_t const* offsets, std::int64_t* begins, cuda_stream stream)
{
  root_begins_kernel<<<grid_blocks(parents.num_roots + 1, block_threads), block_threads, 0, stream>>>(parents, offsets,
                                                                                                      begins);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void find_places(asked_slot const* slots, std::int64_t size, hop_slots const& hop, tree_place* places,
                 cuda_stream stream)
{
  if (size == 0) { return; }
  places_kernel<<<grid_blocks(size, block_threads), block_threads, 0, stream>>>(slots, size, hop, places);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void take_from_part(slot_children const& children, graph_view const& part, edge_id first_edge,
                    children_places const& to, gpu_exec const& exec)
{
  part.visit([&]<class View>(View const& rows) { take(children, part_source<View>{rows, first_edge}, to, exec); });
}

void take_from_ranks(slot_children const& children, vertex_id const* vertices, edge_id const* edges,
                     children_places const& to, gpu_exec const& exec)
{
  take(children, array_source{vertices, edges}, to, exec);
}

}  // namespace tendril::gpu
