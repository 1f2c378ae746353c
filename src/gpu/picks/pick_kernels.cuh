// The kernels that trees and mini-batches pick with: they differ in whom they expand and in what becomes of a pick. CPU
// twin: src/cpu/picks/neighbor_picks.hpp.
//
// `Part` is what one launch expands. On the device (any thread):
//   Part::grid_covers          whether a grid has a thread for all its work; else it goes over it in a loop
//   size()                     how many vertices there are
//   fanout(), by_pairs         slots of a vertex; a divisor by its pairs of slots, the last of which may be half a pair
//   vertex(i)                  vertex i, a vertex_type; a default one has no edges
//   degree(v), first_edge(v)   its edges that count, and the number of the first; v has edges for the latter
//   draws(i, v)                gives draw(n): block n of the random bits of vertex i; v and the part outlive it
//   keep(i, slot, v, picks)    what becomes of the picks `slot` and, if there is one, slot + 1: a slot_pair, or another
//                              type that a Chooser gives
// for races (src/gpu/picks/race_kernels.cuh) also
//   most_edges(i)              at least the edges of vertex i that count: what work it is
//   weights(v)                 of its edges, from the first one on
//   keep_one(i, slot, v, pick) what becomes of one pick, or of core::no_pick
// On the host, bound(): at least size(). `Work` is all that is to be expanded: fanout, most_vertices, and
// for_each_part(work, threads_a_vertex, launch).

#pragma once

#include <bit>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>  // memory_of

#include "core/alias.hpp"
#include "core/fast_divisor.hpp"
#include "gpu/picks/floyd_picks.cuh"

namespace tendril::gpu {

inline constexpr int pick_threads = 256;
inline constexpr int pick_table_threads = 128;
/// Blocks that a multiprocessor should hold at least. Those of trees have so little state that five fit without spills.
template <class Part>
inline constexpr int resident_picks = Part::grid_covers ? 5 : 1;
inline constexpr std::int64_t most_pick_scratch = std::int64_t{2} << 30;

/// Blocks for work of `threads` threads at most.
template <class Part, class Kernel>
unsigned pick_blocks(Kernel kernel, std::int64_t threads, int device)
{
  return grid_blocks(threads, pick_threads,
                     Part::grid_covers ? 1 << 23 : resident_blocks(kernel, pick_threads, 0, device));
}

/// Picks that depend on no other picks: a thread makes two of one vertex, 2n and 2n + 1, so that neighbouring threads
/// write neighbouring slots, and the threads of a vertex read its row from the first-level cache. `Chooser` makes them:
/// choose(part, i, vertex, slot), for a vertex that has edges; of the second only what is a slot is used. The whole grid.
template <class Chooser, class Part>
__device__ __forceinline__ void pick_pairs(Chooser const& choose, Part const& part)
{
  std::uint32_t const num_pairs = part.size() * part.by_pairs.divisor();
  auto const stride = static_cast<std::uint32_t>(grid_stride());
  for (auto n = static_cast<std::uint32_t>(global_thread()); n < num_pairs; n += stride) {
    std::uint32_t const i = part.by_pairs.quotient(n);
    std::uint32_t const slot = 2 * (n - i * part.by_pairs.divisor());
    typename Part::vertex_type const vertex = part.vertex(i);
    decltype(choose(part, i, vertex, slot)) picks;
    if (part.degree(vertex) > 0) { picks = choose(part, i, vertex, slot); }
    part.keep(i, slot, vertex, picks);
    if constexpr (Part::grid_covers) { break; }
  }
}

template <class Chooser, class Part>
__global__ __launch_bounds__(pick_threads) void pairs_kernel(Chooser const choose, Part const __grid_constant__ part)
{
  pick_pairs(choose, part);
}

template <class Work, class Chooser>
void enqueue_pairs(Work const& work, Chooser choose, gpu_exec const& exec)
{
  std::int64_t const pairs = work.fanout / 2 + work.fanout % 2;
  for_each_part(work, pairs, [&]<class Part>(Part const& part) {
    auto* const kernel = pairs_kernel<Chooser, Part>;
    unsigned const blocks = pick_blocks<Part>(kernel, part.bound() * pairs, exec.device);
    kernel<<<blocks, pick_threads, 0, exec.stream>>>(choose, part);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  });
}

/// Calls one(j) for the picks `slot` and, if there is one, slot + 1.
template <class Pair, class One>
__device__ __forceinline__ Pair choose_pair(std::uint32_t slot, std::uint32_t fanout, One one)
{
  Pair out;
  out.first = one(slot);
  if (slot + 1 < fanout) { out.second = one(slot + 1); }
  return out;
}

/// Uniform, with replacement: pick j draws half j mod 2 of block j / 2.
struct uniform_choice {
  template <class Part>
  __device__ slot_pair operator()(Part const& part, std::uint32_t i, typename Part::vertex_type const& vertex,
                                  std::uint32_t slot) const
  {
    slot_pair out = both(part.draws(i, vertex)(slot / 2), part.degree(vertex));
    if (slot + 1 >= part.fanout()) { out.second = core::no_pick; }
    return out;
  }

  /// The picks of a block.
  [[nodiscard]] static __device__ slot_pair both(core::random_block const& block, std::uint32_t degree)
  {
    return {core::bounded(block.low(), degree), core::bounded(block.high(), degree)};
  }
};

/// In proportion to weights, with replacement: pick j draws block j. The rule: src/core/alias.hpp.
struct bucket_choice {
  core::alias_bucket const* buckets;  ///< [num_edges]

  template <class Part>
  __device__ slot_pair operator()(Part const& part, std::uint32_t i, typename Part::vertex_type const& vertex,
                                  std::uint32_t slot) const
  {
    edge_id const first = part.first_edge(vertex);
    auto const draw = part.draws(i, vertex);
    return choose_pair<slot_pair>(slot, part.fanout(),
                                  [&](std::uint32_t j) { return one(draw, first, part.degree(vertex), j); });
  }

  /// Pick j of a vertex that has `degree` edges from `first` on.
  template <class Draw>
  [[nodiscard]] __device__ std::uint32_t one(Draw const& draw, edge_id first, std::uint32_t degree,
                                             std::uint32_t j) const
  {
    core::random_block const block = draw(j);
    std::uint32_t const item = core::bounded(block.low(), degree);
    return core::alias_choose(buckets[first + item], item, block.high());
  }
};

/// The last edges of a vertex, as many as there are, in order.
struct last_choice {
  template <class Part>
  __device__ slot_pair operator()(Part const& part, std::uint32_t, typename Part::vertex_type const& vertex,
                                  std::uint32_t slot) const
  {
    std::uint32_t const count = min(part.fanout(), part.degree(vertex));
    std::uint32_t const first = part.degree(vertex) - count;
    slot_pair out;
    if (slot < count) { out.first = first + slot; }
    if (slot + 1 < count) { out.second = first + slot + 1; }
    return out;
  }
};

/// Uniform, without replacement, for fan-outs of at most 64. A warp takes as many vertices as have lanes; lane l of a
/// vertex's has the slots 2 l and 2 l + 1. A loop is the warp's, so all lanes stay in it. The whole grid, of whole warps.
template <class Part>
__device__ __forceinline__ void pick_floyd_lanes(Part const& part)
{
  std::uint32_t const width = part.by_pairs.divisor();
  auto const lane = static_cast<std::uint32_t>(lane_id());
  std::uint32_t const group = part.by_pairs.quotient(lane);
  std::uint32_t const first_lane = group * width;
  std::uint32_t const pair = lane - first_lane;
  std::uint32_t const groups = part.by_pairs.quotient(warp_size);
  std::uint32_t const size = part.size();
  std::uint32_t const stride = gridDim.x * blockDim.x / warp_size * groups;
  for (std::uint32_t at = (blockIdx.x * blockDim.x + threadIdx.x) / warp_size * groups; at < size; at += stride) {
    std::uint32_t const i = at + group;
    bool const exists = group < groups && i < size;
    typename Part::vertex_type vertex;
    if (exists) { vertex = part.vertex(i); }
    slot_pair const picks = pick_by_lanes(first_lane, width, pair, part.fanout(), part.degree(vertex),
                                          [&](std::uint32_t own) { return part.draws(i, vertex)(own); });
    if (exists) { part.keep(i, 2 * pair, vertex, picks); }
    if constexpr (Part::grid_covers) { break; }
  }
}

template <class Part>
__global__ __launch_bounds__(pick_threads,
                             resident_picks<Part>) void floyd_lanes_kernel(Part const __grid_constant__ part)
{
  pick_floyd_lanes(part);
}

/// The same for any fan-out; a block a vertex, in a loop over the grid.
template <class Part>
__global__ __launch_bounds__(pick_table_threads) void floyd_tables_kernel(Part const __grid_constant__ part,
                                                                          table_space const space)
{
  extern __shared__ std::uint32_t shared[];
  candidate_table const table = space.table(shared);
  std::uint32_t const size = part.size();
  for (std::uint32_t i = blockIdx.x; i < size; i += gridDim.x) {
    typename Part::vertex_type const vertex = part.vertex(i);
    pick_by_table(table, part.fanout(), part.degree(vertex), part.draws(i, vertex),
                  [&](std::uint32_t slot, slot_pair const& picks) { part.keep(i, slot, vertex, picks); });
  }
}

template <class Work>
void enqueue_floyd_lanes(Work const& work, gpu_exec const& exec)
{
  std::int64_t const groups = warp_size / (work.fanout / 2 + work.fanout % 2);
  for_each_part(work, warp_size / groups + 1, [&]<class Part>(Part const& part) {
    auto* const kernel = floyd_lanes_kernel<Part>;
    std::int64_t const warps = (part.bound() + groups - 1) / groups;
    unsigned const blocks = pick_blocks<Part>(kernel, warps * warp_size, exec.device);
    kernel<<<blocks, pick_threads, 0, exec.stream>>>(part);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  });
}

/// Takes scratch memory for fan-outs of more than 4,096. @param any_drawn  Some vertex may have more edges than picks.
template <class Work>
void enqueue_floyd_tables(Work const& work, bool any_drawn, gpu_exec const& exec)
{
  auto* const kernel = floyd_tables_kernel<typename Work::part_type>;
  std::uint32_t const num_slots = any_drawn ? std::bit_ceil(2 * std::min(work.fanout, 0x40000000U)) : 0;
  std::int64_t const bytes = 2 * std::int64_t{num_slots} * 4;
  bool const in_shared = bytes <= static_cast<std::int64_t>(most_table_bytes);
  std::size_t const shared_bytes = in_shared ? static_cast<std::size_t>(bytes) : 0;
  if (shared_bytes > 48 << 10) {  // more than a kernel gets unasked
    TENDRIL_CUDA_TRY(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(most_table_bytes)));
  }
  std::int64_t most = resident_blocks(kernel, pick_table_threads, shared_bytes, exec.device);
  if (!in_shared) { most = std::clamp<std::int64_t>(most_pick_scratch / bytes, 1, most); }
  most = std::min(most, work.most_vertices);
  buffer<std::uint32_t> scratch(in_shared ? 0 : checked_product("scratch of blocks", most, bytes / 4), memory_of(exec));
  table_space const space{num_slots, in_shared ? nullptr : scratch.data()};
  for_each_part(work, 1, [&](auto const& part) {
    auto const blocks = static_cast<unsigned>(std::min(most, part.bound()));
    kernel<<<blocks, pick_table_threads, shared_bytes, exec.stream>>>(part, space);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  });
}

/// Uniform picks of all of `work`.
template <class Work>
void enqueue_uniform(Work const& work, bool replace, bool any_drawn, gpu_exec const& exec)
{
  if (replace) {
    enqueue_pairs(work, uniform_choice{}, exec);
  } else if (work.fanout <= most_lane_picks) {
    enqueue_floyd_lanes(work, exec);
  } else {
    enqueue_floyd_tables(work, any_drawn, exec);
  }
}

}  // namespace tendril::gpu
