// Mini-batches, first part of a hop: every picked neighbour is put into the table (src/gpu/minibatch_table.hpp), which
// keeps the least slot that asks for it.
//
// A pick takes one gather of its neighbour and one access to a slot of the table, 16 bytes of one sector: compared and
// swapped, then raised, if the vertex is new; only read, mostly, if it isn't. 12 bytes are read and 4 written in
// sequence. Of a batch of 1,024 seeds, fan-outs (15, 10, 5), the table is 16 or 32 MB and stays in the second-level
// cache of an H200 (139 G accesses/s); the gathers (42.7 G/s from a large graph) are the floor: 18 us for 750,000 picks.

#include "core/random.hpp"
#include "gpu/minibatch_shape.cuh"

namespace tendril::gpu {
namespace {

constexpr int insert_threads = 256;

__device__ batch_group make_group(begin_job const& job, batch_call const& call, std::uint32_t g)
{
  batch_group group;
  std::uint32_t const batch = !job.view.disjoint ? g : call.num_batches == 1 ? 0 : call.by_batch.quotient(g);
  group.key = core::make_key(call.seed, core::domain::minibatch, call.first_batch + batch);
  group.time = 0x7fffffffffffffffLL;
  if (!job.view.disjoint) { return group; }
  group.tree = 1 + (call.num_batches == 1 ? g : g - batch * call.by_batch.divisor());
  for (std::uint32_t t = 0; t < job.view.num_types; ++t) {
    vertex_call const& type = job.view.vertices[t];
    std::int64_t const i = g - type.first_seed;
    if (i >= 0 && i < type.num_seeds && type.times != nullptr) { group.time = type.times[i]; }
  }
  return group;
}

/// Nobody reads here what another thread writes, but for the table.
__global__ __launch_bounds__(insert_threads) void begin_kernel(begin_job const __grid_constant__ job)
{
  batch_call const call = *job.view.call;
  std::int64_t const stride = grid_stride();
  for (std::int64_t i = global_thread(); i < job.num_zeros; i += stride) { job.zeros[i] = 0; }
  for (std::int64_t g = global_thread(); g < call.num_groups; g += stride) {
    job.groups[g] = make_group(job, call, static_cast<std::uint32_t>(g));
  }
  for (std::uint32_t t = 0; t < job.view.num_types; ++t) {
    vertex_call const& type = job.view.vertices[t];
    for (std::int64_t i = global_thread(); i < type.num_seeds; i += stride) {
      vertex_id const v = type.seeds[i];
      std::int64_t const place = type.first_seed + i;
      if (v >= type.num_vertices) {
        atomicMin(job.bad_seed, static_cast<unsigned long long>(place));
        job.at[place] = nowhere;
        continue;
      }
      std::uint32_t const group = job.view.disjoint       ? static_cast<std::uint32_t>(place)
                                  : call.num_batches == 1 ? 0
                                                          : call.by_batch.quotient(static_cast<std::uint32_t>(i));
      std::uint32_t const stamp =
          stamp_of_group(call.first_stamp, job.view.num_types, static_cast<std::int32_t>(t), group);
      job.at[place] = job.table.insert(stamped(stamp, v), call.first_stamp, static_cast<std::uint32_t>(i));
    }
  }
}

template <bool All>
__global__ __launch_bounds__(insert_threads) void insert_kernel(number_job const __grid_constant__ job)
{
  batch_shape<false, false, All> const shape(job);
  std::int64_t const num_slots = shape.num_slots();
  std::uint32_t const first_stamp = job.view.call->first_stamp;
  std::int64_t const num_vertices = job.view.vertices[job.to].num_vertices;
  for (std::int64_t s = global_thread(); s < num_slots; s += grid_stride()) {
    edge_id const e = __ldcs(job.picked + s);
    std::uint32_t at = nowhere;
    if (e >= 0) {
      vertex_id const v = __ldg(job.graph.indices + e);
      auto const slot = static_cast<std::uint32_t>(s);
      std::uint32_t const group = job.from.group_of[shape.expanded_of(slot)];
      // A neighbour that is no vertex of its type (hetero_graph::validate tells) has no room in the lists.
      if (v < num_vertices) {
        std::uint32_t const stamp = stamp_of_group(first_stamp, job.view.num_types, job.to, group);
        at = job.table.insert(stamped(stamp, v), first_stamp, slot);
      }
    }
    job.at[s] = at;
  }
}

}  // namespace

void begin_batches(begin_job const& job, gpu_exec const& exec)
{
  std::int64_t const most = std::max({job.num_zeros, job.most_seeds, job.most_groups});
  begin_kernel<<<filling_blocks<begin_kernel>(most, insert_threads, exec.device), insert_threads, 0, exec.stream>>>(
      job);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void insert_picks(number_job const& job, gpu_exec const& exec)
{
  auto const launch = [&]<bool All>() {
    constexpr auto kernel = insert_kernel<All>;
    unsigned const blocks = filling_blocks<kernel>(job.most_slots, insert_threads, exec.device);
    kernel<<<blocks, insert_threads, 0, exec.stream>>>(job);
  };
  job.offsets != nullptr ? launch.template operator()<true>() : launch.template operator()<false>();
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
