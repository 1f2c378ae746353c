// Walkers and vertices after a step on a part, sorted by the ranks that they go to: a block sorts a tile in shared memory, and
// reserves room with one atomic operation a rank. Where among those for a rank a record lies is chance.

#include "gpu/device/launch.cuh"
#include "gpu/ranks/outbox.cuh"
#include "gpu/walks/moving/deliver.cuh"  // store_once
#include "gpu/walks/parts/part_step.hpp"

namespace tendril::gpu {
namespace {

__global__ __launch_bounds__(outbox_threads) void sort_kernel(__grid_constant__ part_step const at, std::int64_t size)
{
  __shared__ outbox<moved_vertex> walkers;
  __shared__ outbox<moved_vertex> vertices;
  __shared__ inbox<moved_vertex> walker_boxes[most_ranks];
  __shared__ inbox<moved_vertex> vertex_boxes[most_ranks];
  walkers.clear();
  vertices.clear();
  if (threadIdx.x == 0) {
    moved_vertex* next_walkers = at.walkers;
    moved_vertex* next_vertices = at.vertices;
    for (int r = 0; r < at.num_ranks; ++r) {
      walker_boxes[r] = {r == at.rank ? at.staying : next_walkers, at.cursors->walkers + r};
      vertex_boxes[r] = {next_vertices, at.cursors->vertices + r};
      if (r != at.rank) { next_walkers += at.counts->sent.walkers[r]; }
      next_vertices += at.counts->sent.vertices[r];
    }
  }
  __syncthreads();

  std::int64_t const stride = std::int64_t{gridDim.x} * outbox_threads;
  unsigned turn = 0;
  for (std::int64_t base = std::int64_t{blockIdx.x} * outbox_threads; base < size; base += stride, ++turn) {
    std::int64_t const i = base + threadIdx.x;
    moved_vertex record{0, no_vertex};
    if (i < size) {
      uint2 const words = __ldcs(reinterpret_cast<uint2 const*>(at.stepped + i));
      record = {words.x, words.y};
    }
    part_step::ways const to = at.ways_of(record);
    unsigned const slot = walkers.claim(to.walker, at.num_ranks, turn);
    unsigned const told = vertices.claim(to.vertex, at.num_ranks, turn);
    __syncthreads();
    walkers.reserve(walker_boxes, at.num_ranks, turn);
    vertices.reserve(vertex_boxes, at.num_ranks, turn);
    walkers.stage(to.walker, slot, record, turn);
    vertices.stage(to.vertex, told, record, turn);
    __syncthreads();
    walkers.send(walker_boxes, at.num_ranks, turn);
    vertices.send(vertex_boxes, at.num_ranks, turn);
  }
}

}  // namespace

void sort_by_rank(part_step const& at, std::int64_t size, int device, cuda_stream stream)
{
  if (size == 0) { return; }
  static std::int64_t const resident = resident_blocks(sort_kernel, outbox_threads, 0, device);
  sort_kernel<<<grid_blocks(size, outbox_threads, part_waves * resident), outbox_threads, 0, stream>>>(at, size);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
