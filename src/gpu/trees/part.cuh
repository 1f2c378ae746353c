// What the kernels of k-hop trees share: which draws belong to a parent, where its edges are, how picks are written.

#pragma once

#include <algorithm>
#include <utility>

#include "core/draws.hpp"
#include "core/fast_divisor.hpp"
#include "core/its.hpp"  // no_pick
#include "gpu/device/launch.cuh"
#include "gpu/graph/edge_tiles.cuh"  // row_of
#include "gpu/picks/pick_kernels.cuh"
#include "gpu/trees/khop.hpp"

namespace tendril::gpu {

/// What the draws of a parent are counted by.
struct khop_place {
  std::uint64_t root;
  std::uint32_t slot;
};

/// The vertices of two slots, where a rule gives no positions; no_vertex where there is none.
struct vertex_pair {
  vertex_id first = no_vertex, second = no_vertex;
};

/// Parents that lie in the order of their slots.
struct ordered_parents {
  vertex_id const* vertices;
  // Where one unit is a root: parent i is slot lead + slot_base + i, counted from the first slot of first_root. Of the
  // two one is 0: either a division finds the root, or all parents belong to one.
  core::fast_divisor by_root;
  std::uint32_t lead, slot_base;
  std::uint64_t first_root;
  // Else a search does.
  std::int64_t const* unit_begin;
  std::int64_t num_roots, a_unit;
  std::int64_t first_parent;

  [[nodiscard]] __device__ vertex_id vertex(std::uint32_t parent) const { return vertices[parent]; }
  [[nodiscard]] __device__ std::int64_t number(std::uint32_t parent) const { return first_parent + parent; }
  [[nodiscard]] __device__ std::int64_t child_row(std::uint32_t parent) const { return parent; }
  [[nodiscard]] static __device__ edge_id edge(edge_id of_graph) { return of_graph; }

  [[nodiscard]] __device__ __forceinline__ khop_place place_of(std::uint32_t parent) const
  {
    if (unit_begin == nullptr) {
      std::uint32_t const n = lead + parent;
      std::uint32_t const root = by_root.quotient(n);
      return {first_root + root, slot_base + n - root * by_root.divisor()};
    }
    std::int64_t const slot = first_parent + parent;
    std::int64_t const unit = a_unit == 1 ? slot : slot / a_unit;
    std::int64_t const root = row_of(unit_begin, 0, num_roots - 1, unit);
    return {first_root + static_cast<std::uint64_t>(root),
            static_cast<std::uint32_t>(slot - unit_begin[root] * a_unit)};
  }
};

/// Parents that a rank asks about, in any order.
struct asked_parents {
  asked_slots of;
  core::fast_divisor by_root;
  std::uint64_t first_root;
  std::int64_t first_parent;

  [[nodiscard]] __device__ vertex_id vertex(std::uint32_t parent) const { return of.slots[parent].row; }
  [[nodiscard]] __device__ std::int64_t number(std::uint32_t parent) const { return first_parent + parent; }
  [[nodiscard]] __device__ std::int64_t child_row(std::uint32_t parent) const
  {
    return of.in_place ? std::int64_t{of.slots[parent].slot} : std::int64_t{parent};
  }
  [[nodiscard]] __device__ edge_id edge(edge_id of_part) const { return of.first_edge + of_part; }

  [[nodiscard]] __device__ __forceinline__ khop_place place_of(std::uint32_t parent) const
  {
    if (of.places != nullptr) {
      tree_place const place = of.places[parent];
      return {first_root + place.root, place.slot};
    }
    std::uint32_t const slot = of.slots[parent].slot;
    std::uint32_t const root = by_root.quotient(slot);
    return {first_root + root, slot - root * by_root.divisor()};
  }
};

/// Some parents of a hop, at most 2^30: what one launch expands. A `Part` of src/gpu/picks/pick_kernels.cuh. `Parents` tell of
/// parent i: vertex(i), its row; number(i), among all parents of the job; place_of(i), for its draws; child_row(i), where its
/// children go; edge(e), what an edge is called.
template <class View, class Parents>
struct khop_part {
  using vertex_type = typename View::row_type;
  static constexpr bool grid_covers = true;

  View graph;
  Parents parents;
  std::uint32_t num_parents;
  std::uint32_t num_slots;      ///< The fan-out.
  core::fast_divisor by_pairs;  ///< By the pairs of picks a parent, the last of which may be half a pair.
  core::key_schedule key;
  vertex_id* vertices;  ///< Of the part.
  edge_id* edges;       ///< Of the part, or null.
  walk_status* status;

  [[nodiscard]] std::int64_t bound() const { return num_parents; }
  [[nodiscard]] __device__ std::uint32_t size() const { return num_parents; }
  [[nodiscard]] __device__ std::uint32_t fanout() const { return num_slots; }
  [[nodiscard]] __device__ std::uint32_t most_edges(std::uint32_t parent) const
  {
    vertex_id const v = parents.vertex(parent);
    return std::int64_t{v} < graph.num_vertices ? graph.degree(v) : 0;
  }
  [[nodiscard]] static __device__ std::uint32_t degree(vertex_type const& row) { return row.degree(); }
  [[nodiscard]] static __device__ edge_id first_edge(vertex_type const& row) { return row.first_edge(); }
  [[nodiscard]] static __device__ auto weights(vertex_type const& row) { return row.weights(); }
  [[nodiscard]] __device__ vertex_id id(std::uint32_t parent) const { return parents.vertex(parent); }

  [[nodiscard]] __device__ __forceinline__ vertex_type vertex(std::uint32_t parent) const
  {
    vertex_id const v = parents.vertex(parent);
    if (std::int64_t{v} < graph.num_vertices) { return graph.row(v); }
    if (status != nullptr) { status->bad_start = parents.number(parent); }
    return {};
  }

  [[nodiscard]] __device__ auto draws(std::uint32_t parent, vertex_type const&) const
  {
    khop_place const place = parents.place_of(parent);
    return core::khop_draws(key, place.root, place.slot);
  }

  __device__ __forceinline__ void keep(std::uint32_t parent, std::uint32_t slot, vertex_type const& row,
                                       slot_pair const& picks) const
  {
    vertex_pair found;
    bool const has_first = picks.first != core::no_pick;
    bool const has_second = picks.second != core::no_pick;
    if (has_first || has_second) {
      if constexpr (View::targets_by_number) {
        if (has_first) { found.first = row.neighbor(picks.first); }
        if (has_second) { found.second = row.neighbor(picks.second); }
      } else {  // an edge that was not picked is read, too, and dropped
        auto const both = row.neighbors(has_first ? picks.first : picks.second, has_second ? picks.second : picks.first,
                                        list_codes::quad_load{});
        if (has_first) { found.first = both.first; }
        if (has_second) { found.second = both.second; }
      }
    }
    std::int64_t const at = keep(parent, slot, row, found);
    if (edges == nullptr) { return; }
    edge_id const first = parents.edge(row.empty() ? 0 : row.first_edge());
    auto const edge_of = [&](std::uint32_t pick) {
      return static_cast<long long>(pick == core::no_pick ? edge_id{-1} : first + pick);
    };
    auto* const to = reinterpret_cast<long long*>(edges + at);
    __stcs(to, edge_of(picks.first));
    if (slot + 1 < num_slots) { __stcs(to + 1, edge_of(picks.second)); }
  }

  /// Writes vertices: as one store where they are aligned. Trees are written once and read by few: they leave the cache
  /// first. Returns where the slot is.
  __device__ __forceinline__ std::int64_t keep(std::uint32_t parent, std::uint32_t slot, vertex_type const&,
                                               vertex_pair const& found) const
  {
    std::int64_t const at = parents.child_row(parent) * num_slots + slot;
    bool const has_second = slot + 1 < num_slots;
    vertex_id* const to = vertices + at;
    if (has_second && reinterpret_cast<std::uintptr_t>(to) % 8 == 0) {
      __stcs(reinterpret_cast<uint2*>(to), make_uint2(found.first, found.second));
    } else {
      __stcs(to, found.first);
      if (has_second) { __stcs(to + 1, found.second); }
    }
    return at;
  }

  /// Writes one pick. Any thread.
  __device__ __forceinline__ void keep_one(std::uint32_t parent, std::uint32_t slot, vertex_type const& row,
                                           std::uint32_t pick) const
  {
    std::int64_t const at = parents.child_row(parent) * num_slots + slot;
    bool const empty = pick == core::no_pick;
    vertices[at] = empty ? no_vertex : row.neighbor(pick, list_codes::quad_load{});
    if (edges != nullptr) { edges[at] = empty ? edge_id{-1} : parents.edge(row.edge(pick)); }
  }
};

/// A hop through the view of the job's graph.
template <class View, class Parents>
struct khop_work {
  using part_type = khop_part<View, Parents>;

  View graph;
  khop_job const& job;
  std::uint32_t fanout = job.fanout;
  std::int64_t most_vertices = job.parents.size;

  /// What all launches have in common.
  [[nodiscard]] part_type part() const
  {
    part_type out{};
    out.graph = graph;
    out.num_slots = job.fanout;
    out.by_pairs = core::fast_divisor(job.fanout / 2 + job.fanout % 2);
    out.key = core::key_schedule::of(job.key);
    out.status = job.status;
    return out;
  }
};

/// Calls f(work) with the hop through the view of the job's graph.
template <class F>
void with_view(khop_job const& job, F f)
{
  job.graph.visit([&]<class View>(View const& graph) {
    if (job.asked != nullptr) {
      f(khop_work<View, asked_parents>{graph, job});
    } else {
      f(khop_work<View, ordered_parents>{graph, job});
    }
  });
}

/// The most parents of a launch with `threads_a_parent` threads each, so that these are less than 2^31.
inline std::int64_t most_parents_a_launch(std::int64_t threads_a_parent)
{
  return std::clamp<std::int64_t>(0x7fffff00 / threads_a_parent, 1, std::int64_t{1} << 30U);
}

/// Calls launch(part) for all parents of a hop, in parts of which each is one launch.
template <class View, class Launch>
void for_each_part(khop_work<View, ordered_parents> const& work, std::int64_t threads_a_parent, Launch launch)
{
  khop_job const& job = work.job;
  hop_slots const& slots = job.parents;
  auto part = work.part();
  ordered_parents& parents = part.parents;
  parents.unit_begin = slots.unit_begin;
  parents.num_roots = slots.num_roots;
  parents.a_unit = slots.a_unit;
  // Numbers of slots that are divided stay below 2^31.
  bool const divides = slots.a_unit <= std::int64_t{1} << 30U;
  parents.by_root = core::fast_divisor(divides ? static_cast<std::uint32_t>(slots.a_unit) : 0x7fffffffU);
  std::int64_t count = 0;
  for (std::int64_t at = 0; at < slots.size; at += count) {
    count = std::min(most_parents_a_launch(threads_a_parent), slots.size - at);
    std::int64_t const root = at / slots.a_unit;
    auto const lead = static_cast<std::uint32_t>(at - root * slots.a_unit);
    parents.lead = divides ? lead : 0;
    parents.slot_base = divides ? 0 : lead;
    if (!divides && slots.unit_begin == nullptr) { count = std::min(count, (root + 1) * slots.a_unit - at); }
    parents.first_root = job.first_root + (slots.unit_begin == nullptr ? static_cast<std::uint64_t>(root) : 0);
    parents.first_parent = at;
    parents.vertices = slots.vertices + at;
    part.num_parents = static_cast<std::uint32_t>(count);
    part.vertices = job.vertices + at * job.fanout;
    part.edges = job.edges == nullptr ? nullptr : job.edges + at * job.fanout;
    launch(std::as_const(part));
  }
}

/// The same for parents that a rank asks about.
template <class View, class Launch>
void for_each_part(khop_work<View, asked_parents> const& work, std::int64_t threads_a_parent, Launch launch)
{
  khop_job const& job = work.job;
  auto part = work.part();
  part.parents = {*job.asked, core::fast_divisor(job.asked->a_root), job.first_root, 0};
  std::int64_t count = 0;
  for (std::int64_t at = 0; at < job.parents.size; at += count) {
    count = std::min(most_parents_a_launch(threads_a_parent), job.parents.size - at);
    std::int64_t const first = job.asked->in_place ? 0 : at * job.fanout;
    part.parents.of.slots = job.asked->slots + at;
    part.parents.of.places = job.asked->places == nullptr ? nullptr : job.asked->places + at;
    part.parents.first_parent = at;
    part.num_parents = static_cast<std::uint32_t>(count);
    part.vertices = job.vertices + first;
    part.edges = job.edges == nullptr ? nullptr : job.edges + first;
    launch(std::as_const(part));
  }
}

}  // namespace tendril::gpu
