// Vertices that came last to their home.

#include "gpu/walks/parts/alone_step.cuh"
#include "gpu/walks/parts/part_step.cuh"

namespace tendril::gpu {
namespace {

constexpr int deliver_threads = 256;

template <class Step>
__global__ __launch_bounds__(deliver_threads) void deliver_kernel(__grid_constant__ Step const at)
{
  deliver_told(at);
}

template <class Step>
void deliver(Step const& at, cuda_stream stream)
{
  if (at.num_told == 0) { return; }
  deliver_kernel<<<grid_blocks(at.num_told, deliver_threads), deliver_threads, 0, stream>>>(at);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace

template <class Walker>
void deliver_vertices(part_step<Walker> const& at, cuda_stream stream)
{
  deliver(at, stream);
}

void deliver_vertices(alone_step const& at, cuda_stream stream) { deliver(at, stream); }

template void deliver_vertices(part_step<moved_vertex> const&, cuda_stream);
template void deliver_vertices(part_step<trailing_walker> const&, cuda_stream);

}  // namespace tendril::gpu
