// How LABOR's kernels read the row of a vertex and see who is taken. A candidate is a position in the vertex's row, or in its
// order of times. The rule: src/core/labor.hpp.
//
// `Numbers` is core::independent_labor_numbers or core::labor_numbers: kernels exist for both, since dependent batches take a
// second block for each candidate.

#pragma once

#include <algorithm>
#include <type_traits>

#include "core/labor.hpp"
#include "gpu/batches/labor.hpp"
#include "gpu/batches/pick.cuh"

namespace tendril::gpu {

inline constexpr int labor_long_threads = 512;
inline constexpr int labor_long_warps = labor_long_threads / warp_size;
inline constexpr int rows_at_once = 4;       // of 32 candidates, for a warp that works alone
inline constexpr int long_rows_at_once = 8;  // likewise, for a warp of a block that has a vertex

/// A vertex that asks.
template <class View, class Numbers>
struct asking_vertex {
  expanded_vertex<View> vertex;
  Numbers numbers;
  core::labor_choice choice;

  [[nodiscard]] __device__ std::uint32_t degree() const { return vertex.degree; }
};

/// The random numbers of a vertex's batch. Any thread.
template <class Numbers, class View>
__device__ __forceinline__ Numbers numbers_of(expansion_on<View> const& what, labor_job const& job,
                                              expanded_vertex<View> const& vertex)
{
  if constexpr (std::is_same_v<Numbers, core::independent_labor_numbers>) {
    return {vertex.key};
  } else {
    return Numbers::of(job.seed, what.groups[vertex.group].batch, job.dependency);
  }
}

/// Vertex i of an expansion. Any thread.
template <class Numbers, class View>
__device__ __forceinline__ asking_vertex<View, Numbers> asking(expansion_on<View> const& what, labor_job const& job,
                                                               std::uint32_t i)
{
  asking_vertex<View, Numbers> out;
  out.vertex = vertex_of(what, i);
  out.numbers = numbers_of<Numbers>(what, job, out.vertex);
  out.choice = core::labor_choice::of(job.fanout, out.vertex.degree);
  return out;
}

/// Reads `Rows` rows of 32 candidates from candidate `begin` on, of which there are `left` > 0 more, and says in each mask
/// who is taken; the vertex doesn't take all. No lane leaves the others: lanes without a candidate read the last one again.
/// @tparam Whole  There are candidates for all lanes. A whole warp; valid in every lane.
template <int Rows, bool Whole, class View, class Numbers>
__device__ __forceinline__ void draw_rows(expansion_on<View> const& what, asking_vertex<View, Numbers> const& v,
                                          std::uint32_t begin, std::uint32_t left, unsigned (&masks)[Rows])
{
  auto const lane = static_cast<std::uint32_t>(lane_id());
  vertex_id neighbors[Rows];
  // 64 bits: then the addresses of all rows are one address and constants.
  std::uint64_t const own = std::uint64_t{begin} + lane;
  auto const read = [&](auto position_of_candidate) {
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      std::uint64_t candidate = own + r * warp_size;
      if constexpr (!Whole) { candidate = min(candidate, std::uint64_t{begin} + left - 1); }
      std::uint64_t const position = position_of_candidate(candidate);
      neighbors[r] = target_in(what.graph, v.vertex.row, v.vertex.first + static_cast<edge_id>(position),
                               static_cast<std::uint32_t>(position), streaming_load{});
    }
  };
  if (what.ordinal == nullptr) {
    read([](std::uint64_t candidate) { return candidate; });
  } else {
    read([&](std::uint64_t candidate) -> std::uint64_t {
      return what.ordinal[v.vertex.first + static_cast<edge_id>(candidate)];
    });
  }
  auto const half = static_cast<std::uint32_t>(v.vertex.item >> 32U);
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    std::uint64_t const item = core::minibatch_draws::item_below(neighbors[r], half);
    bool taken = v.choice.is_below(v.numbers.of(item, what.step));
    if constexpr (!Whole) { taken = taken && r * warp_size + lane < left; }
    masks[r] = __ballot_sync(full_warp, taken);
  }
}

/// Calls put(mask, candidate) for rows of 32 candidates of [begin, begin + left), in order, in which someone is taken:
/// `mask` says who, `candidate` is the first one's. The vertex doesn't take all. A whole warp.
template <class View, class Numbers, class Put>
__device__ __forceinline__ void draw_by_warp(expansion_on<View> const& what, asking_vertex<View, Numbers> const& v,
                                             std::uint32_t begin, std::uint32_t left, Put put)
{
  auto const rows = [&]<int Rows, bool Whole>() {
    unsigned masks[Rows];
    draw_rows<Rows, Whole>(what, v, begin, left, masks);
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      if (masks[r] != 0) { put(masks[r], begin + r * warp_size); }
    }
  };
  constexpr std::uint32_t at_once = rows_at_once * warp_size;
  for (; left >= at_once; begin += at_once, left -= at_once) { rows.template operator()<rows_at_once, true>(); }
  if (left > at_once / 2) {
    rows.template operator()<rows_at_once, false>();
  } else if (left > warp_size) {
    rows.template operator()<rows_at_once / 2, false>();
  } else if (left > 0) {
    rows.template operator()<1, false>();
  }
}

/// What the warps of a block share about a row: two turns, so that one barrier a turn is enough.
struct row_sums {
  std::uint32_t of_warp[2][labor_long_warps];
};

/// As draw_rows, of any vertex, from candidate `begin` on, of which there may be none.
template <int Rows, class View, class Numbers>
__device__ __forceinline__ void take_rows(expansion_on<View> const& what, asking_vertex<View, Numbers> const& v,
                                          std::uint64_t begin, unsigned (&masks)[Rows])
{
  constexpr std::uint32_t size = Rows * warp_size;
  auto const left = static_cast<std::uint32_t>(begin < v.degree() ? min(v.degree() - begin, std::uint64_t{size}) : 0);
  if (v.choice.all || left == 0) {
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      masks[r] = __ballot_sync(full_warp, static_cast<std::uint32_t>(r * warp_size + lane_id()) < left);
    }
  } else if (left == size) {
    draw_rows<Rows, true>(what, v, static_cast<std::uint32_t>(begin), left, masks);
  } else {
    draw_rows<Rows, false>(what, v, static_cast<std::uint32_t>(begin), left, masks);
  }
}

/// Calls put(place among the picks, candidate) for each candidate that is taken. The whole block, of labor_long_threads.
/// @return  How many there are, in every thread.
template <class View, class Numbers, class Put>
__device__ std::uint32_t read_by_block(expansion_on<View> const& what, asking_vertex<View, Numbers> const& v,
                                       row_sums& sums, Put put)
{
  auto const lane = static_cast<std::uint32_t>(lane_id());
  std::uint32_t const below = (1U << lane) - 1U;
  std::uint32_t const warp = threadIdx.x / warp_size;
  std::uint32_t count = 0;
  int turn = 0;
  for (std::uint64_t begin = 0; begin < v.degree(); begin += long_rows_at_once * labor_long_threads) {
    std::uint64_t const first = begin + warp * (long_rows_at_once * warp_size);
    unsigned masks[long_rows_at_once];
    take_rows(what, v, first, masks);
    std::uint32_t own = 0;
#pragma unroll
    for (unsigned const mask : masks) { own += static_cast<std::uint32_t>(__popc(mask)); }
    if (lane == 0) { sums.of_warp[turn][warp] = own; }
    __syncthreads();
    std::uint32_t at = count;
    for (std::uint32_t w = 0; w < labor_long_warps; ++w) {
      std::uint32_t const of_warp = sums.of_warp[turn][w];
      at += w < warp ? of_warp : 0;
      count += of_warp;
    }
#pragma unroll
    for (int r = 0; r < long_rows_at_once; ++r) {
      if ((masks[r] >> lane & 1U) != 0) {
        put(at + static_cast<std::uint32_t>(__popc(masks[r] & below)),
            static_cast<std::uint32_t>(first + static_cast<std::uint64_t>(r * warp_size) + lane));
      }
      at += static_cast<std::uint32_t>(__popc(masks[r]));
    }
    turn ^= 1;  // who writes a turn's sums again has passed the barrier of the other turn, as all have who read them
  }
  __syncthreads();  // the next row begins with turn 0
  return count;
}

/// Calls f<Numbers>(expansion) with the view of the graph's form and the numbers of the job's batches.
template <class F>
void with_numbers(expansion const& what, labor_job const& job, F f)
{
  with_view(what, [&](auto const& seen) {
    if (job.dependency == 1) {
      f.template operator()<core::independent_labor_numbers>(seen);
    } else {
      f.template operator()<core::labor_numbers>(seen);
    }
  });
}

}  // namespace tendril::gpu
