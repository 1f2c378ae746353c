// Bytes a vertex: 12 read and 8 written to tell of it. A pick that arrives: 12 read, 12 written, and a slot of the table.

#include "gpu/batches/begin.cuh"
#include "gpu/batches/parts/asked.hpp"
#include "gpu/batches/pick.cuh"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;
constexpr int picks_a_thread = 4;  // whose places in the table are looked for together

__global__ __launch_bounds__(block_threads) void groups_kernel(batch_call const __grid_constant__ call, bool disjoint,
                                                               batch_group* groups)
{
  begin_job job;
  job.view.disjoint = disjoint;
  job.view.num_types = 0;  // seeds have no times
  for (std::int64_t g = global_thread(); g < call.num_groups; g += grid_stride()) {
    groups[g] = make_group(job, call, static_cast<std::uint32_t>(g));
  }
}

__global__ __launch_bounds__(block_threads) void split_kernel(asked_slot const* slots, std::int64_t size,
                                                              std::uint32_t const* group_of, vertex_id* rows,
                                                              std::uint32_t* groups)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    asked_slot const slot = slots[i];
    rows[i] = slot.row;
    groups[i] = group_of[slot.slot];
  }
}

__global__ __launch_bounds__(block_threads) void put_kernel(made_picks const __grid_constant__ picks,
                                                            expansion_slots const __grid_constant__ to,
                                                            core::fast_divisor const by_fanout)
{
  std::int64_t const num_picks = picks.size * to.fanout;
  std::uint32_t const first_stamp = *to.sink.first_stamp;
  std::int64_t const stride = std::int64_t{gridDim.x} * block_threads * picks_a_thread;
  for (std::int64_t base = std::int64_t{blockIdx.x} * block_threads * picks_a_thread; base < num_picks;
       base += stride) {
    insertion items[picks_a_thread];
#pragma unroll
    for (int j = 0; j < picks_a_thread; ++j) {
      std::int64_t const p = base + j * block_threads + threadIdx.x;
      if (p >= num_picks) { break; }
      std::uint32_t const i = by_fanout.quotient(static_cast<std::uint32_t>(p));
      std::uint32_t const slot = picks.slots[i].slot;
      items[j].position = slot * to.fanout + (static_cast<std::uint32_t>(p) - i * to.fanout);
      edge_id const edge = __ldcs(reinterpret_cast<long long const*>(picks.edges + p));
      __stcs(reinterpret_cast<long long*>(to.picked + items[j].position),
             static_cast<long long>(edge < 0 ? edge : picks.first_edge + edge));
      vertex_id const neighbor = __ldcs(picks.neighbors + p);
      items[j].wanted = neighbor < to.sink.num_vertices;
      items[j].key = stamped(stamp_of_group(first_stamp, to.sink.num_types, to.sink.to, to.group_of[slot]), neighbor);
    }
    to.sink.table.insert(items, first_stamp);
#pragma unroll
    for (int j = 0; j < picks_a_thread; ++j) {
      if (base + j * block_threads + threadIdx.x < num_picks) { to.sink.at[items[j].position] = items[j].at; }
    }
  }
}

}  // namespace

void make_asked_groups(std::uint64_t seed, asking_batches const& of, bool disjoint, batch_group* groups,
                       cuda_stream stream)
{
  batch_call call;
  call.seed = seed;
  call.numbers = of.numbers;
  call.num_batches = of.num_batches;
  call.num_groups = disjoint ? of.num_batches * of.batch_size : of.num_batches;
  call.by_batch = core::fast_divisor(static_cast<std::uint32_t>(of.batch_size));
  if (call.num_groups == 0) { return; }
  groups_kernel<<<grid_blocks(call.num_groups, block_threads), block_threads, 0, stream>>>(call, disjoint, groups);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void split_slots(asked_slot const* slots, std::int64_t size, std::uint32_t const* group_of, vertex_id* rows,
                 std::uint32_t* groups, cuda_stream stream)
{
  if (size == 0) { return; }
  split_kernel<<<grid_blocks(size, block_threads), block_threads, 0, stream>>>(slots, size, group_of, rows, groups);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void put_picks(made_picks const& picks, expansion_slots const& to, gpu_exec const& exec)
{
  if (picks.size == 0) { return; }
  std::int64_t const threads = (picks.size * to.fanout + picks_a_thread - 1) / picks_a_thread;
  put_kernel<<<filling_blocks<put_kernel>(threads, block_threads, exec.device), block_threads, 0, exec.stream>>>(
      picks, to, core::fast_divisor(to.fanout));
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
