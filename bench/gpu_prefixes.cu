// k-hop trees on lists of Stream VByte that are decoded in order: a warp has a vertex, decodes a group of 32 edges at a
// time, and its lanes keep what they pick. CPU twin: bench/prefixes.cpp.

#include "bench/vbyte_in_order.hpp"
#include "gpu/device/launch.cuh"

namespace tendril::bench {
namespace {

constexpr int block_threads = 256;

/// The sum of the values of this lane and those before it. A whole warp.
__device__ std::uint32_t inclusive_sum(std::uint32_t value, int lane)
{
  for (int distance = 1; distance < gpu::warp_size; distance *= 2) {
    std::uint32_t const before = __shfl_up_sync(gpu::full_warp, value, distance);
    if (lane >= distance) { value += before; }
  }
  return value;
}

/// The neighbour that this lane picks; no_vertex for a lane without a pick. A whole warp, with one list.
__device__ vertex_id read_in_order(std::uint32_t const* words, list_place const& place, bool has_pick,
                                   std::uint32_t pick, int lane)
{
  using list_codes::group_edges;
  static_assert(group_edges == gpu::warp_size);
  vertex_id found = no_vertex;
  std::uint32_t const last = __reduce_max_sync(gpu::full_warp, has_pick ? pick : 0U);
  std::uint64_t lengths = first_group(words, place);
  for (std::uint32_t begin = 0; begin <= last; begin += group_edges) {
    std::uint32_t const size = min(group_edges, place.degree - begin);
    bool const has_gap = static_cast<std::uint32_t>(lane) < size;
    std::uint32_t const bytes = has_gap ? bytes_of_gap(words, lengths, lane) : 0U;
    std::uint32_t const end = inclusive_sum(bytes, lane);
    std::uint64_t const gaps = lengths + (size + 3U) / 4U;
    std::uint32_t const gap =
        has_gap ? list_codes::bits_at(words, 8 * (gaps + end - bytes), 8U * bytes, plain_load{}) : 0U;
    vertex_id const neighbor = inclusive_sum(gap, lane);
    vertex_id const picked = __shfl_sync(gpu::full_warp, neighbor, static_cast<int>(pick % group_edges));
    if (has_pick && pick / group_edges == begin / group_edges) { found = picked; }
    lengths = gaps + __shfl_sync(gpu::full_warp, end, gpu::warp_size - 1);
  }
  return found;
}

__global__ __launch_bounds__(block_threads) void in_order_kernel(compressed_view graph, in_order_hop hop)
{
  int const lane = gpu::lane_id();
  std::int64_t const warps = gpu::grid_stride() / gpu::warp_size;
  auto const targets = graph.targets();
  for (std::int64_t parent = gpu::global_thread() / gpu::warp_size; parent < hop.num_parents; parent += warps) {
    vertex_id const v = hop.parents[parent];
    vertex_id found = no_vertex;
    bool const has_slot = static_cast<std::uint32_t>(lane) < hop.fanout;
    if (std::int64_t{v} < graph.num_vertices) {  // the same for all lanes
      list_place const place = targets.locate(v, plain_load{});
      if (place.degree > 0) {
        std::uint32_t const pick = has_slot ? hop.pick(parent, static_cast<std::uint32_t>(lane), place.degree) : 0U;
        found = read_in_order(targets.words(), place, has_slot, pick, lane);
      }
    }
    if (has_slot) { hop.out[parent * hop.fanout + lane] = found; }
  }
}

}  // namespace

void pick_in_order(compressed_view const& graph, in_order_hop const& hop, gpu_exec const& exec)
{
  if (hop.num_parents == 0) { return; }
  unsigned const blocks = gpu::grid_blocks(hop.num_parents * gpu::warp_size, block_threads);
  in_order_kernel<<<blocks, block_threads, 0, exec.stream>>>(graph, hop);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::bench
