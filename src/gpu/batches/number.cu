// Mini-batches, second part of a hop: new vertices are numbered in the order of the slots that picked them first, and
// edges are written, in one launch. CPU twin: src/cpu/minibatch*.cpp, which does both slot by slot.
//
// A tile of 1,024 slots learns from the table which of its slots came first for their vertices, adds up picks and firsts
// (src/gpu/batches/ranks.hpp), learns from the tiles before it what came before, and so knows the place of each edge and
// the number of each new vertex. It first leaves the new numbers where their slots' places were, for slots that came
// later (the table has told those which slot came first), and, if later launches will ask, in the table. Then it writes
// its edges.
//
// Why waiting for a number ends: the slot that came first lies in this tile, whose numbers are all on their way, or in a
// tile before. Blocks take tiles in order, so that one is being worked on by a block that runs, and to hand out its
// numbers it waits for tiles before it alone; the first tile waits for none. A thread never waits for a number before all
// lanes of its warp have left theirs.
//
// Floor: a slot of the table a pick whose vertex has no number yet (16 bytes of one sector, in the second-level cache for
// small batches), 12 bytes read in sequence, and 24 written an edge, 4 a vertex; at 4.6 TB/s 6 us for 750,000 picks of
// 1,024 seeds (15, 10, 5).

#include "gpu/batches/ranks.hpp"
#include "gpu/batches/shape.cuh"

namespace tendril::gpu {
namespace {

constexpr int number_threads = 256;
constexpr int number_warps = number_threads / warp_size;
constexpr int rows_a_warp = static_cast<int>(number_tile_slots) / number_threads;

/// What the threads of a block share about their tile.
struct tile_sums {
  rank_sum of_warp[number_warps];
  look_back_space<number_warps> looked;
  std::int64_t tile;
  bool last_block;
};

/// One slot, between the two halves of the work.
struct number_slot {
  std::uint32_t at;        ///< insertion::at.
  std::uint32_t x;         ///< Lower half of the value in the table, or the number that is known already.
  vertex_id vertex;        ///< The one that was picked.
  std::uint32_t expanded;  ///< The one it was picked for.
  std::uint32_t group;
  rank_sum rank;
};

/// What a batch had before this launch.
struct counts_before {
  std::int64_t known = 0, edges = 0, expanded = 0, first = 0, begin = 0;

  [[nodiscard]] static __device__ counts_before of(number_job const& job, std::uint32_t batch)
  {
    auto const value = [batch](std::int64_t const* column) { return column == nullptr ? 0 : column[batch]; };
    return {value(job.known), value(job.edges_before), value(job.expanded_before), value(job.first),
            value(job.from.begin)};
  }
};

/// Whether element `i` of a batch's part of an array has room. Memory is made for what is expected; if more comes, that is
/// told where a full table is, nothing is written beside its place, and the host makes the batch again.
__device__ __forceinline__ bool has_room(number_job const& job, std::int64_t i, std::int64_t stride)
{
  if (i < stride) { return true; }
  *job.table.full = 1;
  return false;
}

/// Where the edges of a batch's vertex i begin.
__device__ __forceinline__ void write_row_end(number_job const& job, edge_call const& out, std::int64_t batch,
                                              std::int64_t i, std::int64_t edge)
{
  if (has_room(job, i, out.indptr_stride)) { *(out.indptr + batch * out.indptr_stride + i) = edge; }
}

/// Puts the number of a vertex that is first seen here into the table, the batch, and the list of the next hop.
template <class Shape>
__device__ void put_vertex(number_job const& job, Shape const& shape, vertex_call const& to, std::uint32_t first_stamp,
                           number_slot& slot, std::int64_t known)
{
  std::uint32_t const stamp = stamp_of_group(first_stamp, job.view.num_types, job.to, slot.group);
  auto const number = static_cast<std::uint32_t>(known) + slot.rank.firsts;
  slot.x = numbered_as(number);
  if (job.keeps_numbers) { job.table.set_value(slot.at, stamped(stamp, slot.x)); }
  if (has_room(job, number, to.stride)) {
    std::uint32_t const batch = shape.batch_of(slot.group);
    std::int64_t const at = batch * to.stride + number;
    to.node[at] = slot.vertex;
    if (to.batch != nullptr) {
      to.batch[at] = slot.group - static_cast<std::int64_t>(batch) * shape.by_batch.divisor();
    }
  }
  if (job.next_vertices != nullptr) {
    std::int64_t const next = number - (job.next_base == nullptr ? 0 : *job.next_base);
    job.next_vertices[next] = slot.vertex;
    job.next_groups[next] = slot.group;
  }
}

/// The whole block.
template <class Shape, bool Seeds, bool Single, bool All>
__device__ void number_tile(number_job const& job, Shape const& shape, std::int64_t num_slots, std::int64_t tile,
                            counts_before const& of_single, tile_sums& sums)
{
  auto const lane = static_cast<std::uint32_t>(lane_id());
  int const warp = static_cast<int>(threadIdx.x) / warp_size;
  std::int64_t const first_slot = tile * number_tile_slots + warp * (rows_a_warp * warp_size) + lane;

  // What this warp knows by itself. Each kind of load for all rows first: they wait together.
  number_slot slots[rows_a_warp];
#pragma unroll
  for (int r = 0; r < rows_a_warp; ++r) {
    std::int64_t const s = first_slot + r * warp_size;
    slots[r].at = s < num_slots ? __ldcs(job.at + s + (Seeds ? shape.first_seed : 0)) : nowhere;
  }
#pragma unroll
  for (int r = 0; r < rows_a_warp; ++r) {
    number_slot& slot = slots[r];
    std::int64_t const s = first_slot + r * warp_size;
    slot.x = slot.at;
    slot.vertex = 0;
    if (!is_numbered(slot.at)) {  // nowhere looks like a number
      numbered_slot const held = job.table.read(slot.at);
      slot.x = low_half(held.value);
      slot.vertex = low_half(held.key);
    }
    slot.expanded = s < num_slots ? shape.expanded_of(static_cast<std::uint32_t>(s)) : 0;
    slot.group = s < num_slots ? shape.group_of(slot.expanded) : 0;
  }
  rank_sum sum;
#pragma unroll
  for (int r = 0; r < rows_a_warp; ++r) {
    number_slot& slot = slots[r];
    std::int64_t const s = first_slot + r * warp_size;
    rank_row row;
    row.edges = __ballot_sync(full_warp, slot.at != nowhere);
    row.firsts = __ballot_sync(full_warp, slot.x == waiting_at(static_cast<std::uint32_t>(s)));
    if constexpr (!Single) {
      row.heads = __ballot_sync(full_warp, s < num_slots && s == shape.first_slot(shape.batch_of(slot.group)));
    }
    slot.rank = rank_in_row(row, lane, sum);
    sum = behind_row(row, sum);
  }
  if (lane == 0) { sums.of_warp[warp] = sum; }
  __syncthreads();

  // What came before.
  rank_sum all;
  for (int w = 0; w < number_warps; ++w) { all = joined(all, sums.of_warp[w]); }
  // Volatile: one store of 8 bytes, which others see whole.
  auto volatile* const words = job.tiles;
  bool const complete = tile == 0 || all.cut;
  if (threadIdx.x == 0) { words[tile] = tile_word::of(complete ? tile_word::so_far : tile_word::own, all); }
  rank_sum before = tile == 0 ? rank_sum{} : look_back(job.tiles, tile, sums.looked);
  if (threadIdx.x == 0 && !complete) { words[tile] = tile_word::of(tile_word::so_far, joined(before, all)); }
  for (int w = 0; w < warp; ++w) { before = joined(before, sums.of_warp[w]); }

  // New vertices.
  vertex_call const to = job.view.vertices[job.to];
  std::uint32_t const first_stamp = job.view.call->first_stamp;
  for (int r = 0; r < rows_a_warp; ++r) {
    number_slot& slot = slots[r];
    std::int64_t const s = first_slot + r * warp_size;
    if (!slot.rank.cut) { slot.rank = {before.edges + slot.rank.edges, before.firsts + slot.rank.firsts, false}; }
    bool const picked = slot.at != nowhere;
    bool const first = slot.x == waiting_at(static_cast<std::uint32_t>(s));
    std::uint32_t const batch = shape.batch_of(slot.group);
    if (first) {
      std::int64_t const known = Single ? of_single.known : job.known == nullptr ? 0 : job.known[batch];
      put_vertex(job, shape, to, first_stamp, slot, known);
      if constexpr (!Seeds) { *const_cast<std::uint32_t volatile*>(job.at + s) = slot.x; }
    }
    if (s >= num_slots) { continue; }
    bool const tail = s + 1 == (Single ? num_slots : shape.first_slot(batch + 1));
    if (tail) {
      job.vertices_added[batch] = slot.rank.firsts + (first ? 1U : 0U);
      job.edges_added[batch] = slot.rank.edges + (picked ? 1U : 0U);
    }
  }
  if constexpr (Seeds) { return; }
  __syncwarp();

  // Edges.
  edge_call const out = job.view.edges[job.edge_type];
  if (out.row == nullptr) { return; }
  auto const volatile* const left = job.at;
  edge_id edges[rows_a_warp];
#pragma unroll
  for (int r = 0; r < rows_a_warp; ++r) {
    number_slot& slot = slots[r];
    edges[r] = slot.at != nowhere ? __ldcs(job.picked + first_slot + r * warp_size) : -1;
    if (!is_numbered(slot.x)) {  // from here on `at` is where the number will be
      slot.at = position_in(slot.x);
      slot.x = left[slot.at];
    }
  }
#pragma unroll
  for (int r = 0; r < rows_a_warp; ++r) {
    number_slot const& slot = slots[r];
    std::int64_t const s = first_slot + r * warp_size;
    if (s >= num_slots) { continue; }
    std::uint32_t const batch = shape.batch_of(slot.group);
    counts_before const counts = Single ? of_single : counts_before::of(job, batch);
    std::int64_t const index = counts.edges + slot.rank.edges;
    std::int64_t const in_batch = slot.expanded - counts.begin;
    if (!All && out.indptr != nullptr && s == static_cast<std::int64_t>(slot.expanded) * job.fanout) {
      write_row_end(job, out, batch, counts.expanded + in_batch, index);
    }
    if (slot.at == nowhere || !has_room(job, index, out.edge_stride)) { continue; }
    std::uint32_t x = slot.x;
    while (!is_numbered(x)) { x = left[slot.at]; }
    std::int64_t const at = batch * out.edge_stride + index;
    __stcs(out.row + at, counts.first + in_batch);
    __stcs(out.col + at, static_cast<std::int64_t>(number_in(x)));
    __stcs(out.edge + at, edges[r]);
  }
}

/// What the last block to finish does: the counts behind this launch, of every batch, also of those without a slot.
template <bool Seeds, bool Single>
__device__ void close_counts(number_job const& job, std::int64_t num_expanded)
{
  std::int64_t const num_batches = Single ? 1 : job.view.call->num_batches;
  for (std::int64_t b = threadIdx.x; b < num_batches; b += blockDim.x) {
    counts_before const before = counts_before::of(job, static_cast<std::uint32_t>(b));
    // Past the first-level cache: other blocks wrote them.
    std::int64_t const vertices = __ldcg(job.vertices_added + b);
    std::int64_t const edges = __ldcg(job.edges_added + b);
    job.vertices_added[b] = 0;
    job.edges_added[b] = 0;
    job.known_after[b] = before.known + vertices;
    if (job.next_count != nullptr) {
      *job.next_count = before.known + vertices - (job.next_base == nullptr ? 0 : *job.next_base);
    }
    if constexpr (Seeds) { continue; }
    std::int64_t const expanded = before.expanded + (Single ? num_expanded : job.from.begin[b + 1] - job.from.begin[b]);
    job.edges_after[b] = before.edges + edges;
    job.expanded_after[b] = expanded;
    edge_call const& out = job.view.edges[job.edge_type];
    // Where the next hop's first vertex will write the same, if there is one.
    if (out.indptr != nullptr) { write_row_end(job, out, b, expanded, before.edges + edges); }
  }
}

/// Whether the calling block is the last one, which then sees what all others wrote. The whole block.
__device__ bool is_last_block(unsigned int* done, bool& shared)
{
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) { shared = atomicAdd(done, 1U) == gridDim.x - 1; }
  __syncthreads();
  __threadfence();
  return shared;
}

template <bool Seeds, bool Single, bool All>
__global__ __launch_bounds__(number_threads, 4) void number_kernel(number_job const __grid_constant__ job)
{
  using shape_type = batch_shape<Seeds, Single, All>;
  __shared__ tile_sums sums;
  shape_type const shape(job);
  std::int64_t const num_slots = shape.num_slots();
  std::int64_t const num_tiles = (num_slots + number_tile_slots - 1) / number_tile_slots;
  counts_before const of_single = Single ? counts_before::of(job, 0) : counts_before{};
  while (true) {
    if (threadIdx.x == 0) { sums.tile = atomicAdd(job.ticket, 1U); }
    __syncthreads();
    std::int64_t const tile = sums.tile;
    if (tile >= num_tiles) { break; }
    number_tile<shape_type, Seeds, Single, All>(job, shape, num_slots, tile, of_single, sums);
    __syncthreads();  // all have read what the next tile overwrites
  }
  if (is_last_block(job.ticket + 1, sums.last_block)) { close_counts<Seeds, Single>(job, shape.num_expanded); }
}

/// Where each vertex's edges begin, if every slot has a pick, or none has.
template <bool Single>
__global__ __launch_bounds__(number_threads) void indptr_kernel(number_job const __grid_constant__ job)
{
  __shared__ bool last_block;
  std::int64_t const num_expanded = *job.from.num;
  edge_call const out = job.view.edges[job.edge_type];
  batch_shape<false, Single, true> const shape(job);
  for (std::int64_t i = global_thread(); i < num_expanded && out.indptr != nullptr; i += grid_stride()) {
    std::uint32_t const batch = shape.batch_of(job.from.group_of[i]);
    counts_before const counts = counts_before::of(job, batch);
    std::int64_t const before = job.offsets == nullptr ? 0 : job.offsets[i] - job.offsets[counts.begin];
    write_row_end(job, out, batch, counts.expanded + i - counts.begin, counts.edges + before);
  }
  if (job.at != nullptr) { return; }
  if (is_last_block(job.ticket + 1, last_block)) { close_counts<false, Single>(job, num_expanded); }
}

template <bool Seeds, bool Single, bool All>
void launch_number(number_job const& job, gpu_exec const& exec)
{
  constexpr auto kernel = number_kernel<Seeds, Single, All>;
  std::int64_t const threads = (job.most_slots + rows_a_warp - 1) / rows_a_warp;
  kernel<<<filling_blocks<kernel>(threads, number_threads, exec.device), number_threads, 0, exec.stream>>>(job);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace

void number_seeds(number_job const& job, gpu_exec const& exec)
{
  job.single ? launch_number<true, true, false>(job, exec) : launch_number<true, false, false>(job, exec);
}

void number_picks(number_job const& job, gpu_exec const& exec)
{
  if (job.single) {
    job.offsets != nullptr ? launch_number<false, true, true>(job, exec) : launch_number<false, true, false>(job, exec);
  } else {
    job.offsets != nullptr ? launch_number<false, false, true>(job, exec)
                           : launch_number<false, false, false>(job, exec);
  }
}

void write_indptr(number_job const& job, std::int64_t most_vertices, gpu_exec const& exec)
{
  constexpr auto one = indptr_kernel<true>;
  constexpr auto many = indptr_kernel<false>;
  if (job.single) {
    one<<<filling_blocks<one>(most_vertices, number_threads, exec.device), number_threads, 0, exec.stream>>>(job);
  } else {
    many<<<filling_blocks<many>(most_vertices, number_threads, exec.device), number_threads, 0, exec.stream>>>(job);
  }
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
