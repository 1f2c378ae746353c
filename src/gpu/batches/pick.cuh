// What the kernels that choose neighbours for mini-batches share: whom a vertex is expanded for, where its edges are, how
// picks are kept: written, and put into the table that will number them (src/gpu/batches/table.hpp). How many vertices there are is read from device memory: grids are cut by the bound, and by what the
// device holds at once.

#pragma once

#include "core/draws.hpp"
#include "core/fast_divisor.hpp"
#include "core/its.hpp"  // no_pick
#include "core/temporal.hpp"
#include "gpu/batches/expand.hpp"
#include "gpu/device/launch.cuh"
#include "gpu/picks/pick_kernels.cuh"
#include "gpu/picks/targets.cuh"

namespace tendril::gpu {

inline constexpr int expand_threads = 256;

/// A vertex, its edges that count, and the draws it makes.
template <class View>
struct expanded_vertex {
  typename View::row_type row;
  edge_id first = 0;  ///< row.first_edge(), read once.
  std::uint32_t degree = 0;
  rng_key key{};
  std::uint64_t item = 0;
  std::uint32_t group = 0;
};

/// The vertex of row v, expanded for a group. Any thread.
template <class View>
__device__ __forceinline__ expanded_vertex<View> expand(expansion_on<View> const& what, vertex_id v,
                                                        std::uint32_t group)
{
  expanded_vertex<View> out;
  out.group = group;
  if (std::int64_t{v} >= what.graph.num_vertices) { return out; }
  batch_group const whom = what.groups[group];
  out.row = what.graph.row(v);
  out.first = out.row.first_edge();
  out.degree = out.row.degree();
  if (what.times != nullptr) { out.degree = core::edges_until(what.times + out.first, out.degree, whom.time); }
  out.key = whom.key;
  out.item = core::minibatch_draws::item_below(what.first_id + v, whom.tree);
  return out;
}

/// Vertex i of a part. Any thread.
template <class View>
__device__ __forceinline__ expanded_vertex<View> vertex_of(expansion_on<View> const& what, std::uint32_t i)
{
  return expand(what, what.vertices[i], what.group_of[i]);
}

/// Where in a vertex's row its pick is: the pick is of the order in time, where there is one. no_pick stays. Any thread.
__device__ __forceinline__ std::uint32_t position_of(expansion_slots const& what, edge_id first, std::uint32_t pick)
{
  return pick == core::no_pick || what.ordinal == nullptr ? pick : what.ordinal[first + pick];
}

/// The edge at a position of a row that begins at edge `first`; -1 for none. Any thread.
__device__ __forceinline__ edge_id edge_at(edge_id first, std::uint32_t position)
{
  return position == core::no_pick ? edge_id{-1} : first + position;
}

/// Puts picked vertices, target(i) each, no_vertex for none, into the table, or writes them. `slot` is the first one's in this
/// part. A neighbour is read once: the table's lines should stay in the cache. Any thread.
template <int Size, class Target>
__device__ __forceinline__ void put_in(expansion_slots const& what, std::uint32_t group, std::int64_t slot,
                                       Target target)
{
  pick_sink const& sink = what.sink;
  if (sink.neighbors != nullptr) {
#pragma unroll
    for (int i = 0; i < Size; ++i) { __stcs(sink.neighbors + slot + i, target(i)); }
  }
  if (sink.at == nullptr) { return; }
  std::uint32_t const first_stamp = *sink.first_stamp;
  std::uint32_t const stamp = stamp_of_group(first_stamp, sink.num_types, sink.to, group);
  insertion items[Size];
#pragma unroll
  for (int i = 0; i < Size; ++i) {
    // A neighbour that is no vertex of its type (hetero_graph::validate tells) has no room in the lists.
    vertex_id const v = target(i);
    items[i].wanted = v < sink.num_vertices;
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

/// Keeps the pick of a slot: an edge to target(0), or -1. Any thread.
template <class Target>
__device__ __forceinline__ void keep_edge(expansion_slots const& what, std::uint32_t group, std::int64_t slot,
                                          edge_id edge, Target target)
{
  __stcs(what.picked + slot, edge);
  put_in<1>(what, group, slot, target);
}

/// The target of a pick. Any thread.
template <class View>
__device__ __forceinline__ vertex_id target_of(expansion_on<View> const& what, typename View::row_type const& row,
                                               edge_id first, std::uint32_t position)
{
  return position == core::no_pick ? no_vertex
                                   : target_in(what.graph, row, first + position, position, streaming_load{});
}

/// Keeps one pick of vertex i. Any thread.
template <class View>
__device__ __forceinline__ void keep_pick(expansion_on<View> const& what, std::uint32_t i, std::uint32_t slot,
                                          expanded_vertex<View> const& vertex, std::uint32_t pick)
{
  std::uint32_t const position = position_of(what, vertex.first, pick);
  keep_edge(what, vertex.group, std::int64_t{i} * what.fanout + slot, edge_at(vertex.first, position),
            [&](int) { return target_of(what, vertex.row, vertex.first, position); });
}

/// Keeps the picks `slot` and, if there is one, slot + 1: with one store where they are aligned. Any thread.
template <class View>
__device__ __forceinline__ void keep_pair(expansion_on<View> const& what, std::uint32_t i, std::uint32_t slot,
                                          expanded_vertex<View> const& vertex, slot_pair const& picks)
{
  if (slot + 1 >= what.fanout) {
    keep_pick(what, i, slot, vertex, picks.first);
    return;
  }
  std::uint32_t const positions[2] = {position_of(what, vertex.first, picks.first),
                                      position_of(what, vertex.first, picks.second)};
  edge_id const edges[2] = {edge_at(vertex.first, positions[0]), edge_at(vertex.first, positions[1])};
  std::int64_t const at = std::int64_t{i} * what.fanout + slot;
  edge_id* const to = what.picked + at;
  if (reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
    __stcs(reinterpret_cast<longlong2*>(to), make_longlong2(edges[0], edges[1]));
  } else {
    __stcs(to, edges[0]);
    __stcs(to + 1, edges[1]);
  }
  put_in<2>(what, vertex.group, at, [&](int i) { return target_of(what, vertex.row, vertex.first, positions[i]); });
}

/// Some vertices of an expansion, few enough for 32-bit indices: what one launch expands. A `Part` of
/// src/gpu/picks/pick_kernels.cuh.
template <class View>
struct expansion_part {
  using vertex_type = expanded_vertex<View>;
  static constexpr bool grid_covers = false;

  expansion_on<View>
      what;  ///< Pointers are those of the first vertex of the part; num_vertices counts from the very first.
  std::int64_t first_vertex = 0;
  core::fast_divisor by_pairs;  ///< By the pairs of slots a vertex, the last of which may be half a pair.

  [[nodiscard]] std::int64_t bound() const { return what.most_vertices; }
  [[nodiscard]] __device__ std::uint32_t size() const
  {
    std::int64_t const left = *what.num_vertices - first_vertex;
    return static_cast<std::uint32_t>(max(std::int64_t{0}, min(left, what.most_vertices)));
  }
  [[nodiscard]] __device__ std::uint32_t fanout() const { return what.fanout; }
  [[nodiscard]] __device__ vertex_type vertex(std::uint32_t i) const { return vertex_of(what, i); }
  [[nodiscard]] __device__ std::uint32_t most_edges(std::uint32_t i) const
  {
    vertex_id const v = what.vertices[i];
    return std::int64_t{v} < what.graph.num_vertices ? what.graph.degree(v) : 0;
  }
  [[nodiscard]] static __device__ std::uint32_t degree(vertex_type const& vertex) { return vertex.degree; }
  [[nodiscard]] static __device__ edge_id first_edge(vertex_type const& vertex) { return vertex.first; }
  [[nodiscard]] static __device__ auto weights(vertex_type const& vertex) { return vertex.row.weights(); }
  [[nodiscard]] __device__ vertex_id id(std::uint32_t i) const { return what.vertices[i]; }
  [[nodiscard]] __device__ core::decision_draws<> draws(std::uint32_t, vertex_type const& vertex) const
  {
    return {vertex.key, vertex.item, what.step};
  }
  __device__ void keep(std::uint32_t i, std::uint32_t slot, vertex_type const& vertex, slot_pair const& picks) const
  {
    keep_pair(what, i, slot, vertex, picks);
  }
  __device__ void keep_one(std::uint32_t i, std::uint32_t slot, vertex_type const& vertex, std::uint32_t pick) const
  {
    keep_pick(what, i, slot, vertex, pick);
  }
};

/// Calls f(expansion) with the view of the graph's form in the place of its handle.
template <class F>
void with_view(expansion const& what, F f)
{
  what.graph.visit([&]<class View>(View const& graph) { f(expansion_on<View>{what, graph}); });
}

/// Calls launch(part) for all vertices of an expansion, in parts so small that `threads_a_vertex` threads each are less
/// than 2^31. All but the first are there for bounds beyond that alone.
template <class View, class Launch>
void for_each_part(expansion_on<View> const& what, std::int64_t threads_a_vertex, Launch launch)
{
  constexpr std::int64_t most_threads = 0x7fffff00;
  std::int64_t const most = std::clamp<std::int64_t>(most_threads / threads_a_vertex, 1, std::int64_t{1} << 30U);
  for (std::int64_t at = 0; at < what.most_vertices; at += most) {
    expansion_part<View> part{what, at, core::fast_divisor(std::max(what.fanout / 2 + what.fanout % 2, 1U))};
    part.what.most_vertices = std::min(most, what.most_vertices - at);
    part.what.vertices += at;
    part.what.group_of += at;
    part.what.picked += at * what.fanout;
    if (what.sink.at != nullptr) { part.what.sink.at += at * what.fanout; }
    if (what.sink.neighbors != nullptr) { part.what.sink.neighbors += at * what.fanout; }
    part.what.sink.first_slot += at * what.fanout;
    launch(static_cast<expansion_part<View> const&>(part));
  }
}

/// Blocks for work of `threads` threads at most, in a loop over the grid.
template <class Kernel>
unsigned loop_blocks(Kernel kernel, std::int64_t threads, int block_threads, std::size_t shared_bytes, int device)
{
  return grid_blocks(threads, block_threads, resident_blocks(kernel, block_threads, shared_bytes, device));
}

}  // namespace tendril::gpu
