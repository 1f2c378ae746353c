// What is done before the first hop of mini-batches: counters are zeroed, groups made, and the seeds put into the table
// (src/gpu/batches/table.hpp). CPU twin: src/cpu/batches/minibatch.cpp.

#pragma once

#include "core/draws.hpp"
#include "core/labor.hpp"
#include "gpu/batches/shape.cuh"

namespace tendril::gpu {

/// Group g of a call. Any thread.
__device__ inline batch_group make_group(begin_job const& job, batch_call const& call, std::uint32_t g)
{
  batch_group group;
  std::uint32_t const batch = !job.view.disjoint ? g : call.num_batches == 1 ? 0 : call.by_batch.quotient(g);
  group.batch = call.numbers.of(batch);
  group.key = call.dependency == 0 ? core::minibatch_draws::key(call.seed, group.batch)
                                   : core::labor_numbers::of(call.seed, group.batch, call.dependency).independent().key;
  group.time = 0x7fffffffffffffffLL;
  if (!job.view.disjoint) { return group; }
  group.tree = core::minibatch_draws::half_of(call.num_batches == 1 ? g : g - batch * call.by_batch.divisor());
  for (std::uint32_t t = 0; t < job.view.num_types; ++t) {
    vertex_call const& type = job.view.vertices[t];
    std::int64_t const i = g - type.first_seed;
    if (i >= 0 && i < type.num_seeds && type.times != nullptr) { group.time = type.times[i]; }
  }
  return group;
}

/// All of it. Apart from the table, no thread reads what another one writes here. The whole grid.
__device__ inline void begin_work(begin_job const& job)
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

}  // namespace tendril::gpu
