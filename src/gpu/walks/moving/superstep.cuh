// The kernel of moving walks: a thread a walker, a tile of walkers a block. Its walkers step, are sorted by the rank that they
// go to, and leave in runs: a block reserves room in an inbox with one atomic operation a tile. Where in an inbox a walker lies
// is chance; what it does is a function of its walk and step.
//
// Bytes a step: 16 of the walker that arrives, one gather of the rule, 16 that leave; 8 where the home is a third rank.
// `Steps` (kernel.cuh) take one draw, and have
//   edge_of(m)                     an edge of the vertex that m stands on: says which rank owns it
//   carry(m)                       8 bytes that go with the walker
//   resume(m, v, step, carried)    the walker stands on v, with what it carries
// Steps that take trials don't move: a block would wait for the longest of 512 rows of trials.

#pragma once

#include "gpu/device/launch.cuh"
#include "gpu/ranks/outbox.cuh"
#include "gpu/walks/job.hpp"
#include "gpu/walks/moving/deliver.cuh"
#include "gpu/walks/moving/superstep.hpp"
#include "gpu/walks/outcome.cuh"

namespace tendril::gpu {

/// A block's threads, each with a walker of a tile. More walkers a thread were not faster: what limits a step is memory.
inline constexpr int superstep_threads = outbox_threads;

inline constexpr int superstep_blocks = 3;  // that a multiprocessor should hold

/// A walker after its step, and where it goes: ranks, or -1.
struct stepped_walker {
  moved_walker walker{};
  int to = -1;    ///< The rank that has its vertex.
  int tell = -1;  ///< The rank that gets its vertex for the row.
};

/// A walk of this home begins.
template <class Steps>
__device__ stepped_walker begin_walk(Steps const& steps, walk_batch const& batch, superstep const& at, std::int64_t i)
{
  stepped_walker out;
  out.walker.walk = at.first_walk + static_cast<std::uint32_t>(i);
  out.walker.vertex = batch.starts[i];
  at.columns[i] = out.walker.vertex;
  if (steps.may_start_at(out.walker.vertex)) {
    typename Steps::memory memory;
    steps.arrive(memory, out.walker.vertex, 0);
    out.to = at.owner_of(steps.edge_of(memory));
    out.walker.carried = steps.carry(memory);
  }
  return out;
}

/// A walker that stands here takes a step.
template <class Steps>
__device__ stepped_walker take_step(Steps const& steps, walk_batch const& batch, core::walk_ends const& ends,
                                    superstep const& at, moved_walker const& walker)
{
  vertex_id* const column = at.columns + static_cast<std::int64_t>(at.step) * at.walks_each;
  std::uint64_t const walk = batch.first_walk + walker.walk;
  int const home = static_cast<int>(walker.walk / at.walks_each);
  if (home == at.rank) { store_kept(column + (walker.walk - at.first_walk), walker.vertex); }
  core::walk_turn const turn = at.may_end ? ends.turn(walk, at.step) : core::walk_turn::choose;
  typename Steps::memory memory;
  outcome now{trial_outcome::dead, no_vertex};
  if (turn == core::walk_turn::choose) {
    steps.resume(memory, walker.vertex, at.step, walker.carried);
    now = steps.attempt(memory, walk, at.step);
  } else if (turn == core::walk_turn::restart) {
    now = {trial_outcome::moved, at.starts[home][walker.walk - static_cast<std::uint32_t>(home) * at.walks_each]};
    steps.arrive(memory, now.next, at.step + 1);
  }
  stepped_walker out{{walker.walk, now.next, 0}};
  if (now.what != trial_outcome::moved) { return out; }
  if (at.step + 1 < batch.length) {
    out.to = at.owner_of(steps.edge_of(memory));
    out.walker.carried = steps.carry(memory);
  }
  if (out.to == home) { return out; }  // whoever comes home writes its vertex there itself
  if (home == at.rank) {
    store_kept(column + (at.walks_each + walker.walk - at.first_walk), now.next);
  } else {
    out.tell = home;
  }
  return out;
}

template <class Steps>
__global__ __launch_bounds__(superstep_threads,
                             superstep_blocks) void superstep_kernel(Steps const steps, walk_batch const batch,
                                                                     core::walk_ends const ends,
                                                                     __grid_constant__ superstep const at)
{
  __shared__ outbox<moved_walker> walkers;
  __shared__ outbox<moved_vertex> vertices;
  walkers.clear();
  vertices.clear();
  __syncthreads();

  if (!at.begins) {
    deliver(at.told, at.columns + static_cast<std::int64_t>(at.step) * at.walks_each, at.first_walk);
    if (global_thread() < 2) { *at.idle_sizes[threadIdx.x] = 0; }
  }
  std::int64_t const size = at.begins ? batch.size : static_cast<std::int64_t>(*at.arrived.size);
  std::int64_t const stride = std::int64_t{gridDim.x} * superstep_threads;
  unsigned turn = 0;
  for (std::int64_t base = std::int64_t{blockIdx.x} * superstep_threads; base < size; base += stride, ++turn) {
    std::int64_t const i = base + threadIdx.x;
    stepped_walker moved;
    if (i < size && at.begins) {
      moved = begin_walk(steps, batch, at, i);
    } else if (i < size) {
      uint4 const record = __ldcs(reinterpret_cast<uint4 const*>(at.arrived.records + i));
      moved = take_step(steps, batch, ends, at, {record.x, record.y, record.z | (std::uint64_t{record.w} << 32U)});
    }
    unsigned const slot = walkers.claim(moved.to, at.num_ranks, turn);
    unsigned const told = vertices.claim(moved.tell, at.num_ranks, turn);
    __syncthreads();
    walkers.reserve(at.walkers, at.num_ranks, turn);
    vertices.reserve(at.vertices, at.num_ranks, turn);
    walkers.stage(moved.to, slot, moved.walker, turn);
    vertices.stage(moved.tell, told, {moved.walker.walk, moved.walker.vertex}, turn);
    __syncthreads();
    walkers.send(at.walkers, at.num_ranks, turn);
    vertices.send(at.vertices, at.num_ranks, turn);
  }
}

/// Enqueues one step of the walkers of a rank.
template <class Steps>
void launch_superstep(Steps const& steps, walk_batch const& batch, core::walk_ends const& ends, walk_shape const& shape)
{
  auto* const kernel = superstep_kernel<Steps>;
  static std::int64_t const resident = resident_blocks(kernel, superstep_threads, 0, shape.device);
  superstep const& at = *shape.moving;
  // Those that arrive may be all walks of all homes; how many they are only the GPU knows.
  std::int64_t const most = at.begins ? batch.size : std::int64_t{at.walks_each} * at.num_ranks;
  kernel<<<grid_blocks(most, superstep_threads, resident), superstep_threads, 0, shape.stream>>>(steps, batch, ends,
                                                                                                 at);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
