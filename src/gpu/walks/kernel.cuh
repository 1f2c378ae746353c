// Walks with tables: a thread a walker, kept busy from a pool of walks. Every turn of the loop is one trial of each
// walker of a warp; walkers whose trial is rejected try again while the others go on, and walkers that end hand their
// lane to the next walk. CPU twin: src/cpu/walks/scalar_walk.cpp.
//
// A `Steps` decides one trial:
//   memory                          what a walker keeps between trials, beside its index and step
//   arrive(m, v, step)              the walker stands on v without a vertex before it (start, restart)
//   attempt(m, walk, step)          one trial; a move also brings m to the new vertex
//   settle(m, walk, step, outcome)  whole warp: decides the step of lanes whose trials ran out (if can_tire)
//   may_start_at(v)                 whether a walk may begin there
//   at_first_trial(m)               whether the step has just begun: then it may end the walk
//   takes_trials                    whether an attempt may be rejected
//   on_parts                        whether it can step where a graph is cut (parts/part_step.cuh)
//   resident_blocks                 blocks that a multiprocessor should hold: bounds the registers
// `Rows` (rows.cuh) writes.

#pragma once

#include <type_traits>

#include "gpu/walks/moving/superstep.cuh"
#include "gpu/walks/outcome.cuh"
#include "gpu/walks/parts/part_step.cuh"
#include "gpu/walks/prefill.hpp"
#include "gpu/walks/rows.cuh"
#include "gpu/walks/walk_queue.cuh"

namespace tendril::gpu {

inline constexpr int walk_threads = 256;  // a block; bench/walks

/// Lanes with index >= 0 take that walk up, from `start`; those that can't start are done with at once, and get index -1.
/// Whole warp.
template <class Steps, class Rows>
__device__ void begin_walks(Steps const& steps, walk_batch const& batch, Rows& rows, std::int64_t& index,
                            vertex_id start, typename Steps::memory& memory)
{
  bool const starts = index >= 0;
  bool stranded = false;
  if (starts) {
    if (start >= batch.num_vertices) {
      batch.status->bad_start = index;
      stranded = true;
    } else {
      stranded = !steps.may_start_at(start);
    }
    if (!stranded) { steps.arrive(memory, start, 0); }
  }
  rows.push(starts, index, 0, start);
  rows.finish(stranded, index, 1, batch.repeat_dead_ends);
  if (stranded) {
    if (batch.lengths != nullptr) { batch.lengths[index] = 0; }
    index = -1;
  }
}

/// Blocks that a multiprocessor should hold at least. Of four, the step-major form leaves registers for a fifth, which the
/// queue of walks that may end would take otherwise; none is spilt.
template <class Steps, class Rows, bool may_end>
inline constexpr int wanted_blocks = Steps::resident_blocks + (Steps::resident_blocks == 4 && may_end &&
                                                                       std::is_same_v<Rows, step_major_rows<true>>
                                                                   ? 1
                                                                   : 0);

template <class Steps, class Rows, bool may_end>
__global__ __launch_bounds__(walk_threads,
                             wanted_blocks<Steps, Rows, may_end>) void walk_kernel(Steps const steps,
                                                                                   walk_batch const batch,
                                                                                   core::walk_ends const ends)
{
  extern __shared__ vertex_id stage[];
  std::conditional_t<may_end, walk_queue_ahead, walk_queue> pool(batch);
  Rows rows(batch, stage);
  std::int64_t index = -1;  // of the walk in the batch; -1: none
  std::int32_t step = 0;    // steps taken
  typename Steps::memory memory;

  while (true) {
    unsigned const idle = __ballot_sync(full_warp, index < 0);
    if (idle != 0) {
      queued_walk taken = pool.take(idle);
      if (__any_sync(full_warp, taken.index >= 0)) {
        begin_walks(steps, batch, rows, taken.index, taken.start, memory);
        if (index < 0) {
          index = taken.index;
          step = 0;
        }
      } else if (idle == full_warp) {
        break;
      }
    }

    std::uint64_t const walk = batch.first_walk + static_cast<std::uint64_t>(index);
    outcome now{trial_outcome::rejected, no_vertex};
    bool told_to_stop = false;
    if (index >= 0) {
      bool restarts = false;
      if (may_end && steps.at_first_trial(memory)) {
        core::walk_turn const turn = ends.turn(walk, step);
        told_to_stop = turn == core::walk_turn::stop;
        restarts = turn == core::walk_turn::restart;
      }
      if (restarts) {
        now = {trial_outcome::moved, batch.starts[index]};
        steps.arrive(memory, now.next, step + 1);
      } else if (!told_to_stop) {
        now = steps.attempt(memory, walk, step);
      }
    }
    if constexpr (Steps::can_tire) { now = steps.settle(memory, walk, step, now); }

    bool const moved = now.what == trial_outcome::moved;
    bool const dead = now.what == trial_outcome::dead;
    step += moved ? 1 : 0;
    rows.push(moved, index, step, now.next);
    bool const ended = index >= 0 && (told_to_stop || dead || step == batch.length);
    if (__any_sync(full_warp, ended)) {
      rows.finish(ended, index, step + 1, dead && batch.repeat_dead_ends);
      if (ended) {
        if (batch.lengths != nullptr) { batch.lengths[index] = step; }
        index = -1;
      }
    }
  }
}

/// Enqueues the kernel: enough blocks for every walk, at most as many as the device holds.
template <class Steps, class Rows, bool may_end>
void launch_walk_as(Steps const& steps, walk_batch const& batch, core::walk_ends const& ends, walk_shape const& shape)
{
  auto* const kernel = walk_kernel<Steps, Rows, may_end>;
  std::size_t const shared = Rows::shared_bytes(walk_threads);
  static std::int64_t const resident = resident_blocks(kernel, walk_threads, shared, shape.device);
  kernel<<<grid_blocks(batch.size, walk_threads, resident), walk_threads, shared, shape.stream>>>(steps, batch, ends);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

/// Enqueues a batch in the shape asked for, or one step of its walkers. Where many walks end early, or where single walks can't complete their
/// column together, the output is filled beforehand: that is faster than filling row by row.
template <class Steps>
void launch_walk(Steps const& steps, walk_batch batch, core::walk_ends const& ends, walk_shape const& shape)
{
  if constexpr (!Steps::takes_trials) {
    if (shape.moving != nullptr) {
      launch_superstep(steps, batch, ends, shape);
      return;
    }
  }
  if constexpr (Steps::on_parts) {
    if (shape.on_part != nullptr) {
      launch_part_step(steps, batch, ends, shape);
      return;
    }
  }
  if (!batch.prefilled && (shape.may_stop || (shape.step_major && shape.may_die))) {
    prefill(batch, shape);
    batch.prefilled = true;
  }
  auto const launch = [&]<bool may_end>(std::bool_constant<may_end>) {
    if (shape.step_major) {
      launch_walk_as<Steps, step_major_rows<may_end>, may_end>(steps, batch, ends, shape);
    } else {
      launch_walk_as<Steps, row_major_rows, may_end>(steps, batch, ends, shape);
    }
  };
  if (shape.may_end()) {
    launch(std::true_type{});
  } else {
    launch(std::false_type{});
  }
}

}  // namespace tendril::gpu
