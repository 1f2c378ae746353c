// Walkers and vertices after a step on a part, sorted by the ranks that they go to: a block sorts a tile in shared memory, and
// reserves room with one atomic operation a rank. Where among those for a rank a record lies is chance.

#include "gpu/device/launch.cuh"
#include "gpu/ranks/outbox.cuh"
#include "gpu/walks/parts/part_step.cuh"  // load_walker, store_once

namespace tendril::gpu {
namespace {

/// @tparam Rows  Whether vertices go home.
template <bool Rows, class Walker>
__global__ __launch_bounds__(outbox_threads) void sort_kernel(__grid_constant__ part_step<Walker> const at,
                                                              std::int64_t size)
{
  __shared__ outbox<Walker> walkers;
  __shared__ outbox<moved_vertex> vertices;
  __shared__ inbox<Walker> walker_boxes[most_ranks];
  __shared__ inbox<moved_vertex> vertex_boxes[most_ranks];
  walkers.clear();
  if constexpr (Rows) { vertices.clear(); }
  if (threadIdx.x == 0) {
    line_up(walker_boxes, at.walkers, at.counts->sent.walkers, at.cursors->walkers, at.num_ranks, at.rank, at.staying);
    if constexpr (Rows) {
      line_up(vertex_boxes, at.vertices, at.counts->sent.vertices, at.cursors->vertices, at.num_ranks);
    }
  }
  __syncthreads();

  std::int64_t const stride = std::int64_t{gridDim.x} * outbox_threads;
  unsigned turn = 0;
  for (std::int64_t base = std::int64_t{blockIdx.x} * outbox_threads; base < size; base += stride, ++turn) {
    std::int64_t const i = base + threadIdx.x;
    Walker const record = i < size ? load_walker(at.stepped + i) : part_step<Walker>::ended(0, false);
    auto const to = at.ways_of(record);
    unsigned const slot = walkers.claim(to.walker, at.num_ranks, turn);
    unsigned told = 0;
    if constexpr (Rows) { told = vertices.claim(to.vertex, at.num_ranks, turn); }
    __syncthreads();
    walkers.reserve(walker_boxes, at.num_ranks, turn);
    if constexpr (Rows) { vertices.reserve(vertex_boxes, at.num_ranks, turn); }
    walkers.stage(to.walker, slot, record, turn);
    if constexpr (Rows) { vertices.stage(to.vertex, told, {record.walk, record.vertex}, turn); }
    __syncthreads();
    walkers.send(walker_boxes, at.num_ranks, turn);
    if constexpr (Rows) { vertices.send(vertex_boxes, at.num_ranks, turn); }
  }
}

template <class Walker>
__global__ __launch_bounds__(part_step_threads) void deliver_kernel(__grid_constant__ part_step<Walker> const at)
{
  deliver_told(at);
}

template <bool Rows, class Walker>
void launch_sort(part_step<Walker> const& at, std::int64_t size, int device, cuda_stream stream)
{
  static std::int64_t const resident = resident_blocks(sort_kernel<Rows, Walker>, outbox_threads, 0, device);
  sort_kernel<Rows><<<grid_blocks(size, outbox_threads, part_waves * resident), outbox_threads, 0, stream>>>(at, size);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace

template <class Walker>
void sort_by_rank(part_step<Walker> const& at, std::int64_t size, int device, cuda_stream stream)
{
  if (size == 0) { return; }
  if (at.keeps_rows()) {
    launch_sort<true>(at, size, device, stream);
  } else {
    launch_sort<false>(at, size, device, stream);
  }
}

template <class Walker>
void deliver_vertices(part_step<Walker> const& at, cuda_stream stream)
{
  if (at.num_told == 0) { return; }
  deliver_kernel<<<grid_blocks(at.num_told, part_step_threads), part_step_threads, 0, stream>>>(at);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

template void sort_by_rank(part_step<moved_vertex> const&, std::int64_t, int, cuda_stream);
template void sort_by_rank(part_step<trailing_walker> const&, std::int64_t, int, cuda_stream);
template void deliver_vertices(part_step<moved_vertex> const&, cuda_stream);
template void deliver_vertices(part_step<trailing_walker> const&, cuda_stream);

}  // namespace tendril::gpu
