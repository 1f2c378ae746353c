// How the samples of a multi-dimensional walk begin.

#pragma once

#include "gpu/device/launch.cuh"
#include "gpu/walks/multidim.hpp"

namespace tendril::gpu {

/// Copies the roots of the `count` samples from `first` on, at most 32, to the front of their rows, and gives root k of
/// all of them, k in [0, count * num_roots), to keep(k, vertex). The samples of a warp are neighbours, so that it reads
/// one run of memory, four lines at a time. Tells the host of a root that is no vertex.
/// Whole warp, converged, with equal arguments. @return whether all are vertices, in every lane.
template <class Keep>
__device__ __forceinline__ bool take_roots(multidim_job const& job, std::int64_t first, std::uint32_t count, Keep keep)
{
  constexpr std::uint32_t at_once = 4;
  std::uint32_t const size = count * job.num_roots;
  vertex_id const* const from = job.roots + first * job.num_roots;
  vertex_id* const to = job.vertices + first * (job.num_roots + std::int64_t{job.length});
  bool valid = true;
  for (std::uint32_t begin = lane_id(); begin < size; begin += at_once * warp_size) {
    vertex_id v[at_once];
#pragma unroll
    for (std::uint32_t j = 0; j < at_once; ++j) {
      std::uint32_t const k = begin + j * warp_size;
      v[j] = k < size ? __ldcs(from + k) : vertex_id{0};
    }
#pragma unroll
    for (std::uint32_t j = 0; j < at_once; ++j) {
      std::uint32_t const k = begin + j * warp_size;
      if (k >= size) { continue; }
      if (v[j] >= job.graph.num_vertices) {
        valid = false;
        job.status->bad_start = first * job.num_roots + k;
      }
      __stcs(to + (k + static_cast<std::int64_t>(k / job.num_roots) * job.length), v[j]);
      keep(k, v[j]);
    }
  }
  return __all_sync(full_warp, valid) != 0;
}

}  // namespace tendril::gpu
