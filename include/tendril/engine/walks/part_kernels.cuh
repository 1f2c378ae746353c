// Steps of dynamic walks on a part of a graph, by a GPU: what scan_kernel.cuh and reject_kernel.cuh do for one step of walkers that
// come from others. They decide; who brings walkers where they go is another's business. CPU twin: engine/walks/custom_walk_cpu.hpp.

#pragma once

#include <cstdint>

#include <tendril/engine/walks/part_walker.hpp>
#include <tendril/engine/walks/scan_kernel.cuh>

namespace tendril::engine {

/// By scans, a warp a walker. Samplers as scan_walk_kernel's. `desk` is zeroed.
template <class W, class Transit, template <class, class> class Sampler>
__global__ void __launch_bounds__(most_block_threads, 4)
    scan_steps_kernel(__grid_constant__ W const walk, __grid_constant__ dynamic_setup<Transit> const setup,
                      __grid_constant__ part_batch const batch,
                      __grid_constant__ typename Sampler<W, Transit>::arguments const arguments, launch_state* desk,
                      int walks_a_turn)
{
  Sampler<W, Transit> sampler(arguments, walk, setup);
  walk_pool pool(*desk, batch.size, walks_a_turn);
  unsigned long long finished = 0;
  for (std::int64_t index = pool.take(); index >= 0; index = pool.take()) {
    basic_walk_state<Transit> const s = state_of(setup, batch.walkers[index]);
    decided_step made{};
    if (chooses(walk, setup, s, made)) {
      typename Transit::row_type const row = setup.row(s.vertex);
      std::uint64_t const entry = edge_by_scan(walk, s, row, sampler, *desk);
      if (core::race_has_winner(entry)) { made = {part_turn::moved, row.neighbor(core::race_index(entry))}; }
    }
    if (lane() == 0) { batch.steps[index] = made; }
    ++finished;
  }
  if (lane() == 0 && finished != 0) { atomicAdd(&desk->finished, finished); }
  __syncwarp();
  sampler.idle(batch.size);
}

/// Trials of a step. @return whether they decide it, which `made` says. Any thread.
template <class W, class Transit>
__device__ bool decide_by_trials(W const& walk, dynamic_setup<Transit> const& setup, basic_walk_state<Transit> const& s,
                                 typename Transit::row_type const& row, decided_step& made, launch_state& desk)
{
  float const bound = row.empty() ? 0.0F : walk.bound(s);
  if (!is_weight(bound)) {
    keep_report(desk, {s.walk, -1, dynamic_problem::bound, s.step, s.vertex, bound});
    return true;
  }
  if (bound == 0) { return true; }
  std::uint32_t const limit = core::trial_limit(row.degree());
  for (std::uint32_t number = 0; number < limit; ++number) {
    trial const t = core::run_trial<step_trials>(
        number, step_draws(setup, s),
        [&](core::random_block const& block, auto judge) { return try_edge(walk, s, row, bound, block, judge); });
    if (t.result == trial_result::accepted) {
      made = {part_turn::moved, row.neighbor(t.position)};
      return true;
    }
    if (t.result == trial_result::wrong) {
      dynamic_report const report = inspect(walk, s, row, t.position, bound);
      if (report.what != dynamic_problem::none) {
        keep_report(desk, report);
        return true;
      }
    }
  }
  return false;
}

/// By rejection, for walks with bound(state): a thread a walker; where trials run out, its warp races. `desk` is zeroed.
template <class W, class Transit>
__global__ void __launch_bounds__(most_block_threads)
    reject_steps_kernel(__grid_constant__ W const walk, __grid_constant__ dynamic_setup<Transit> const setup,
                        __grid_constant__ part_batch const batch, launch_state* desk)
{
  std::int64_t const stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t base = std::int64_t{blockIdx.x} * blockDim.x; base < batch.size; base += stride) {
    std::int64_t const index = base + threadIdx.x;
    decided_step made{};
    bool is_open = false;
    if (index < batch.size) {
      basic_walk_state<Transit> const s = state_of(setup, batch.walkers[index]);
      is_open = chooses(walk, setup, s, made) && !decide_by_trials(walk, setup, s, setup.row(s.vertex), made, *desk);
    }
    for (unsigned open = __ballot_sync(full_warp, is_open); open != 0; open &= open - 1) {
      auto const source = static_cast<std::uint32_t>(__ffs(static_cast<int>(open)) - 1);
      basic_walk_state<Transit> const s = state_of(setup, batch.walkers[index - lane() + source]);
      typename Transit::row_type const row = setup.row(s.vertex);
      warp_race<W, Transit> race(walk, setup, s, row);
      race.scan(0, race.size());
      std::uint64_t const entry = race.result();
      bool right = core::race_has_winner(entry);
      if (lane() == source && may_be_wrong(entry)) {
        dynamic_report const report = inspect(walk, s, row, core::race_index(entry));
        right = report.what == dynamic_problem::none;
        if (!right) { keep_report(*desk, report); }
      }
      if (lane() == source && right) { made = {part_turn::moved, row.neighbor(core::race_index(entry))}; }
    }
    if (index < batch.size) { batch.steps[index] = made; }
  }
}

}  // namespace tendril::engine
