// Walks by regions: copies of regions, the begin of walks, and passes of uniform walks (region_pass.cuh).

#include "gpu/walks/region_pass.cuh"

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
  if (job.rule == sampling_rule::reject) {
    pass_region_by_reject(job, batch, state, pass, shape);
  } else if (job.rule != sampling_rule::uniform) {
    pass_region_by_sums(job, batch, state, pass, shape);
  } else {
    region_targets const targets = region_targets_of(job, pass);
    uniform_proposer<place_finder<region_rows, vertex_index>, region_targets> const proposer{
        {{targets}, {}}, targets, false};
    launch_region_pass<direct_steps>(proposer, job, batch, state, pass, shape);
  }
}

}  // namespace tendril::gpu
