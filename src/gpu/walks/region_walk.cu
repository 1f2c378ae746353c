// Walks that wait for regions of lists: a thread a walker. A pass takes the walks that wait for what the window holds now,
// and each goes on until its list lies elsewhere in host memory, which it then waits for. Steps are those of other uniform
// walks (steps.cuh): only where a list's words are is decided here. The host's side: region_walk.cpp. CPU twin:
// src/cpu/walks/first_order.cpp.

#include "gpu/walks/launch.cuh"
#include "gpu/walks/region_launch.hpp"
#include "gpu/walks/region_queue.cuh"

namespace tendril::gpu {
namespace {

constexpr int load_threads = 256;
constexpr int load_width = 4;  // loads that a thread has under way

__global__ __launch_bounds__(load_threads) void load_region_kernel(uint4 const* from, uint4* to, std::int64_t size)
{
  std::int64_t const stride = grid_stride();
  for (std::int64_t i = global_thread(); i < size; i += load_width * stride) {
    uint4 held[load_width];
#pragma unroll
    for (int k = 0; k < load_width; ++k) {
      if (i + k * stride < size) { held[k] = __ldcs(from + i + k * stride); }
    }
#pragma unroll
    for (int k = 0; k < load_width; ++k) {
      if (i + k * stride < size) { __stcg(to + i + k * stride, held[k]); }
    }
  }
}

/// Finds lists without a look at their words.
struct region_rows {
  compressed_targets lists;

  using place = list_start;
  [[nodiscard]] __device__ place operator()(std::uint64_t row) const
  {
    return lists.start_of(static_cast<std::int64_t>(row), cached_load{});
  }
};

/// The lists on the GPU, and those of the window.
struct region_targets {
  compressed_targets lists;
  std::uint64_t gpu_bytes;
  region_window window;

  /// Whether the row at `at` can be read.
  [[nodiscard]] __device__ bool has(list_start const& at) const
  {
    return at.degree == 0 || at.byte() < gpu_bytes || at.byte() - window.begin < window.bytes;
  }
  [[nodiscard]] __device__ compressed_row row(list_start const& at) const
  {
    return (at.byte() < gpu_bytes ? lists : lists.in(window.words)).row(at, gather_load{});
  }
};

using region_proposer = uniform_proposer<place_finder<region_rows, vertex_index>, region_targets>;
using region_steps = direct_steps<region_proposer>;

region_steps steps_of(walk_job const& job, region_pass const& pass)
{
  compressed_targets const lists = job.graph.as<compressed_view>().targets();
  return {{{{lists}, {}}, {lists, pass.regions.first, pass.window}, false}, start_rule_of(job), job.step_key};
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

constexpr int begin_threads = 256;

__global__ __launch_bounds__(begin_threads) void begin_kernel(walk_batch const batch, region_output const out,
                                                              waiting_walks const state)
{
  std::int64_t const padded = (batch.size + waits_a_run - 1) / waits_a_run * waits_a_run;
  for (auto i = global_thread(); i < padded; i += grid_stride()) {
    std::uint8_t wait = region_wait::nothing;
    if (i < batch.size) {
      vertex_id const start = batch.starts[i];
      *out.at(i, 0) = start;
      state.walks[i] = {start, 0};
      if (start >= batch.num_vertices) {
        batch.status->bad_start = i;
      } else {
        wait = region_wait::at_once;
      }
      if (batch.lengths != nullptr) { batch.lengths[i] = 0; }
    }
    state.waits[i] = wait;
  }
}

/// What a walk that ended leaves: nothing to do in the next pass, and the rest of its row.
__device__ void end_walk(walk_batch const& batch, region_output const& out, waiting_walks const& state,
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

template <bool may_end>
__global__ __launch_bounds__(walk_threads, 4) void pass_kernel(region_steps const steps, walk_batch const batch,
                                                               core::walk_ends const ends, region_output const out,
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
  region_steps::memory memory;
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
    if (index < 0) { continue; }

    std::uint64_t const walk = batch.first_walk + static_cast<std::uint64_t>(index);
    core::walk_turn const turn = may_end ? ends.turn(walk, step) : core::walk_turn::choose;
    outcome now{trial_outcome::dead, no_vertex};
    if (turn == core::walk_turn::restart) {
      now = {trial_outcome::moved, batch.starts[index]};
      steps.arrive(memory, now.next, step + 1);
    } else if (turn == core::walk_turn::choose) {
      if (!steps.proposer.targets.has(memory.here)) {
        std::uint32_t const region = pass.regions(memory.here.byte());
        state.walks[index] = {memory.here.vertex, step};
        state.waits[index] = static_cast<std::uint8_t>(region_wait::for_region(region));
        atomicAdd(parked + region, 1U);
        index = -1;
        continue;
      }
      now = steps.attempt(memory, walk, step);
    }
    bool const moved = now.what == trial_outcome::moved;
    if (moved) { *out.at(index, ++step) = now.next; }
    if (!moved || step == batch.length) {
      bool const dead = !moved && turn == core::walk_turn::choose;
      end_walk(batch, out, state, index, step, dead && batch.repeat_dead_ends);
      index = -1;
    }
  }

  __syncthreads();
  if (parked[threadIdx.x] > 0) {
    atomicAdd(state.waiting + threadIdx.x, static_cast<unsigned long long>(parked[threadIdx.x]));
  }
}

}  // namespace

void load_region(void const* from, void* to, std::int64_t bytes, int blocks, cuda_stream stream)
{
  auto const size = bytes / static_cast<std::int64_t>(sizeof(uint4));
  if (size == 0) { return; }
  load_region_kernel<<<grid_blocks(size, load_threads * load_width, blocks), load_threads, 0, stream>>>(
      static_cast<uint4 const*>(from), static_cast<uint4*>(to), size);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void begin_region_walks(walk_batch const& batch, waiting_walks const& state, walk_shape const& shape)
{
  begin_kernel<<<grid_blocks(batch.size, begin_threads), begin_threads, 0, shape.stream>>>(
      batch, region_output::of(batch, shape.step_major), state);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void pass_region(walk_job const& job, walk_batch const& batch, waiting_walks const& state, region_pass const& pass,
                 walk_shape const& shape)
{
  auto const launch = [&](auto* kernel, std::int64_t resident) {
    // Loads of the next region run at the same time: their blocks find places.
    std::int64_t const most = std::max<std::int64_t>(1, resident - pass.load_blocks);
    kernel<<<grid_blocks(batch.size, walk_threads, most), walk_threads, 0, shape.stream>>>(
        steps_of(job, pass), batch, job.ends, region_output::of(batch, shape.step_major), state, pass);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  };
  if (shape.may_end()) {
    static std::int64_t const resident = resident_blocks(pass_kernel<true>, walk_threads, 0, shape.device);
    launch(pass_kernel<true>, resident);
  } else {
    static std::int64_t const resident = resident_blocks(pass_kernel<false>, walk_threads, 0, shape.device);
    launch(pass_kernel<false>, resident);
  }
}

}  // namespace tendril::gpu
