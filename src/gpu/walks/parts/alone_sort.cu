// What has become of walkers that go alone, sorted by the ranks that they go to, as part_step's (sort.cu).

#include "gpu/ranks/outbox.cuh"
#include "gpu/walks/parts/alone_step.cuh"

namespace tendril::gpu {

// Found by their arguments where an outbox sends.

__device__ __forceinline__ void store_once(walker_alone* to, walker_alone const& w)
{
  __stcs(reinterpret_cast<uint4*>(to), make_uint4(w.walk, static_cast<std::uint32_t>(w.step), w.vertex, w.previous));
}
__device__ __forceinline__ void store_once(asking_walker* to, asking_walker const& w) { *to = w; }
__device__ __forceinline__ void store_once(vertex_alone* to, vertex_alone const& v) { *to = v; }

namespace {

constexpr int deliver_threads = 256;

__global__ __launch_bounds__(outbox_threads) void alone_sort_kernel(__grid_constant__ alone_step const at,
                                                                    std::int64_t size)
{
  __shared__ outbox<walker_alone> walkers;
  __shared__ outbox<asking_walker> asking;
  __shared__ outbox<vertex_alone> vertices;
  __shared__ inbox<walker_alone> walker_boxes[most_ranks];
  __shared__ inbox<asking_walker> asking_boxes[most_ranks];
  __shared__ inbox<vertex_alone> vertex_boxes[most_ranks];
  walkers.clear();
  asking.clear();
  vertices.clear();
  if (threadIdx.x == 0) {
    line_up(walker_boxes, at.walkers, at.counts->sent.walkers, at.cursors->walkers, at.num_ranks, at.rank, at.staying);
    line_up(asking_boxes, at.leaving, at.counts->sent.asking, at.cursors->asking, at.num_ranks);
    line_up(vertex_boxes, at.vertices, at.counts->sent.vertices, at.cursors->vertices, at.num_ranks);
  }
  __syncthreads();

  std::int64_t const stride = std::int64_t{gridDim.x} * outbox_threads;
  unsigned turn = 0;
  for (std::int64_t base = std::int64_t{blockIdx.x} * outbox_threads; base < size; base += stride, ++turn) {
    std::int64_t const i = base + threadIdx.x;
    asking_walker record = alone_step::ended(0);
    if (i < size) { record = at.stepped[i]; }
    alone_step::ways const to = at.ways_of(record);
    unsigned const slot = walkers.claim(to.walker, at.num_ranks, turn);
    unsigned const asked = asking.claim(to.asking, at.num_ranks, turn);
    unsigned const told = vertices.claim(to.vertex, at.num_ranks, turn);
    __syncthreads();
    walkers.reserve(walker_boxes, at.num_ranks, turn);
    asking.reserve(asking_boxes, at.num_ranks, turn);
    vertices.reserve(vertex_boxes, at.num_ranks, turn);
    walkers.stage(to.walker, slot, {record.walk, record.step, record.vertex, record.previous}, turn);
    asking.stage(to.asking, asked, record, turn);
    vertices.stage(to.vertex, told, {record.walk, record.step, record.vertex}, turn);
    __syncthreads();
    walkers.send(walker_boxes, at.num_ranks, turn);
    asking.send(asking_boxes, at.num_ranks, turn);
    vertices.send(vertex_boxes, at.num_ranks, turn);
  }
}

__global__ __launch_bounds__(deliver_threads) void deliver_kernel(__grid_constant__ alone_step const at)
{
  deliver_told(at);
}

}  // namespace

void sort_by_rank(alone_step const& at, std::int64_t size, int device, cuda_stream stream)
{
  if (size == 0) { return; }
  static std::int64_t const resident = resident_blocks(alone_sort_kernel, outbox_threads, 0, device);
  alone_sort_kernel<<<grid_blocks(size, outbox_threads, part_waves * resident), outbox_threads, 0, stream>>>(at, size);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void deliver_vertices(alone_step const& at, cuda_stream stream)
{
  if (at.num_told == 0) { return; }
  deliver_kernel<<<grid_blocks(at.num_told, deliver_threads), deliver_threads, 0, stream>>>(at);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
