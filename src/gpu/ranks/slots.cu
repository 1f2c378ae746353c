// Bytes a slot: 4 read to count, 4 read and 8 written to sort.

#include "gpu/device/launch.cuh"
#include "gpu/ranks/outbox.cuh"
#include "gpu/ranks/slots.hpp"

namespace tendril::gpu {

/// For outbox.
__device__ __forceinline__ void store_once(asked_slot* to, asked_slot const& slot)
{
  __stcs(reinterpret_cast<uint2*>(to), make_uint2(slot.slot, slot.row));
}

namespace {

constexpr int block_threads = 256;

__global__ __launch_bounds__(block_threads) void count_kernel(__grid_constant__ slot_sort const at)
{
  __shared__ unsigned counts[most_ranks];
  if (threadIdx.x < most_ranks) { counts[threadIdx.x] = 0; }
  __syncthreads();
  std::int64_t const stride = grid_stride();
  std::int64_t const num_slots = at.num_slots();
  for (std::int64_t base = std::int64_t{blockIdx.x} * block_threads; base < num_slots; base += stride) {
    std::int64_t const i = base + threadIdx.x;
    int const to = at.owner_of(i < num_slots ? at.vertices[i] : no_vertex);
    for (int rank = 0; rank < at.num_ranks; ++rank) {
      unsigned const mine = __ballot_sync(full_warp, to == rank);
      if (lane_id() == 0 && mine != 0) { atomicAdd(counts + rank, static_cast<unsigned>(__popc(mine))); }
    }
  }
  __syncthreads();
  if (threadIdx.x < most_ranks && counts[threadIdx.x] != 0) { atomicAdd(at.counts + threadIdx.x, counts[threadIdx.x]); }
}

__global__ __launch_bounds__(outbox_threads) void sort_kernel(__grid_constant__ slot_sort const at)
{
  __shared__ outbox<asked_slot> slots;
  __shared__ inbox<asked_slot> boxes[most_ranks];
  slots.clear();
  if (threadIdx.x == 0) {
    asked_slot* next = at.slots + at.counts[at.rank];
    for (int r = 0; r < at.num_ranks; ++r) {
      boxes[r] = {r == at.rank ? at.slots : next, at.cursors + r};
      if (r != at.rank) { next += at.counts[r]; }
    }
  }
  __syncthreads();
  std::int64_t const stride = std::int64_t{gridDim.x} * outbox_threads;
  std::int64_t const num_slots = at.num_slots();
  unsigned turn = 0;
  for (std::int64_t base = std::int64_t{blockIdx.x} * outbox_threads; base < num_slots; base += stride, ++turn) {
    std::int64_t const i = base + threadIdx.x;
    vertex_id const v = i < num_slots ? at.vertices[i] : no_vertex;
    int const to = at.owner_of(v);
    asked_slot const slot{static_cast<std::uint32_t>(i), to < 0 ? v : v - at.bounds[to]};
    unsigned const place = slots.claim(to, at.num_ranks, turn);
    __syncthreads();
    slots.reserve(boxes, at.num_ranks, turn);
    slots.stage(to, place, slot, turn);
    __syncthreads();
    slots.send(boxes, at.num_ranks, turn);
  }
}

}  // namespace

void count_slots(slot_sort const& at, int device, cuda_stream stream)
{
  if (at.size == 0) { return; }
  static std::int64_t const resident = resident_blocks(count_kernel, block_threads, 0, device);
  count_kernel<<<grid_blocks(at.size, block_threads, resident), block_threads, 0, stream>>>(at);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void sort_slots(slot_sort const& at, int device, cuda_stream stream)
{
  if (at.size == 0) { return; }
  static std::int64_t const resident = resident_blocks(sort_kernel, outbox_threads, 0, device);
  sort_kernel<<<grid_blocks(at.size, outbox_threads, resident), outbox_threads, 0, stream>>>(at);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
