// Picks with replacement: a thread makes two of one parent, 2k and 2k + 1, so that neighbouring threads write
// neighbouring slots, and the threads of a parent read its row from the first-level cache.

#pragma once

#include "gpu/trees/part.cuh"

namespace tendril::gpu {

inline constexpr int pair_threads = 256;

/// `Chooser` makes picks: choose(part, row, place, slot, has_second), for a row that has edges. Any threads that cover
/// all pairs.
template <class Chooser, class View>
__global__ __launch_bounds__(pair_threads) void pairs_kernel(Chooser const choose,
                                                             khop_part<View> const __grid_constant__ part)
{
  std::uint32_t const n = blockIdx.x * blockDim.x + threadIdx.x;
  std::uint32_t const parent = part.by_pairs.quotient(n);
  if (parent >= part.num_parents) { return; }
  std::uint32_t const slot = 2 * (n - parent * part.by_pairs.divisor());
  typename View::row_type const row = row_of_parent(part, parent);
  pick_pair pair;
  if (!row.empty()) { pair = choose(part, row, place_of(part, parent), slot, slot + 1 < part.fanout); }
  write_pair(part, parent, slot, row, pair);
}

template <class Chooser>
void enqueue_pairs(khop_job const& job, Chooser choose, gpu_exec const& exec)
{
  std::int64_t const pairs = job.fanout / 2 + job.fanout % 2;
  job.graph.visit([&](auto const& graph) {
    for_each_part(graph, job, pairs, [&](auto const& part) {
      unsigned const blocks = grid_blocks(part.num_parents * pairs, pair_threads, 1 << 23);
      pairs_kernel<<<blocks, pair_threads, 0, exec.stream>>>(choose, part);
      TENDRIL_CUDA_TRY(cudaGetLastError());
    });
  });
}

}  // namespace tendril::gpu
