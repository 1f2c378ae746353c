// How many vertices a step has added to each sample: an integer count, the same in any order. CPU twin: sample_grower in
// engine/applications/cpu.hpp.

#include <tendril/engine/applications/step.hpp>

#include "gpu/applications/transit.hpp"
#include "gpu/device/launch.cuh"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;
constexpr std::int64_t warp_from_slots = 16;

/// `width` lanes a sample, 1 or 32. Any grid of whole warps, in a loop.
template <int width>
__global__ __launch_bounds__(block_threads) void count_slots_kernel(slot_count const job)
{
  std::int64_t const lane = width == 1 ? 0 : lane_id();
  std::int64_t const stride = grid_stride() / width;
  for (std::int64_t s = global_thread() / width; s < job.num_samples; s += stride) {
    vertex_id const* const slots = job.vertices + s * job.stride;
    std::uint32_t count = 0;
    for (std::int64_t k = lane; k < job.num_slots; k += width) { count += slots[k] != no_vertex ? 1 : 0; }
    if constexpr (width > 1) { count = __reduce_add_sync(full_warp, count); }
    if (lane != 0) { continue; }
    job.sizes[s] = static_cast<std::int32_t>(count);
    if (job.problem != nullptr && count > 0) {
      std::uint64_t const code = engine::problem_code::of(s, job.num_steps, engine::application_problem::steps);
      atomicMin(reinterpret_cast<unsigned long long*>(job.problem), static_cast<unsigned long long>(code));
    }
  }
}

}  // namespace

void count_slots(slot_count const& job, gpu_exec const& exec)
{
  device_guard const guard(exec.device);
  if (job.num_slots < warp_from_slots) {
    count_slots_kernel<1><<<grid_blocks(job.num_samples, block_threads), block_threads, 0, exec.stream>>>(job);
  } else {
    count_slots_kernel<32><<<grid_blocks(job.num_samples * 32, block_threads), block_threads, 0, exec.stream>>>(job);
  }
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
