// Drawing one candidate from a place, by each rule that has tables. A proposer gives
//   place             where a walker's candidates lie;
//   locate(v, step)   the place of a vertex that is left at `step`;
//   propose(here, b)  a candidate from the bits of block b: `next` is no_vertex where there is none;
//   place_of(p, step) the place of a candidate that is left at `step`;
//   needs_whole_graph if its table tells of the vertices that it proposes: those of a part may be other ranks'.
// Any thread may call any of them. The rules are those of src/core; the CPU twin is src/cpu/walks/scalar_step.hpp.

#pragma once

#include "core/alias.hpp"
#include "core/its.hpp"
#include "core/weight_sums.hpp"
#include "gpu/walks/places.cuh"

namespace tendril::gpu {

struct candidate {
  vertex_id next;
};

/// A uniformly random neighbour: two dependent gathers a step, of which the first mostly hits a cache.
template <class Finder, class Targets>
struct uniform_proposer {
  Finder find;
  Targets targets;
  bool cached;  ///< Neighbours go through the first-level cache: better where the second one holds many of them.

  using place = typename Finder::place;
  using proposal = candidate;

  [[nodiscard]] __device__ place locate(vertex_id v, std::int32_t step) const { return find(v, step); }
  [[nodiscard]] __device__ proposal propose(place const& here, core::random_block const& bits) const
  {
    if (here.degree == 0) { return {no_vertex}; }
    return {targets.row(here).neighbor(core::bounded(bits.low(), here.degree), neighbor_load{cached})};
  }
  [[nodiscard]] __device__ place place_of(proposal const& p, std::int32_t step) const { return find(p.next, step); }
};

/// The same from triples of targets, through the first-level cache.
struct triple_proposer {
  compact_rows rows;
  std::uint64_t const* triples;

  static constexpr bool needs_whole_graph = true;

  using place = compact_rows::place;
  using proposal = candidate;

  [[nodiscard]] __device__ place locate(vertex_id v, std::int32_t) const { return rows(v); }
  [[nodiscard]] __device__ proposal propose(place const& here, core::random_block const& bits) const
  {
    if (here.degree == 0) { return {no_vertex}; }
    std::uint32_t const e = here.first_edge + core::bounded(bits.low(), here.degree);
    std::uint64_t const word = __ldg(triples + e / target_triples::targets);
    return {target_triples::get(word, e % target_triples::targets)};
  }
  [[nodiscard]] __device__ place place_of(proposal const& p, std::int32_t) const { return rows(p.next); }
};

/// A neighbour by alias table: the bucket holds both vertices it chooses between.
template <class Finder>
struct alias_proposer {
  Finder find;
  plan::alias_record const* buckets;

  using place = typename Finder::place;
  using proposal = candidate;

  [[nodiscard]] __device__ place locate(vertex_id v, std::int32_t step) const { return find(v, step); }
  [[nodiscard]] __device__ proposal propose(place const& here, core::random_block const& bits) const
  {
    if (here.degree == 0) { return {no_vertex}; }
    plan::alias_record const bucket = gather(buckets + here.first_edge + core::bounded(bits.low(), here.degree));
    return {core::alias_choose(bucket, bits.high())};
  }
  [[nodiscard]] __device__ place place_of(proposal const& p, std::int32_t step) const { return find(p.next, step); }
};

/// A neighbour by search in prefix sums.
template <class Finder, class Targets>
struct its_proposer {
  Finder find;
  std::uint64_t const* prefix_sums;
  Targets targets;

  using place = typename Finder::place;
  using proposal = candidate;

  [[nodiscard]] __device__ place locate(vertex_id v, std::int32_t step) const { return find(v, step); }
  [[nodiscard]] __device__ proposal propose(place const& here, core::random_block const& bits) const
  {
    if (here.degree == 0) { return {no_vertex}; }
    std::uint32_t const pick = core::its_pick(prefix_sums + here.first_edge, here.degree, bits.low());
    return {pick == core::no_pick ? no_vertex : targets.row(here).neighbor(pick, gather_load{})};
  }
  [[nodiscard]] __device__ place place_of(proposal const& p, std::int32_t step) const { return find(p.next, step); }
};

/// A neighbour by the sums that stand in for an alias table or prefix sums.
template <bool by_its, class Finder, class Targets>
struct summed_proposer {
  Finder find;
  core::weight_sum const* sums;
  Targets targets;
  typename Targets::weights_type weights;

  static constexpr int resident_blocks = 3;  // with four, registers are spilt

  using place = typename Finder::place;
  using proposal = candidate;

  [[nodiscard]] __device__ place locate(vertex_id v, std::int32_t step) const { return find(v, step); }
  [[nodiscard]] __device__ proposal propose(place const& here, core::random_block const& bits) const
  {
    if (here.degree == 0 || here.weights.total == 0) { return {no_vertex}; }
    auto const own = weights + here.first_edge;
    core::summed_row const row(here.weights, sums + here.first_edge / core::summed_edges,
                               [own](std::uint32_t i) { return read_weight(own, i, cached_load{}); });
    std::uint32_t pick = 0;
    if constexpr (by_its) {
      pick = core::summed_its_pick(row, bits.low());
    } else {
      pick = core::summed_alias_pick(row, bits.low(), bits.high());
    }
    return {targets.row(here).neighbor(pick, gather_load{})};
  }
  [[nodiscard]] __device__ place place_of(proposal const& p, std::int32_t step) const { return find(p.next, step); }
};

/// A uniformly random neighbour from hop records, which say where its own edges are: one gather a step.
struct uniform_hop_proposer {
  wide_rows rows;
  hop_record const* hops;

  static constexpr bool needs_whole_graph = true;

  using place = edge_range<edge_id>;
  struct proposal {
    vertex_id next;
    place there;
  };

  [[nodiscard]] __device__ place locate(vertex_id v, std::int32_t) const { return rows(v); }
  [[nodiscard]] __device__ proposal propose(place const& here, core::random_block const& bits) const
  {
    if (here.degree == 0) { return {no_vertex, {}}; }
    hop_record const record = gather(hops + here.first_edge + core::bounded(bits.low(), here.degree));
    return {record.neighbor, {record.first, record.degree}};
  }
  [[nodiscard]] __device__ place place_of(proposal const& p, std::int32_t) const { return p.there; }
};

/// The same from packed records of 8 bytes. Hubs whose degree doesn't fit are looked up: they are few, and stay in the
/// cache.
struct packed_hop_proposer {
  compact_rows rows;
  std::uint64_t const* hops;
  hop_packing packing;

  static constexpr bool needs_whole_graph = true;

  using place = compact_rows::place;
  struct proposal {
    vertex_id next;
    place there;
  };

  [[nodiscard]] __device__ place locate(vertex_id v, std::int32_t) const { return rows(v); }
  [[nodiscard]] __device__ proposal propose(place const& here, core::random_block const& bits) const
  {
    if (here.degree == 0) { return {no_vertex, {}}; }
    std::uint64_t const hop = gather(hops + here.first_edge + core::bounded(bits.low(), here.degree));
    return {packing.neighbor(hop), {packing.first(hop), packing.degree(hop)}};
  }
  [[nodiscard]] __device__ place place_of(proposal const& p, std::int32_t) const
  {
    return p.there.degree == packing.saturated() ? rows(p.next) : p.there;
  }
};

/// The same by alias table: buckets of 32 bytes, one sector of memory.
struct alias_hop_proposer {
  wide_rows rows;
  alias_hop_record const* buckets;

  static constexpr bool needs_whole_graph = true;

  using place = edge_range<edge_id>;
  struct proposal {
    vertex_id next;
    packed_place there;
  };

  [[nodiscard]] __device__ place locate(vertex_id v, std::int32_t) const { return rows(v); }
  [[nodiscard]] __device__ proposal propose(place const& here, core::random_block const& bits) const
  {
    if (here.degree == 0) { return {no_vertex, {}}; }
    auto const* const halves =
        reinterpret_cast<uint4 const*>(buckets + here.first_edge + core::bounded(bits.low(), here.degree));
    // Through the first-level cache, so that the second half finds the sector that the first one brought.
    uint4 const choice = __ldg(halves);
    uint4 const places = __ldg(halves + 1);
    bool const own = core::alias_keeps(choice.x | (std::uint64_t{choice.y} << 32U), bits.high());
    std::uint64_t const low = own ? places.x : places.z;
    std::uint64_t const high = own ? places.y : places.w;
    return {own ? choice.z : choice.w, {low | (high << 32U)}};
  }
  [[nodiscard]] __device__ place place_of(proposal const& p, std::int32_t) const
  {
    return {p.there.first(), p.there.degree()};
  }
};

/// A uniformly random neighbour with its weight, for rejection.
struct weighted_candidate {
  vertex_id next;
  float weight;
};

template <class Finder, class Targets>
struct weighted_proposer {
  Finder find;
  plan::edge_record const* edges;  ///< Null: read neighbours and weights.
  Targets targets;
  typename Targets::weights_type weights;
  core::weight_sum const* sums;

  using place = typename Finder::place;
  using proposal = weighted_candidate;

  [[nodiscard]] __device__ place locate(vertex_id v, std::int32_t step) const { return find(v, step); }
  [[nodiscard]] __device__ proposal propose(place const& here, core::random_block const& bits) const
  {
    if (here.degree == 0 || !(here.largest > 0)) { return {no_vertex, 0}; }
    std::uint32_t const i = core::bounded(bits.low(), here.degree);
    edge_id const e = here.first_edge + i;
    if (edges == nullptr) {
      return {targets.row(here).neighbor(i, gather_load{}), read_weight(weights, e, gather_load{})};
    }
    plan::edge_record const record = gather(edges + e);
    return {record.neighbor, record.weight};
  }
  /// The neighbour that an inverse transform picks, for steps whose trials ran out. The row has a positive weight.
  [[nodiscard]] __device__ vertex_id invert(place const& here, std::uint64_t bits) const
  {
    auto const own = weights + here.first_edge;
    auto const row = core::summed_row_of(here.largest, here.degree, sums + here.first_edge / core::summed_edges,
                                         [own](std::uint32_t i) { return read_weight(own, i, cached_load{}); });
    return targets.row(here).neighbor(core::summed_its_pick(row, bits), gather_load{});
  }
  [[nodiscard]] __device__ place place_of(proposal const& p, std::int32_t step) const { return find(p.next, step); }
};

}  // namespace tendril::gpu
