// Dynamic walks that read whole neighbourhoods: one warp per walker. Walkers stay resident, with their state in
// registers. A warp whose walk has ended takes another from the pool, and helps other warps when the pool is empty. No
// part of a neighbourhood is stored, for any degree. CPU twin: engine/walks/cpu.hpp.
//
// The `Sampler` chooses an edge. Each warp constructs its own:
//   Sampler(arguments, walk, setup)
//   choose(state, row) -> entry, in every lane   defined as core::race_one over a row with edges; whole warp
//   idle(num_walks)                              called when the warp has no more walks; whole warp

#pragma once

#include <cstdint>

#include <tendril/engine/walks/work_sharing.cuh>

namespace tendril::engine {

inline constexpr int most_block_threads = 256;

/// The engine's default sampler: a race, shared if the neighbourhood is long and warps are idle.
template <class W, class View>
class race_sampler {
 public:
  using arguments = work_sharing;

  __device__ race_sampler(arguments const& board, W const& walk, dynamic_setup<View> const& setup)
      : user_(board, walk, setup)
  {
  }
  [[nodiscard]] __device__ std::uint64_t choose(basic_walk_state<View> const& state, typename View::row_type const& row)
  {
    return user_.race(state, row);
  }
  __device__ void idle(std::int64_t num_walks) { user_.help(num_walks); }

 private:
  board_user<W, View> user_;
};

/// The edge that a walker takes, as a race's entry. None at a dead end, and where there is a problem, which is kept. Whole warp.
template <class W, class View, class Sampler>
__device__ std::uint64_t edge_by_scan(W const& walk, basic_walk_state<View> const& s,
                                      typename View::row_type const& row, Sampler& sampler, launch_state& desk)
{
  std::uint64_t const entry = row.empty() ? core::race_none : sampler.choose(s, row);
  if (!may_be_wrong(entry)) { return entry; }
  dynamic_report const report = inspect(walk, s, row, core::race_index(entry));
  if (report.what == dynamic_problem::none) { return entry; }
  if (lane() == 0) { keep_report(desk, report); }
  return core::race_none;
}

/// Runs one walk to its end; lane 0 writes each vertex when it is reached. Whole warp.
template <class W, class View, class Sampler>
__device__ void walk_by_scans(W const& walk, dynamic_setup<View> const& setup, dynamic_batch const& batch,
                              std::int64_t index, Sampler& sampler, launch_state& desk)
{
  basic_walk_state<View> s =
      first_state(setup, batch.first_walk + static_cast<std::uint64_t>(index), batch.starts[index]);
  vertex_id* const row = batch.vertices + index * batch.walk_stride;
  bool dead = false;
  if (s.start >= setup.graph.num_vertices) {
    if (lane() == 0) { keep_bad_start(desk, batch, index, s); }
    dead = true;
  } else {
    arrive(setup, s);
    dead = !may_start(walk, s);
  }
  if (lane() == 0) { row[0] = s.start; }
  while (!dead && s.step < setup.length) {
    core::walk_turn const turn = decide(walk, setup, s);
    if (turn == core::walk_turn::stop) { break; }
    if (turn == core::walk_turn::restart) {
      go_back(s);
    } else {
      auto const row = s.graph.row(s.vertex);
      std::uint64_t const entry = edge_by_scan(walk, s, row, sampler, desk);
      dead = !core::race_has_winner(entry);
      if (!dead) { go_along(s, row, core::race_index(entry)); }
    }
    if (!dead && lane() == 0) { row[s.step * batch.step_stride] = s.vertex; }
    arrive(setup, s);
  }
  fill_row(batch, index, s.step + 1, setup.length, dead && setup.repeat_dead_ends ? s.vertex : no_vertex);
  if (batch.lengths != nullptr && lane() == 0) { batch.lengths[index] = s.step; }
}

/// Four blocks of 256 threads per multiprocessor: 64 registers per thread, 32 resident walkers.
template <class W, class View, template <class, class> class Sampler>
__global__ void __launch_bounds__(most_block_threads, 4)
    scan_walk_kernel(__grid_constant__ W const walk, __grid_constant__ dynamic_setup<View> const setup,
                     __grid_constant__ dynamic_batch const batch,
                     __grid_constant__ typename Sampler<W, View>::arguments const arguments, launch_state* desk,
                     int walks_a_turn)
{
  Sampler<W, View> sampler(arguments, walk, setup);
  walk_pool pool(*desk, batch.size, walks_a_turn);
  unsigned long long finished = 0;
  for (std::int64_t index = pool.take(); index >= 0; index = pool.take()) {
    walk_by_scans(walk, setup, batch, index, sampler, *desk);
    ++finished;
  }
  if (lane() == 0 && finished != 0) { atomicAdd(&desk->finished, finished); }
  __syncwarp();
  sampler.idle(batch.size);
}

}  // namespace tendril::engine
