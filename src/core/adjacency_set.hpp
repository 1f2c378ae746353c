// Is x a neighbour of u, in one access to memory almost always: the neighbours of every vertex as a hash set with open
// addressing, in buckets of 8 slots (32 bytes, one sector). Where a set lies follows from the vertex and its edges'
// place in the CSR, so that no table of offsets is read: vertex v, whose edges start at `first`, has the buckets from
// start(v) = ceil(3 first / 16) + v to start(v + 1). These are 1.5 slots an edge and up to one bucket more:
//   start(v + 1) - start(v) = ceil(3 (first + d) / 16) - ceil(3 first / 16) + 1 >= floor(3 d / 16) + 1 > 3 d / 16
// buckets, so more than 1.5 d slots, and at least 8. More slots than neighbours: one stays empty, and every search ends.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

namespace tendril::core {

inline constexpr std::uint32_t adjacency_bucket_slots = 8;

/// The buckets of one vertex.
struct adjacency_set_range {
  std::uint64_t first_bucket;
  std::uint32_t num_buckets;  ///< >= 1
};

/// The first bucket of row `row`, whose edges start at position `first`.
TENDRIL_HD std::uint64_t adjacency_set_start(std::uint64_t row, std::uint64_t first)
{
  return (3 * first + 15) / 16 + row;
}

/// The buckets of row `row`, which has the edges [first, first + degree).
TENDRIL_HD adjacency_set_range adjacency_set_place(std::uint64_t row, std::uint64_t first, std::uint32_t degree)
{
  std::uint64_t const start = adjacency_set_start(row, first);
  return {start, static_cast<std::uint32_t>(adjacency_set_start(row + 1, first + degree) - start)};
}

/// Slots that the sets of a graph take in all.
TENDRIL_HD std::int64_t adjacency_set_slots(std::int64_t num_vertices, edge_id num_edges)
{
  return static_cast<std::int64_t>(
      adjacency_bucket_slots *
      adjacency_set_start(static_cast<std::uint64_t>(num_vertices), static_cast<std::uint64_t>(num_edges)));
}

/// The bucket, counted from the set's first, where the search for x starts. The hash is lowbias32 by C. Wellons, two
/// rounds of multiply and xor-shift.
TENDRIL_HD std::uint32_t adjacency_set_bucket(std::uint32_t num_buckets, vertex_id x)
{
  std::uint32_t h = x;
  h = (h ^ (h >> 16U)) * 0x7feb352dU;
  h = (h ^ (h >> 15U)) * 0x846ca68bU;
  h ^= h >> 16U;
  return static_cast<std::uint32_t>((std::uint64_t{h} * num_buckets) >> 32U);
}

/// Whether the 8 slots at `slots` hold `x`, and whether one of them is empty. On the device: two loads of 16 bytes.
struct adjacency_bucket_answer {
  bool found;
  bool has_empty;
};

TENDRIL_HD adjacency_bucket_answer adjacency_bucket_ask(vertex_id const* slots, vertex_id x)
{
#ifdef __CUDA_ARCH__
  uint4 const a = __ldg(reinterpret_cast<uint4 const*>(slots));
  uint4 const b = __ldg(reinterpret_cast<uint4 const*>(slots) + 1);
  // Slots fill in order and are never emptied, so the last one tells whether the bucket is full.
  bool const found =
      ((a.x == x) | (a.y == x) | (a.z == x) | (a.w == x) | (b.x == x) | (b.y == x) | (b.z == x) | (b.w == x)) != 0;
  return {found, b.w == no_vertex};
#else
  bool found = false;
  for (std::uint32_t i = 0; i < adjacency_bucket_slots; ++i) { found |= slots[i] == x; }
  return {found, slots[adjacency_bucket_slots - 1] == no_vertex};
#endif
}

/// Whether the set at `place` contains x, a vertex. `slots` is aligned to 32 bytes and not changed meanwhile. Any
/// thread.
TENDRIL_HD bool adjacency_set_contains(vertex_id const* slots, adjacency_set_range const& place, vertex_id x)
{
  std::uint32_t bucket = adjacency_set_bucket(place.num_buckets, x);
  while (true) {
    auto const answer = adjacency_bucket_ask(slots + (place.first_bucket + bucket) * adjacency_bucket_slots, x);
    if (answer.found || answer.has_empty) { return answer.found; }
    bucket = bucket + 1 == place.num_buckets ? 0 : bucket + 1;
  }
}

/// Puts x into the set at `place`; a vertex that is there already stays there once. All slots are no_vertex at first.
/// On the device any number of threads may insert at once; on the host one at a time.
TENDRIL_HD void adjacency_set_insert(vertex_id* slots, adjacency_set_range const& place, vertex_id x)
{
  std::uint32_t bucket = adjacency_set_bucket(place.num_buckets, x);
  while (true) {
    vertex_id* const slot = slots + (place.first_bucket + bucket) * adjacency_bucket_slots;
    for (std::uint32_t i = 0; i < adjacency_bucket_slots; ++i) {
#ifdef __CUDA_ARCH__
      // A slot only ever changes from empty to a vertex: a vertex that is seen, however late, is there.
      vertex_id held = *const_cast<vertex_id volatile*>(slot + i);
      if (held == no_vertex) { held = atomicCAS(slot + i, no_vertex, x); }
#else
      vertex_id const held = slot[i];
      if (held == no_vertex) { slot[i] = x; }
#endif
      if (held == no_vertex || held == x) { return; }
    }
    bucket = bucket + 1 == place.num_buckets ? 0 : bucket + 1;
  }
}

}  // namespace tendril::core
