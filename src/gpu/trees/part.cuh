// What the kernels of k-hop trees share: which draws belong to a parent, where its edges are, how picks are written.

#pragma once

#include "core/fast_divisor.hpp"
#include "core/its.hpp"  // no_pick
#include "gpu/device/launch.cuh"
#include "gpu/graph/edge_tiles.cuh"  // row_of
#include "gpu/trees/khop.hpp"

namespace tendril::gpu {

/// Some parents of a hop, at most 2^30: what one launch expands.
template <class View>
struct khop_part {
  View graph;
  vertex_id const* parents;  ///< [num_parents]
  std::uint32_t num_parents;
  std::uint32_t fanout;
  core::fast_divisor by_pairs;  ///< By the pairs of picks a parent, the last of which may be half a pair.
  // Where one unit is a root: parent i is slot lead + slot_base + i, counted from the first slot of first_root. Of the
  // two one is 0: either a division finds the root, or all parents belong to one.
  core::fast_divisor by_root;
  std::uint32_t lead, slot_base;
  std::uint64_t first_root;
  // Else a search does.
  std::int64_t const* unit_begin;
  std::int64_t num_roots, a_unit;
  std::int64_t first_parent;
  core::key_schedule key;
  rng_key short_key;
  vertex_id* vertices;  ///< Of the part.
  edge_id* edges;       ///< Of the part, or null.
  walk_status* status;
};

/// What the draws of a parent are counted by.
struct khop_place {
  std::uint64_t root;
  std::uint32_t slot;
};

/// Any thread.
template <class View>
__device__ __forceinline__ khop_place place_of(khop_part<View> const& part, std::uint32_t parent)
{
  if (part.unit_begin == nullptr) {
    std::uint32_t const n = part.lead + parent;
    std::uint32_t const root = part.by_root.quotient(n);
    return {part.first_root + root, part.slot_base + n - root * part.by_root.divisor()};
  }
  std::int64_t const slot = part.first_parent + parent;
  std::int64_t const unit = part.a_unit == 1 ? slot : slot / part.a_unit;
  std::int64_t const root = row_of(part.unit_begin, 0, part.num_roots - 1, unit);
  return {part.first_root + static_cast<std::uint64_t>(root),
          static_cast<std::uint32_t>(slot - part.unit_begin[root] * part.a_unit)};
}

/// Any thread.
template <class View>
__device__ __forceinline__ typename View::row_type row_of_parent(khop_part<View> const& part, std::uint32_t parent)
{
  vertex_id const v = part.parents[parent];
  if (std::int64_t{v} < part.graph.num_vertices) { return part.graph.row(v); }
  if (part.status != nullptr) { part.status->bad_start = part.first_parent + parent; }
  return {};
}

/// Two picks: positions in the neighbourhood and vertices; no_pick and no_vertex where there is none.
struct pick_pair {
  std::uint32_t first = core::no_pick, second = core::no_pick;
  vertex_id first_vertex = no_vertex, second_vertex = no_vertex;
};

/// Looks up the vertices of a pair. Any thread.
template <class Row>
__device__ __forceinline__ void find_vertices(Row const& row, pick_pair& pair)
{
  if (pair.first != core::no_pick) { pair.first_vertex = row.neighbor(pair.first); }
  if (pair.second != core::no_pick) { pair.second_vertex = row.neighbor(pair.second); }
}

/// Writes the picks `slot` and, if there is one, slot + 1 of a parent: as one store where they are aligned. Trees are
/// written once and read by few: they leave the cache first. Any thread.
template <class View>
__device__ __forceinline__ void write_pair(khop_part<View> const& part, std::uint32_t parent, std::uint32_t slot,
                                           typename View::row_type const& row, pick_pair const& pair)
{
  std::int64_t const at = std::int64_t{parent} * part.fanout + slot;
  bool const has_second = slot + 1 < part.fanout;
  vertex_id* const to = part.vertices + at;
  if (has_second && reinterpret_cast<std::uintptr_t>(to) % 8 == 0) {
    __stcs(reinterpret_cast<uint2*>(to), make_uint2(pair.first_vertex, pair.second_vertex));
  } else {
    __stcs(to, pair.first_vertex);
    if (has_second) { __stcs(to + 1, pair.second_vertex); }
  }
  if (part.edges == nullptr) { return; }
  edge_id const first = row.empty() ? 0 : row.first_edge();
  auto const edge_of = [&](std::uint32_t pick) {
    return static_cast<long long>(pick == core::no_pick ? edge_id{-1} : first + pick);
  };
  auto* const edges = reinterpret_cast<long long*>(part.edges + at);
  __stcs(edges, edge_of(pair.first));
  if (has_second) { __stcs(edges + 1, edge_of(pair.second)); }
}

/// Writes one pick. Any thread.
template <class View>
__device__ __forceinline__ void write_pick(khop_part<View> const& part, std::uint32_t parent, std::uint32_t slot,
                                           typename View::row_type const& row, std::uint32_t pick)
{
  std::int64_t const at = std::int64_t{parent} * part.fanout + slot;
  bool const empty = pick == core::no_pick;
  part.vertices[at] = empty ? no_vertex : row.neighbor(pick);
  if (part.edges != nullptr) { part.edges[at] = empty ? edge_id{-1} : row.edge(pick); }
}

/// Calls launch(part) for all parents of a job, in parts so small that `threads_a_parent` threads each are less than
/// 2^31. `graph` is the view of the job's.
template <class View, class Launch>
void for_each_part(View const& graph, khop_job const& job, std::int64_t threads_a_parent, Launch launch)
{
  constexpr std::int64_t most_threads = 0x7fffff00;
  constexpr std::int64_t most_parents = std::int64_t{1} << 30U;
  std::int64_t const most = std::clamp<std::int64_t>(most_threads / threads_a_parent, 1, most_parents);
  hop_slots const& parents = job.parents;
  khop_part<View> part{};
  part.graph = graph;
  part.fanout = job.fanout;
  part.by_pairs = core::fast_divisor(job.fanout / 2 + job.fanout % 2);
  part.unit_begin = parents.unit_begin;
  part.num_roots = parents.num_roots;
  part.a_unit = parents.a_unit;
  part.key = core::key_schedule::of(job.key);
  part.short_key = job.key;
  part.status = job.status;
  // Numbers of slots that are divided stay below 2^31.
  bool const divides = parents.a_unit <= most_parents;
  part.by_root = core::fast_divisor(divides ? static_cast<std::uint32_t>(parents.a_unit) : 0x7fffffffU);
  std::int64_t count = 0;
  for (std::int64_t at = 0; at < parents.size; at += count) {
    count = std::min(most, parents.size - at);
    std::int64_t const root = at / parents.a_unit;
    auto const lead = static_cast<std::uint32_t>(at - root * parents.a_unit);
    part.lead = divides ? lead : 0;
    part.slot_base = divides ? 0 : lead;
    if (!divides && parents.unit_begin == nullptr) { count = std::min(count, (root + 1) * parents.a_unit - at); }
    part.first_root = job.first_root + (parents.unit_begin == nullptr ? static_cast<std::uint64_t>(root) : 0);
    part.first_parent = at;
    part.parents = parents.vertices + at;
    part.num_parents = static_cast<std::uint32_t>(count);
    part.vertices = job.vertices + at * job.fanout;
    part.edges = job.edges == nullptr ? nullptr : job.edges + at * job.fanout;
    launch(static_cast<khop_part<View> const&>(part));
  }
}

}  // namespace tendril::gpu
