// What the kernels that choose neighbours for mini-batches share: whom a vertex is expanded for, where its edges are, how
// picks are kept: written, and put into the table that will number them (src/gpu/batches/table.hpp). How many vertices there are is read from device memory: grids are cut by the bound, and by what the
// device holds at once.

#pragma once

#include "core/fast_divisor.hpp"
#include "core/its.hpp"  // no_pick
#include "core/random.hpp"
#include "core/temporal.hpp"
#include "gpu/batches/expand.hpp"
#include "gpu/device/launch.cuh"
#include "gpu/picks/floyd_picks.cuh"  // slot_pair

namespace tendril::gpu {

inline constexpr int expand_threads = 256;

/// Some vertices of an expansion, few enough for 32-bit indices: what one launch expands.
struct expansion_part {
  expansion what;  ///< Pointers are those of the first vertex of the part; num_vertices counts from the very first.
  std::int64_t first_vertex = 0;
  core::fast_divisor by_pairs;  ///< By the pairs of slots a vertex, the last of which may be half a pair.

  /// How many there are. Any thread.
  [[nodiscard]] __device__ std::uint32_t size() const
  {
    std::int64_t const left = *what.num_vertices - first_vertex;
    return static_cast<std::uint32_t>(max(std::int64_t{0}, min(left, what.most_vertices)));
  }
};

/// A vertex, its edges that count, and the draws it makes.
struct expanded_vertex {
  edge_id first = 0;
  std::uint32_t degree = 0;
  rng_key key{};
  std::uint64_t item = 0;
  std::uint32_t group = 0;
};

/// Vertex v, expanded for a group. Any thread.
__device__ __forceinline__ expanded_vertex expand(expansion const& what, vertex_id v, std::uint32_t group)
{
  expanded_vertex out;
  out.group = group;
  if (std::int64_t{v} >= what.graph.num_vertices) { return out; }
  batch_group const whom = what.groups[group];
  out.first = what.graph.indptr[v];
  out.degree = static_cast<std::uint32_t>(what.graph.indptr[v + std::int64_t{1}] - out.first);
  if (what.times != nullptr) { out.degree = core::edges_until(what.times + out.first, out.degree, whom.time); }
  out.key = whom.key;
  out.item = std::uint64_t{v} | (std::uint64_t{whom.tree} << 32U);
  return out;
}

/// Vertex i of a part. Any thread.
__device__ __forceinline__ expanded_vertex vertex_of(expansion const& what, std::uint32_t i)
{
  return expand(what, what.vertices[i], what.group_of[i]);
}

/// The edge at a position of a vertex's list: of its order in time, where there is one. Any thread.
__device__ __forceinline__ edge_id edge_at(expansion const& what, edge_id first, std::uint32_t position)
{
  return first + (what.ordinal == nullptr ? position : what.ordinal[first + position]);
}

/// Puts the neighbours at the ends of some edges, -1 for none, into the table. `slot` is the first one's in this part.
/// A neighbour is read once, so that its line needn't stay: the table's should. Any thread.
template <int Size>
__device__ __forceinline__ void put_in(expansion const& what, std::uint32_t group, std::int64_t slot,
                                       edge_id const (&edges)[Size])
{
  pick_sink const& sink = what.sink;
  if (sink.at == nullptr) { return; }
  std::uint32_t const first_stamp = *sink.first_stamp;
  std::uint32_t const stamp = stamp_of_group(first_stamp, sink.num_types, sink.to, group);
  insertion items[Size];
#pragma unroll
  for (int i = 0; i < Size; ++i) {
    // A neighbour that is no vertex of its type (hetero_graph::validate tells) has no room in the lists.
    vertex_id const v = edges[i] >= 0 ? __ldcs(what.graph.indices + edges[i]) : no_vertex;
    items[i].wanted = edges[i] >= 0 && v < sink.num_vertices;
    items[i].key = stamped(stamp, v);
    items[i].position = static_cast<std::uint32_t>(sink.first_slot + slot + i);
  }
  sink.table.insert(items, first_stamp);
  std::uint32_t* const to = sink.at + slot;
  if constexpr (Size == 2) {
    if (reinterpret_cast<std::uintptr_t>(to) % 8 == 0) {
      *reinterpret_cast<uint2*>(to) = make_uint2(items[0].at, items[1].at);
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < Size; ++i) { to[i] = items[i].at; }
}

/// Keeps the pick of a slot, an edge or -1. Any thread.
__device__ __forceinline__ void keep_edge(expansion const& what, std::uint32_t group, std::int64_t slot, edge_id edge)
{
  __stcs(what.picked + slot, edge);
  edge_id const edges[1] = {edge};
  put_in(what, group, slot, edges);
}

/// Keeps one pick of vertex i. Any thread.
__device__ __forceinline__ void keep_pick(expansion const& what, std::uint32_t i, std::uint32_t slot,
                                          expanded_vertex const& vertex, std::uint32_t pick)
{
  edge_id const edge = pick == core::no_pick ? edge_id{-1} : edge_at(what, vertex.first, pick);
  keep_edge(what, vertex.group, std::int64_t{i} * what.fanout + slot, edge);
}

/// Keeps the picks `slot` and, if there is one, slot + 1: with one store where they are aligned. Any thread.
__device__ __forceinline__ void keep_pair(expansion const& what, std::uint32_t i, std::uint32_t slot,
                                          expanded_vertex const& vertex, slot_pair const& picks)
{
  if (slot + 1 >= what.fanout) {
    keep_pick(what, i, slot, vertex, picks.first);
    return;
  }
  auto const edge_of = [&](std::uint32_t pick) {
    return pick == core::no_pick ? edge_id{-1} : edge_at(what, vertex.first, pick);
  };
  edge_id const edges[2] = {edge_of(picks.first), edge_of(picks.second)};
  std::int64_t const at = std::int64_t{i} * what.fanout + slot;
  edge_id* const to = what.picked + at;
  if (reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
    __stcs(reinterpret_cast<longlong2*>(to), make_longlong2(edges[0], edges[1]));
  } else {
    __stcs(to, edges[0]);
    __stcs(to + 1, edges[1]);
  }
  put_in(what, vertex.group, at, edges);
}

/// Calls launch(part) for all vertices of an expansion, in parts so small that `threads_a_vertex` threads each are less
/// than 2^31. All but the first are there for bounds beyond that alone.
template <class Launch>
void for_each_part(expansion const& what, std::int64_t threads_a_vertex, Launch launch)
{
  constexpr std::int64_t most_threads = 0x7fffff00;
  std::int64_t const most = std::clamp<std::int64_t>(most_threads / threads_a_vertex, 1, std::int64_t{1} << 30U);
  for (std::int64_t at = 0; at < what.most_vertices; at += most) {
    expansion_part part{what, at, core::fast_divisor(std::max(what.fanout / 2 + what.fanout % 2, 1U))};
    part.what.most_vertices = std::min(most, what.most_vertices - at);
    part.what.vertices += at;
    part.what.group_of += at;
    part.what.picked += at * what.fanout;
    if (what.sink.at != nullptr) { part.what.sink.at += at * what.fanout; }
    part.what.sink.first_slot += at * what.fanout;
    launch(static_cast<expansion_part const&>(part));
  }
}

/// Blocks for work of `threads` threads at most, in a loop over the grid.
template <class Kernel>
unsigned loop_blocks(Kernel kernel, std::int64_t threads, int block_threads, std::size_t shared_bytes, int device)
{
  return grid_blocks(threads, block_threads, resident_blocks(kernel, block_threads, shared_bytes, device));
}

/// Picks that depend on no other picks: a thread makes two of one vertex. `Chooser` makes them: choose(part, vertex, slot),
/// for a vertex that has edges; of the second only what is a slot is used. Any grid.
template <class Chooser>
__global__ __launch_bounds__(expand_threads) void expand_pairs_kernel(Chooser const choose,
                                                                      expansion_part const __grid_constant__ part)
{
  std::uint32_t const num_pairs = part.size() * part.by_pairs.divisor();
  auto const stride = static_cast<std::uint32_t>(grid_stride());
  for (auto n = static_cast<std::uint32_t>(global_thread()); n < num_pairs; n += stride) {
    std::uint32_t const i = part.by_pairs.quotient(n);
    std::uint32_t const slot = 2 * (n - i * part.by_pairs.divisor());
    expanded_vertex const vertex = vertex_of(part.what, i);
    slot_pair picks;
    if (vertex.degree > 0) { picks = choose(part, vertex, slot); }
    keep_pair(part.what, i, slot, vertex, picks);
  }
}

template <class Chooser>
void expand_pairs(expansion const& what, Chooser choose, gpu_exec const& exec)
{
  std::int64_t const pairs = what.fanout / 2 + what.fanout % 2;
  auto* const kernel = expand_pairs_kernel<Chooser>;
  for_each_part(what, pairs, [&](expansion_part const& part) {
    unsigned const blocks = loop_blocks(kernel, part.what.most_vertices * pairs, expand_threads, 0, exec.device);
    kernel<<<blocks, expand_threads, 0, exec.stream>>>(choose, part);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  });
}

}  // namespace tendril::gpu
