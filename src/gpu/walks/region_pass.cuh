// A pass of walks that wait for regions of lists: a thread a walker. It takes the walks that wait for the region that has
// come in, and each goes on until its list lies in host memory, in a region that is not on the GPU, which it then waits for.
// Steps are those of other walks (steps.cuh): only where a list's words are is decided here (region_targets.cuh). The host's
// side: region_walk.cpp. CPU twin: src/cpu/walks/first_order.cpp.

#pragma once

#include "gpu/walks/launch.cuh"
#include "gpu/walks/region_launch.hpp"
#include "gpu/walks/region_queue.cuh"
#include "gpu/walks/region_targets.cuh"

namespace tendril::gpu {

inline region_targets region_targets_of(walk_job const& job, region_pass const& pass)
{
  return {job.graph.as<compressed_view>().targets(), pass.regions.first, pass.regions, pass.windows};
}

inline region_view region_view_of(walk_job const& job, region_pass const& pass)
{
  return {job.graph.as<compressed_view>(), region_targets_of(job, pass)};
}

/// Where the vertices of walks are written, one by one.
struct region_output {
  vertex_id* vertices;
  std::int64_t walk_stride, step_stride;

  [[nodiscard]] static region_output of(walk_batch const& batch, bool step_major)
  {
    return step_major ? region_output{batch.vertices, 1, batch.stride}
                      : region_output{batch.vertices, batch.length + std::int64_t{1}, 1};
  }
  [[nodiscard]] __device__ vertex_id* at(std::int64_t index, std::int32_t position) const
  {
    return vertices + index * walk_stride + position * step_stride;
  }
};

/// What a walk that ended leaves: nothing to do in the next pass, and the rest of its row.
__device__ inline void end_walk(walk_batch const& batch, region_output const& out, waiting_walks const& state,
                                std::int64_t index, std::int32_t step, bool repeat_last)
{
  state.waits[index] = region_wait::nothing;
  if (batch.lengths != nullptr) { batch.lengths[index] = step; }
  if (!repeat_last) { return; }
  vertex_id const last = *out.at(index, step);
  for (std::int64_t k = step + std::int64_t{1}; k <= batch.length; ++k) {
    *out.at(index, static_cast<std::int32_t>(k)) = last;
  }
}

template <class Steps, bool may_end>
__global__ __launch_bounds__(walk_threads, Steps::resident_blocks) void region_pass_kernel(
    Steps const steps, walk_batch const batch, core::walk_ends const ends, region_output const out,
    waiting_walks const state, region_pass const pass)
{
  __shared__ std::uint16_t found[walk_threads / warp_size][waits_a_run];
  __shared__ unsigned parked[num_waits];  // walks of this block that came to wait for each region
  static_assert(num_waits == walk_threads);
  parked[threadIdx.x] = 0;
  __syncthreads();

  region_queue pool(state, batch.size, pass.wanted, found[threadIdx.x / warp_size]);
  std::int64_t index = -1;  // of the walk in the batch; -1: none
  std::int32_t step = 0;    // steps taken
  typename Steps::memory memory;
  while (true) {
    unsigned const idle = __ballot_sync(full_warp, index < 0);
    if (idle != 0) {
      std::int64_t const taken = pool.take(idle);
      if (index < 0 && taken >= 0) {
        waiting_walk const from = state.walks[taken];
        index = taken;
        step = from.step;
        steps.arrive(memory, from.vertex, step);
      }
      if (__all_sync(full_warp, index < 0)) { break; }
    }

    std::uint64_t const walk = batch.first_walk + static_cast<std::uint64_t>(index);
    outcome now{trial_outcome::rejected, no_vertex};
    core::walk_turn turn = core::walk_turn::choose;
    if (index >= 0) {
      if (may_end && steps.at_first_trial(memory)) { turn = ends.turn(walk, step); }
      if (turn == core::walk_turn::restart) {
        now = {trial_outcome::moved, batch.starts[index]};
        steps.arrive(memory, now.next, step + 1);
      } else if (turn == core::walk_turn::choose) {
        if (memory.here.can_be_read()) {
          now = steps.attempt(memory, walk, step);
        } else {
          std::uint32_t const region = pass.regions(memory.here.byte());
          state.walks[index] = {memory.here.vertex, step};
          state.waits[index] = static_cast<std::uint8_t>(region_wait::for_region(region));
          atomicAdd(parked + region, 1U);
          index = -1;
        }
      }
    }
    if constexpr (Steps::can_tire) { now = steps.settle(memory, walk, step, now); }

    if (index < 0) { continue; }
    bool const dead = now.what == trial_outcome::dead;
    if (now.what == trial_outcome::moved) { *out.at(index, ++step) = now.next; }
    if (turn == core::walk_turn::stop || dead || step == batch.length) {
      end_walk(batch, out, state, index, step, dead && batch.repeat_dead_ends);
      index = -1;
    }
  }

  __syncthreads();
  if (parked[threadIdx.x] > 0) {
    atomicAdd(state.waiting + threadIdx.x, static_cast<unsigned long long>(parked[threadIdx.x]));
  }
}

template <class Steps, bool may_end>
void launch_region_pass_as(Steps const& steps, core::walk_ends const& ends, walk_batch const& batch,
                           waiting_walks const& state, region_pass const& pass, walk_shape const& shape)
{
  auto* const kernel = region_pass_kernel<Steps, may_end>;
  static std::int64_t const resident = resident_blocks(kernel, walk_threads, 0, shape.device);
  // Loads of the next region run at the same time: their blocks find places.
  std::int64_t const most = std::max<std::int64_t>(1, resident - pass.load_blocks);
  kernel<<<grid_blocks(batch.size, walk_threads, most), walk_threads, 0, shape.stream>>>(
      steps, batch, ends, region_output::of(batch, shape.step_major), state, pass);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

/// Enqueues a pass of walks that step by `Steps`, made of such a proposer.
template <template <class> class Steps, class Proposer>
void launch_region_pass(Proposer const& proposer, walk_job const& job, walk_batch const& batch,
                        waiting_walks const& state, region_pass const& pass, walk_shape const& shape)
{
  using steps = Steps<Proposer>;
  steps const made{proposer, start_rule_of(job), job.step_key};
  if (shape.may_end()) {
    launch_region_pass_as<steps, true>(made, job.ends, batch, state, pass, shape);
  } else {
    launch_region_pass_as<steps, false>(made, job.ends, batch, state, pass, shape);
  }
}

}  // namespace tendril::gpu
