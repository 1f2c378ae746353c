// Bytes a vertex: 12 read and 8 written to tell of it. A pick that arrives: 12 read, 12 written, and a slot of the table.

#include "gpu/batches/begin.cuh"
#include "gpu/batches/parts/asked.hpp"
#include "gpu/batches/pick.cuh"
#include "gpu/graph/edge_tiles.cuh"  // row_of

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
                                                              std::uint32_t const* group_of, std::uint32_t first_group,
                                                              vertex_id* rows, std::uint32_t* groups)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    asked_slot const slot = slots[i];
    rows[i] = slot.row;
    groups[i] = first_group + group_of[slot.slot];
  }
}

/// A pick on its way: its edge, and where it belongs.
struct arriving_pick {
  edge_id edge;  ///< Of the rank's part.
  vertex_id neighbor;
  std::uint32_t slot;      ///< The vertex of the list that it is picked for.
  std::uint32_t position;  ///< Among the picks of the hop.
};

/// Of a fixed number of picks a slot.
struct by_fanout {
  made_picks picks;
  core::fast_divisor fanout;

  [[nodiscard]] __device__ std::int64_t size() const { return picks.size * fanout.divisor(); }
  [[nodiscard]] __device__ arriving_pick operator()(std::int64_t p) const
  {
    std::uint32_t const i = fanout.quotient(static_cast<std::uint32_t>(p));
    std::uint32_t const slot = picks.slots[i].slot;
    std::uint32_t const within = static_cast<std::uint32_t>(p) - i * fanout.divisor();
    return {__ldcs(reinterpret_cast<long long const*>(picks.edges + p)), __ldcs(picks.neighbors + p), slot,
            slot * fanout.divisor() + within};
  }
};

/// Of counted picks.
struct by_offsets {
  made_picks picks;
  counted_picks counted;

  [[nodiscard]] __device__ std::int64_t size() const { return counted.end - counted.first; }
  [[nodiscard]] __device__ arriving_pick operator()(std::int64_t p) const
  {
    std::int64_t const i = row_of(counted.offsets, 0, picks.size - 1, counted.first + p);
    std::uint32_t const slot = picks.slots[i].slot;
    return {__ldcs(reinterpret_cast<long long const*>(picks.edges + p)), __ldcs(picks.neighbors + p), slot,
            static_cast<std::uint32_t>(counted.places[slot] + (counted.first + p - counted.offsets[i]))};
  }
};

template <class Picks>
__global__ __launch_bounds__(block_threads) void put_kernel(Picks const __grid_constant__ picks,
                                                            expansion_slots const __grid_constant__ to)
{
  std::int64_t const num_picks = picks.size();
  std::uint32_t const first_stamp = *to.sink.first_stamp;
  std::int64_t const stride = std::int64_t{gridDim.x} * block_threads * picks_a_thread;
  for (std::int64_t base = std::int64_t{blockIdx.x} * block_threads * picks_a_thread; base < num_picks;
       base += stride) {
    insertion items[picks_a_thread];
#pragma unroll
    for (int j = 0; j < picks_a_thread; ++j) {
      std::int64_t const p = base + j * block_threads + threadIdx.x;
      if (p >= num_picks) { break; }
      arriving_pick const pick = picks(p);
      __stcs(reinterpret_cast<long long*>(to.picked + pick.position),
             static_cast<long long>(pick.edge < 0 ? pick.edge : picks.picks.first_edge + pick.edge));
      std::uint32_t const stamp = stamp_of_group(first_stamp, to.sink.num_types, to.sink.to, to.group_of[pick.slot]);
      items[j] = {stamped(stamp, pick.neighbor), pick.position, nowhere, pick.neighbor < to.sink.num_vertices};
    }
    to.sink.table.insert(items, first_stamp);
#pragma unroll
    for (int j = 0; j < picks_a_thread; ++j) {
      if (base + j * block_threads + threadIdx.x < num_picks) { to.sink.at[items[j].position] = items[j].at; }
    }
  }
}

template <class Picks>
void launch_put(Picks const& picks, std::int64_t num_picks, expansion_slots const& to, gpu_exec const& exec)
{
  if (num_picks == 0) { return; }
  constexpr auto kernel = put_kernel<Picks>;
  std::int64_t const threads = (num_picks + picks_a_thread - 1) / picks_a_thread;
  kernel<<<filling_blocks<kernel>(threads, block_threads, exec.device), block_threads, 0, exec.stream>>>(picks, to);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace

void make_asked_groups(std::uint64_t seed, std::uint64_t dependency, asking_batches const& of, bool disjoint,
                       batch_group* groups, cuda_stream stream)
{
  batch_call call;
  call.seed = seed;
  call.dependency = dependency;
  call.numbers = of.numbers;
  call.num_batches = of.num_batches;
  call.num_groups = disjoint ? of.num_batches * of.batch_size : of.num_batches;
  call.by_batch = core::fast_divisor(static_cast<std::uint32_t>(of.batch_size));
  if (call.num_groups == 0) { return; }
  groups_kernel<<<grid_blocks(call.num_groups, block_threads), block_threads, 0, stream>>>(call, disjoint, groups);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void split_slots(asked_slot const* slots, std::int64_t size, std::uint32_t const* group_of, std::uint32_t first_group,
                 vertex_id* rows, std::uint32_t* groups, cuda_stream stream)
{
  if (size == 0) { return; }
  split_kernel<<<grid_blocks(size, block_threads), block_threads, 0, stream>>>(slots, size, group_of, first_group, rows,
                                                                               groups);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void put_picks(made_picks const& picks, expansion_slots const& to, gpu_exec const& exec)
{
  launch_put(by_fanout{picks, core::fast_divisor(to.fanout)}, picks.size * to.fanout, to, exec);
}

void put_counted(made_picks const& picks, counted_picks const& counted, expansion_slots const& to, gpu_exec const& exec)
{
  launch_put(by_offsets{picks, counted}, counted.end - counted.first, to, exec);
}

}  // namespace tendril::gpu
