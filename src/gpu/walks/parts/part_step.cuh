// The kernel of a step on a part: a thread a walker. It reads the row of the walker's vertex and a neighbour, counts the records
// for each rank, and leaves what it did in order; sorting by rank is a kernel of its own (sort.cu), since how much
// goes to a rank must be known before it can lie together.
//
// Bytes a step: 8 of the walker, a gather of its row, a gather of the neighbour, 8 written; 8 read and 8 written to sort.
// `Steps` (kernel.cuh) have
//   arrive(m, v, step)      here v counts from the first vertex of the part
//   choose(m, walk, step)   takes the step, but doesn't look at the place of the new vertex

#pragma once

#include "gpu/device/launch.cuh"
#include "gpu/walks/job.hpp"
#include "gpu/walks/moving/deliver.cuh"
#include "gpu/walks/outcome.cuh"
#include "gpu/walks/parts/part_step.hpp"

namespace tendril::gpu {

inline constexpr int part_step_threads = 256;

/// A walker takes a step. @return where it is then; no_vertex if its walk has ended.
template <class Steps>
__device__ vertex_id step_on_part(Steps const& steps, core::walk_ends const& ends, part_step const& at,
                                  moved_vertex const& walker)
{
  int const home = at.home_of(walker.walk);
  if (home == at.rank) { store_kept(at.place_in_row(walker.walk, at.step), walker.vertex); }
  std::uint64_t const walk = at.id_of(walker.walk, home);
  core::walk_turn const turn = at.may_end ? ends.turn(walk, at.step) : core::walk_turn::choose;
  vertex_id next = no_vertex;
  if (turn == core::walk_turn::restart) {
    next = at.starts[walker.walk];
  } else if (turn == core::walk_turn::choose) {
    typename Steps::memory memory;
    steps.arrive(memory, walker.vertex - at.bounds[at.rank], at.step);
    outcome const now = steps.choose(memory, walk, at.step);
    if (now.what == trial_outcome::moved) { next = now.next; }
  }
  if (home == at.rank && next != no_vertex) { store_kept(at.place_in_row(walker.walk, at.step + 1), next); }
  return next;
}

template <class Steps>
__global__ __launch_bounds__(part_step_threads,
                             Steps::resident_blocks) void part_step_kernel(Steps const steps, walk_batch const batch,
                                                                           core::walk_ends const ends,
                                                                           __grid_constant__ part_step const at)
{
  __shared__ part_step::count counts;
  auto* const words = reinterpret_cast<unsigned*>(&counts);
  constexpr unsigned num_words = sizeof counts / sizeof(unsigned);
  for (unsigned i = threadIdx.x; i < num_words; i += part_step_threads) { words[i] = 0; }
  __syncthreads();

  if (!at.begins) {
    deliver(at.told, at.num_told, at.columns + static_cast<std::int64_t>(at.step) * at.walks_each, at.first_here());
  }
  std::int64_t const size = at.begins ? batch.size : at.num_arrived;
  std::int64_t const stride = std::int64_t{gridDim.x} * part_step_threads;
  for (std::int64_t base = std::int64_t{blockIdx.x} * part_step_threads; base < size; base += stride) {
    std::int64_t const i = base + threadIdx.x;
    moved_vertex now{0, no_vertex};
    if (i < size && at.begins) {
      now = {at.first_here() + static_cast<std::uint32_t>(i), batch.starts[i]};
      at.columns[i] = now.vertex;
    } else if (i < size) {
      uint2 const record = __ldcs(reinterpret_cast<uint2 const*>(at.arrived + i));
      now = {record.x, step_on_part(steps, ends, at, {record.x, record.y})};
    }
    if (i < size) { store_once(at.stepped + i, now); }
    part_step::ways const to = at.ways_of(now);
    unsigned const taken = __ballot_sync(full_warp, !at.begins && now.vertex != no_vertex);
    for (int rank = 0; rank < at.num_ranks; ++rank) {
      unsigned const walkers = __ballot_sync(full_warp, to.walker == rank);
      unsigned const vertices = __ballot_sync(full_warp, to.vertex == rank);
      if (lane_id() == 0 && walkers != 0) {
        atomicAdd(counts.sent.walkers + rank, static_cast<unsigned>(__popc(walkers)));
      }
      if (lane_id() == 0 && vertices != 0) {
        atomicAdd(counts.sent.vertices + rank, static_cast<unsigned>(__popc(vertices)));
      }
    }
    if (lane_id() == 0) { atomicAdd(&counts.taken, static_cast<unsigned>(__popc(taken))); }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < num_words; i += part_step_threads) {
    if (words[i] != 0) { atomicAdd(reinterpret_cast<unsigned*>(at.counts) + i, words[i]); }
  }
}

/// Enqueues one step of the walkers that stand on this rank.
template <class Steps>
void launch_part_step(Steps const& steps, walk_batch const& batch, core::walk_ends const& ends, walk_shape const& shape)
{
  auto* const kernel = part_step_kernel<Steps>;
  static std::int64_t const resident = resident_blocks(kernel, part_step_threads, 0, shape.device);
  part_step const& at = *shape.on_part;
  std::int64_t const size = at.begins ? batch.size : std::max(at.num_arrived, at.num_told);
  kernel<<<grid_blocks(size, part_step_threads, part_waves * resident), part_step_threads, 0, shape.stream>>>(
      steps, batch, ends, at);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
