// The kernel of a step of walkers that go alone: a thread a walker. One that stands here takes trials until its step is decided, or
// until it must ask; one that asks here is answered, and has stepped, or goes back. Records are left in the boxes of the ranks that they
// go to (gpu/ranks/boxes.cuh).
//
// Bytes a step: 16 of the walker, what its trials gather, 16 written. A question is 48 more, and a gather of the edges of the vertex
// before.
// `Steps` is a node2vec_on_part.

#pragma once

#include "gpu/device/launch.cuh"
#include "gpu/ranks/boxes.cuh"
#include "gpu/walks/counts.cuh"
#include "gpu/walks/job.hpp"
#include "gpu/walks/moving/deliver.cuh"  // store_kept
#include "gpu/walks/outcome.cuh"
#include "gpu/walks/parts/alone_step.hpp"
#include "gpu/walks/parts/block_sum.cuh"

namespace tendril::gpu {

inline constexpr int alone_step_threads = 256;

// Found by their arguments where records are left.

__device__ __forceinline__ void store_once(walker_alone* to, walker_alone const& w)
{
  __stcs(reinterpret_cast<uint4*>(to), make_uint4(w.walk, static_cast<std::uint32_t>(w.step), w.vertex, w.previous));
}
__device__ __forceinline__ void store_once(asking_walker* to, asking_walker const& w) { *to = w; }
__device__ __forceinline__ void store_once(vertex_alone* to, vertex_alone const& v) { *to = v; }

/// Writes vertices that came to their home. The whole grid.
__device__ __forceinline__ void deliver_told(alone_step const& at)
{
  for (std::int64_t i = global_thread(); i < at.num_told; i += grid_stride()) {
    vertex_alone const told = at.told[i];
    store_kept(at.place_in_row(told.walk, told.step), told.vertex);
  }
}

/// A walker within the step that a thread takes.
template <class Steps>
struct alone_turn {
  asking_walker record = alone_step::ended(0);
  std::uint64_t walk = 0;        ///< Its logical id.
  vertex_id passed = no_vertex;  ///< Of a race.
  outcome now{trial_outcome::dead, no_vertex};
  bool chooses = false;  ///< Whether `now` decides.
  typename Steps::memory memory{};
};

/// A walker has come to its vertex.
template <class Steps>
__device__ void arrive(Steps const& steps, core::walk_ends const& ends, alone_step const& at,
                       walker_alone const& walker, alone_turn<Steps>& turn)
{
  int const home = at.home_of(walker.walk);
  if (home == at.rank && at.keeps_rows()) { store_kept(at.place_in_row(walker.walk, walker.step), walker.vertex); }
  count_visit(at.counters, walker.vertex);
  turn.walk = at.id_of(walker.walk, home);
  turn.record = alone_step::ended(walker.walk);
  core::walk_turn next = core::walk_turn::choose;
  if (walker.step == at.length) {
    next = core::walk_turn::stop;
  } else if (at.may_end) {
    next = ends.turn(turn.walk, walker.step);
  }
  if (next == core::walk_turn::restart) {
    turn.record = alone_step::moved(walker.walk, walker.step + 1, at.starts[walker.walk], no_vertex);
  } else if (next == core::walk_turn::choose) {
    turn.chooses = true;
    turn.record = alone_step::moved(walker.walk, walker.step, walker.vertex, walker.previous);
    steps.stand(turn.memory, walker.vertex - at.bounds[at.rank], walker.previous, walker.step, 0);
  } else {
    count_end(at.counters, walker.vertex);
  }
}

/// A walker has come to ask, or comes back.
template <class Steps>
__device__ void take_asking(Steps const& steps, alone_step const& at, asking_walker const& walker,
                            alone_turn<Steps>& turn)
{
  turn.record = walker;
  std::uint32_t const trial = walker.trial & ~asking_walker::of_race;
  bool const races = trial != walker.trial;
  if (at.is_here(walker.vertex)) {
    turn.chooses = true;
    turn.walk = at.id_of(walker.walk, at.home_of(walker.walk));
    turn.passed = walker.candidate;
    steps.stand(turn.memory, walker.vertex - at.bounds[at.rank], walker.previous, walker.step, trial);
  } else if (steps.answer(walker.previous, walker.candidate)) {
    turn.record = alone_step::moved(walker.walk, walker.step + 1, walker.candidate, walker.vertex);
  } else if (!races) {
    turn.record.candidate = no_vertex;
    turn.record.trial = trial + 1;
  }
}

/// What a walker's choice has come to.
template <class Steps>
__device__ void conclude(alone_step const& at, bool by_race, alone_turn<Steps>& turn)
{
  asking_walker& record = turn.record;
  if (turn.now.what == trial_outcome::moved) {
    record = alone_step::moved(record.walk, record.step + 1, turn.now.next, record.vertex);
  } else if (turn.now.what == trial_outcome::asks) {
    record.candidate = turn.now.next;
    record.trial = turn.memory.trial | (by_race ? asking_walker::of_race : 0U);
  } else {
    count_end(at.counters, record.vertex);
    record = alone_step::ended(record.walk);
  }
}

template <class Steps>
__global__ __launch_bounds__(alone_step_threads,
                             Steps::resident_blocks) void alone_step_kernel(Steps const steps, walk_batch const batch,
                                                                            core::walk_ends const ends,
                                                                            __grid_constant__ alone_step const at)
{
  unsigned taken = 0;
  unsigned asked = 0;
  if (!at.begins) { deliver_told(at); }
  std::int64_t const size = at.begins ? batch.size : at.num_arrived + at.num_asking;
  std::int64_t const stride = std::int64_t{gridDim.x} * alone_step_threads;
  for (std::int64_t base = std::int64_t{blockIdx.x} * alone_step_threads; base < size; base += stride) {
    std::int64_t const i = base + threadIdx.x;
    alone_turn<Steps> turn;
    if (i < size && at.begins) {
      turn.record = alone_step::moved(at.first_here() + static_cast<std::uint32_t>(i), 0, batch.starts[i], no_vertex);
      if (at.keeps_rows()) { at.columns[i] = turn.record.vertex; }
    } else if (i < at.num_arrived) {
      uint4 const words_of = __ldcs(reinterpret_cast<uint4 const*>(at.arrived + i));
      arrive(steps, ends, at, {words_of.x, static_cast<std::int32_t>(words_of.y), words_of.z, words_of.w}, turn);
    } else if (i < size) {
      take_asking(steps, at, at.asking[i - at.num_arrived], turn);
    }
    if (turn.chooses) { turn.now = steps.choose(turn.memory, turn.walk, turn.record.step); }
    bool const by_race = turn.chooses && turn.now.what == trial_outcome::exhausted;
    turn.now = steps.settle(turn.memory, turn.passed, turn.walk, turn.record.step, turn.now);
    if (turn.chooses) { conclude(at, by_race, turn); }

    asking_walker const& made = turn.record;
    alone_step::ways const to = at.ways_of(made);
    bool const has_moved = !at.begins && alone_step::has_moved(made);
    taken += has_moved ? 1 : 0;
    asked += turn.chooses && turn.now.what == trial_outcome::asks ? 1 : 0;
    leave_record(at.walkers, at.counts->sent.walkers, at.num_ranks, to.walker,
                 walker_alone{made.walk, made.step, made.vertex, made.previous});
    leave_record(at.leaving, at.counts->sent.asking, at.num_ranks, to.asking, made);
    if (!at.keeps_rows()) { continue; }
    leave_record(at.vertices, at.counts->sent.vertices, at.num_ranks, to.vertex,
                 vertex_alone{made.walk, made.step, made.vertex});
    // A row's last vertex is told to nobody where its home is here.
    if (has_moved && to.vertex < 0 && at.home_of(made.walk) == at.rank) {
      store_kept(at.place_in_row(made.walk, made.step), made.vertex);
    }
  }
  add_in_block(&at.counts->taken, taken);
  add_in_block(&at.counts->asked, asked);
}

/// Enqueues one step of the walkers that are on this rank.
template <class Steps>
void launch_alone_step(Steps const& steps, walk_batch const& batch, core::walk_ends const& ends,
                       walk_shape const& shape)
{
  auto* const kernel = alone_step_kernel<Steps>;
  static std::int64_t const resident = resident_blocks(kernel, alone_step_threads, 0, shape.device);
  alone_step const& at = *shape.alone;
  std::int64_t const size = at.begins ? batch.size : std::max(at.num_arrived + at.num_asking, at.num_told);
  kernel<<<grid_blocks(size, alone_step_threads, part_waves * resident), alone_step_threads, 0, shape.stream>>>(
      steps, batch, ends, at);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
