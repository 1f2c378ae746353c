// The kernel of a step on a part: a thread takes a few walkers, so that their rows are read at once, and leaves them in the boxes of the
// ranks that they go to (gpu/ranks/boxes.cuh).
//
// Bytes a step: 8 of the walker, a gather of its row, a gather of the neighbour, 8 written.
// `Steps` (kernel.cuh) have
//   arrive(m, v, step)      here v counts from the first vertex of the part
//   choose(m, walk, step)   takes the step, but doesn't look at the place of the new vertex

#pragma once

#include "gpu/device/launch.cuh"
#include "gpu/ranks/boxes.cuh"
#include "gpu/walks/counts.cuh"
#include "gpu/walks/job.hpp"
#include "gpu/walks/moving/deliver.cuh"
#include "gpu/walks/outcome.cuh"
#include "gpu/walks/parts/block_sum.cuh"
#include "gpu/walks/parts/part_step.hpp"

namespace tendril::gpu {

inline constexpr int part_step_threads = 256;
inline constexpr int walkers_each = 2;  ///< Of a thread, at once.
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

/// A walker has come to its vertex, and has a row.
template <class Walker>
__device__ __forceinline__ void note_arrival(part_step<Walker> const& at, Walker const& walker, int home)
{
  if (home == at.rank) { store_kept(at.place_in_row(walker.walk, at.step), walker.vertex); }
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
/// @tparam Turn  What a walker keeps between `look(turn, i, walker)`, which begins to read what its step needs, and `take(turn, walker)`, which tells
///               where it is then, or part_step::ended.
template <class Turn, class Walker, class Look, class Take>
__device__ void take_steps(part_step<Walker> const& at, vertex_id const* starts, std::int64_t num_starts,
                           Look const& look, Take const& take)
{
  if (!at.begins) { deliver_told(at); }
  std::int64_t const size = at.begins ? num_starts : at.num_arrived;
  constexpr std::int64_t tile = std::int64_t{walkers_each} * warp_size;
  unsigned taken = 0;
  for (std::int64_t first = global_thread() / warp_size * tile; first < size;
       first += grid_stride() / warp_size * tile) {
    Walker from[walkers_each];
    Walker now[walkers_each];
    Turn turns[walkers_each];
    std::uint32_t counted[walkers_each];  // words of counters, before
    bool const counts = !at.begins && at.counters.visits.words != nullptr;
    auto const of_lane = [first](int k) { return first + k * warp_size + lane_id(); };
#pragma unroll
    for (int k = 0; k < walkers_each; ++k) {
      now[k] = part_step<Walker>::ended(0, false);
      if (!at.begins && of_lane(k) < size) { from[k] = load_walker(at.arrived + of_lane(k)); }
    }
#pragma unroll
    for (int k = 0; k < walkers_each; ++k) {
      if (!at.begins && of_lane(k) < size && at.step < at.length) { look(turns[k], of_lane(k), from[k]); }
      if (counts && of_lane(k) < size) {
        counted[k] = count_one(at.counters.visits, from[k].vertex - at.counters.first);
      }
    }
#pragma unroll
    for (int k = 0; k < walkers_each; ++k) {
      if (of_lane(k) >= size) { continue; }
      if (at.begins) {
        vertex_id const start = starts[of_lane(k)];
        now[k] = walker_at<Walker>(at.first_here() + static_cast<std::uint32_t>(of_lane(k)), start, no_vertex);
      } else if (at.step < at.length) {
        now[k] = take(turns[k], from[k]);
      }
    }
    int to_walk[walkers_each];
    int to_tell[walkers_each];
    moved_vertex told[walkers_each];
#pragma unroll
    for (int k = 0; k < walkers_each; ++k) {
      if (of_lane(k) < size && at.begins) {
        if (at.keeps_rows()) { at.columns[of_lane(k)] = now[k].vertex; }
      } else if (of_lane(k) < size) {
        if (at.keeps_rows()) { note_arrival(at, from[k], at.home_of(from[k].walk)); }
        if (counts) { carry(at.counters.visits, from[k].vertex - at.counters.first, counted[k]); }
        note_step(at, from[k].vertex, now[k], at.home_of(from[k].walk));
        taken += now[k].vertex != no_vertex ? 1 : 0;
      }
      auto const to = at.ways_of(now[k]);
      to_walk[k] = to.walker;
      to_tell[k] = to.vertex;
      told[k] = {now[k].walk, now[k].vertex};
    }
    leave_records(at.walkers, at.counts->sent.walkers, at.num_ranks, to_walk, now);
    if (at.keeps_rows()) { leave_records(at.vertices, at.counts->sent.vertices, at.num_ranks, to_tell, told); }
  }
  add_in_block(&at.counts->taken, taken);
}

/// The grid of a kernel of take_steps.
template <class Walker>
unsigned part_step_blocks(part_step<Walker> const& at, std::int64_t num_starts, std::int64_t resident)
{
  std::int64_t const size = at.begins ? num_starts : std::max(at.num_arrived, at.num_told);
  return grid_blocks((size + walkers_each - 1) / walkers_each, part_step_threads, part_waves * resident);
}

/// A walker's step by its rule.
template <class Steps>
struct rule_turn {
  core::walk_turn what;
  std::uint64_t walk;  ///< Its logical id.
  typename Steps::memory memory;
};

template <class Steps>
__global__ __launch_bounds__(part_step_threads, Steps::resident_blocks) void part_step_kernel(
    Steps const steps, walk_batch const batch, core::walk_ends const ends,
    __grid_constant__ part_step<moved_vertex> const at)
{
  take_steps<rule_turn<Steps>>(
      at, batch.starts, batch.size,
      [&](rule_turn<Steps>& turn, std::int64_t, moved_vertex const& walker) {
        turn.walk = at.id_of(walker.walk, at.home_of(walker.walk));
        turn.what = at.may_end ? ends.turn(turn.walk, at.step) : core::walk_turn::choose;
        if (turn.what == core::walk_turn::choose) {
          steps.arrive(turn.memory, walker.vertex - at.bounds[at.rank], at.step);
        }
      },
      [&](rule_turn<Steps>& turn, moved_vertex const& walker) {
        if (turn.what == core::walk_turn::restart) { return moved_vertex{walker.walk, at.starts[walker.walk]}; }
        if (turn.what == core::walk_turn::stop) { return part_step<moved_vertex>::ended(walker.walk, false); }
        outcome const now = steps.choose(turn.memory, turn.walk, at.step);
        return moved_vertex{walker.walk, now.what == trial_outcome::moved ? now.next : no_vertex};
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
