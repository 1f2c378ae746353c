// Bytes a slot: 4 read to count, 4 read and 8 written to sort. Where there are copies, each pass reads 4 more of their numbers, of all
// vertices: more than a search of as many copies would in a cache, but at once.

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
  __shared__ unsigned counts[most_groups];
  if (threadIdx.x < most_groups) { counts[threadIdx.x] = 0; }
  __syncthreads();
  std::int64_t const stride = grid_stride();
  std::int64_t const num_slots = at.num_slots();
  for (std::int64_t base = std::int64_t{blockIdx.x} * block_threads; base < num_slots; base += stride) {
    std::int64_t const i = base + threadIdx.x;
    int const to = at.place_of(i < num_slots ? at.vertices[i] : no_vertex).group;
    for (int group = 0; group < at.num_groups(); ++group) {
      unsigned const mine = __ballot_sync(full_warp, to == group);
      if (lane_id() == 0 && mine != 0) { atomicAdd(counts + group, static_cast<unsigned>(__popc(mine))); }
    }
  }
  __syncthreads();
  if (threadIdx.x < most_groups && counts[threadIdx.x] != 0) {
    atomicAdd(at.counts + threadIdx.x, counts[threadIdx.x]);
  }
}

__global__ __launch_bounds__(outbox_threads) void sort_kernel(__grid_constant__ slot_sort const at)
{
  __shared__ outbox<asked_slot> slots;
  __shared__ inbox<asked_slot> boxes[most_groups];
  int const num_groups = at.num_groups();
  slots.clear();
  if (threadIdx.x == 0) {
    asked_slot* next = at.slots + at.counts[at.rank];
    for (int r = 0; r < num_groups; ++r) {
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
    auto const [to, row] = at.place_of(v);
    asked_slot const slot{static_cast<std::uint32_t>(i), row};
    unsigned const place = slots.claim(to, num_groups, turn);
    __syncthreads();
    slots.reserve(boxes, num_groups, turn);
    slots.stage(to, place, slot, turn);
    __syncthreads();
    slots.send(boxes, num_groups, turn);
  }
}

template <class T>
__global__ __launch_bounds__(block_threads) void place_kernel(asked_slot const* slots, std::int64_t size,
                                                              T const* of_slots, T* to)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) { to[slots[i].slot] = of_slots[i]; }
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

template <class T>
void place_answers(asked_slot const* slots, std::int64_t size, T const* of_slots, T* to, cuda_stream stream)
{
  if (size == 0) { return; }
  place_kernel<<<grid_blocks(size, block_threads), block_threads, 0, stream>>>(slots, size, of_slots, to);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

template void place_answers(asked_slot const*, std::int64_t, std::int64_t const*, std::int64_t*, cuda_stream);
template void place_answers(asked_slot const*, std::int64_t, float const*, float*, cuda_stream);

}  // namespace tendril::gpu
