// Counts walks that are rows: a warp a row. 4 bytes a vertex are read in order, and 8 are added to somewhere.

#include "gpu/walks/counts.hpp"

#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>  // copy_to_host

#include "gpu/device/launch.cuh"
#include "gpu/walks/counts.cuh"

namespace tendril::gpu {
namespace {

constexpr int count_threads = 256;
constexpr std::int64_t count_blocks = 1 << 14;

__global__ __launch_bounds__(count_threads) void count_rows_kernel(vertex_id const* vertices,
                                                                   std::int32_t const* lengths, std::int64_t num_walks,
                                                                   std::int64_t row, vertex_counters to,
                                                                   std::int64_t* steps)
{
  std::int64_t taken = 0;
  std::int64_t const warps = grid_stride() / warp_size;
  for (std::int64_t i = global_thread() / warp_size; i < num_walks; i += warps) {
    std::int32_t const length = lengths[i];
    vertex_id const* const walk = vertices + i * row;
    if (to.visits != nullptr) {
      for (std::int64_t k = lane_id(); k <= length; k += warp_size) { count_visit(to, __ldcs(walk + k)); }
    }
    if (lane_id() == 0) { count_end(to, walk[length]); }
    taken += length;
  }
  if (lane_id() == 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(steps), static_cast<unsigned long long>(taken));
  }
}

buffer<std::int64_t> zeros(std::int64_t size, gpu_exec const& exec)
{
  buffer<std::int64_t> out(size, gpu_memory(exec.device, exec.stream));
  TENDRIL_CUDA_TRY(cudaMemsetAsync(out.data(), 0, out.span().size_bytes(), exec.stream));
  return out;
}

}  // namespace

vertex_counts::vertex_counts(walk_counts const& wanted, vertex_id first, std::int64_t num_vertices,
                             gpu_exec const& exec)
    : exec_(exec),
      first_(first),
      visits_(zeros(wanted.visits.empty() ? 0 : num_vertices, exec)),
      ends_(zeros(wanted.ends.empty() ? 0 : num_vertices, exec)),
      steps_(zeros(1, exec))
{
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
}

vertex_counters vertex_counts::view()
{
  return {visits_.empty() ? nullptr : visits_.data(), ends_.empty() ? nullptr : ends_.data(), first_};
}

void vertex_counts::add_rows(vertex_id const* vertices, std::int32_t const* lengths, std::int64_t num_walks,
                             std::int64_t row)
{
  unsigned const blocks = grid_blocks(num_walks, count_threads / warp_size, count_blocks);
  count_rows_kernel<<<blocks, count_threads, 0, exec_.stream>>>(vertices, lengths, num_walks, row, view(),
                                                                steps_.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void vertex_counts::add_to(std::span<std::int64_t> wanted, buffer<std::int64_t> const& counted) const
{
  buffer<std::int64_t> here(counted.size());
  copy_to_host(counted.data(), here.data(), here.span().size_bytes(), exec_);
  for (std::size_t v = 0; v < wanted.size(); ++v) { wanted[v] += here[static_cast<std::int64_t>(v)]; }
}

std::int64_t vertex_counts::add_to(walk_counts const& wanted)
{
  add_to(wanted.visits, visits_);
  add_to(wanted.ends, ends_);
  std::int64_t steps = 0;
  copy_to_host(steps_.data(), &steps, sizeof steps, exec_);
  return steps;
}

}  // namespace tendril::gpu
