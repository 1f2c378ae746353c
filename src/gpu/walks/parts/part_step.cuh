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
#include "gpu/walks/counts.cuh"
#include "gpu/walks/job.hpp"
#include "gpu/walks/moving/deliver.cuh"
#include "gpu/walks/outcome.cuh"
#include "gpu/walks/parts/part_step.hpp"
#include "gpu/walks/parts/record_counts.cuh"

namespace tendril::gpu {

inline constexpr int part_step_threads = 256;

__device__ __forceinline__ moved_vertex load_walker(moved_vertex const* from)
{
  uint2 const words = __ldcs(reinterpret_cast<uint2 const*>(from));
  return {words.x, words.y};
}
__device__ __forceinline__ trailing_walker load_walker(trailing_walker const* from)
{
  return {__ldcs(&from->walk), __ldcs(&from->vertex), __ldcs(&from->previous)};
}
__device__ __forceinline__ void store_once(trailing_walker* to, trailing_walker const& w) { *to = w; }

/// Writes vertices and ends that came to their home. The whole grid.
template <class Walker>
__device__ __forceinline__ void deliver_told(part_step<Walker> const& at)
{
  vertex_id* const column = at.columns + static_cast<std::int64_t>(at.step) * at.walks_each;
  for (std::int64_t i = global_thread(); i < at.num_told; i += grid_stride()) {
    moved_vertex const told = load_walker(at.told + i);
    std::uint32_t const walk = told.walk - at.first_here();
    if (told.vertex != no_vertex) {
      store_kept(column + walk, told.vertex);
    } else {
      at.dead[walk] = 1;
    }
  }
}

/// A walker has come to its vertex.
template <class Walker>
__device__ __forceinline__ void note_arrival(part_step<Walker> const& at, Walker const& walker, int home)
{
  if (!at.keeps_rows()) {
    count_visit(at.counters, walker.vertex);
  } else if (home == at.rank) {
    store_kept(at.place_in_row(walker.walk, at.step), walker.vertex);
  }
}

/// One that was at `from` has taken its step, or its walk has ended there.
template <class Walker>
__device__ __forceinline__ void note_step(part_step<Walker> const& at, vertex_id from, Walker const& now, int home)
{
  if (now.vertex == no_vertex) {
    count_end(at.counters, from);
  } else if (home == at.rank && at.keeps_rows()) {
    store_kept(at.place_in_row(now.walk, at.step + 1), now.vertex);
  }
}

/// Takes the steps of all walkers that are here. The whole grid.
/// @param take  (i, walker, home) -> where it is after its step, or part_step::ended.
template <class Walker, class Take>
__device__ void take_steps(part_step<Walker> const& at, vertex_id const* starts, std::int64_t num_starts,
                           record_counts<typename part_step<Walker>::tally>& counts, Take const& take)
{
  counts.clear();
  if (!at.begins) { deliver_told(at); }
  std::int64_t const size = at.begins ? num_starts : at.num_arrived;
  std::int64_t const stride = std::int64_t{gridDim.x} * part_step_threads;
  for (std::int64_t base = std::int64_t{blockIdx.x} * part_step_threads; base < size; base += stride) {
    std::int64_t const i = base + threadIdx.x;
    Walker now = part_step<Walker>::ended(0, false);
    if (i < size && at.begins) {
      now = walker_at<Walker>(at.first_here() + static_cast<std::uint32_t>(i), starts[i], no_vertex);
      if (at.keeps_rows()) { at.columns[i] = now.vertex; }
    } else if (i < size) {
      Walker const from = load_walker(at.arrived + i);
      int const home = at.home_of(from.walk);
      note_arrival(at, from, home);
      if (at.step < at.length) { now = take(i, from, home); }
      note_step(at, from.vertex, now, home);
    }
    if (i < size) { store_once(at.stepped + i, now); }
    auto const to = at.ways_of(now);
    count_for_ranks(counts.here.sent.walkers, to.walker, at.num_ranks);
    count_for_ranks(counts.here.sent.vertices, to.vertex, at.num_ranks);
    count_where(counts.here.taken, !at.begins && now.vertex != no_vertex);
  }
  counts.add_to(at.counts);
}

/// The grid of a kernel of take_steps.
template <class Walker>
unsigned part_step_blocks(part_step<Walker> const& at, std::int64_t num_starts, std::int64_t resident)
{
  std::int64_t const size = at.begins ? num_starts : std::max(at.num_arrived, at.num_told);
  return grid_blocks(size, part_step_threads, part_waves * resident);
}

/// A walker takes a step by its rule. @return where it is then; no_vertex if its walk has ended.
template <class Steps>
__device__ vertex_id step_on_part(Steps const& steps, core::walk_ends const& ends, part_step<moved_vertex> const& at,
                                  moved_vertex const& walker, int home)
{
  std::uint64_t const walk = at.id_of(walker.walk, home);
  core::walk_turn const turn = at.may_end ? ends.turn(walk, at.step) : core::walk_turn::choose;
  if (turn == core::walk_turn::restart) { return at.starts[walker.walk]; }
  if (turn == core::walk_turn::stop) { return no_vertex; }
  typename Steps::memory memory;
  steps.arrive(memory, walker.vertex - at.bounds[at.rank], at.step);
  outcome const now = steps.choose(memory, walk, at.step);
  return now.what == trial_outcome::moved ? now.next : no_vertex;
}

template <class Steps>
__global__ __launch_bounds__(part_step_threads, Steps::resident_blocks) void part_step_kernel(
    Steps const steps, walk_batch const batch, core::walk_ends const ends,
    __grid_constant__ part_step<moved_vertex> const at)
{
  __shared__ record_counts<part_step<moved_vertex>::tally> counts;
  take_steps(at, batch.starts, batch.size, counts, [&](std::int64_t, moved_vertex const& walker, int home) {
    return moved_vertex{walker.walk, step_on_part(steps, ends, at, walker, home)};
  });
}

/// Enqueues one step of the walkers that stand on this rank.
template <class Steps>
void launch_part_step(Steps const& steps, walk_batch const& batch, core::walk_ends const& ends, walk_shape const& shape)
{
  auto* const kernel = part_step_kernel<Steps>;
  static std::int64_t const resident = resident_blocks(kernel, part_step_threads, 0, shape.device);
  part_step<moved_vertex> const& at = *shape.on_part;
  kernel<<<part_step_blocks(at, batch.size, resident), part_step_threads, 0, shape.stream>>>(steps, batch, ends, at);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
