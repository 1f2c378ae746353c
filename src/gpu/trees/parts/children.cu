// Bytes a child that comes from another rank: 4 read and 4 written, in runs of the fan-out.

#include "gpu/device/launch.cuh"
#include "gpu/trees/parts/children.hpp"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;

__global__ __launch_bounds__(block_threads) void place_kernel(asked_slot const* slots, std::int64_t num_children,
                                                              std::uint32_t fanout, vertex_id const* vertices,
                                                              edge_id const* edges, vertex_id* to_vertices,
                                                              edge_id* to_edges)
{
  for (std::int64_t c = global_thread(); c < num_children; c += grid_stride()) {
    std::int64_t const i = c / fanout;
    std::int64_t const to = std::int64_t{slots[i].slot} * fanout + (c - i * fanout);
    __stcs(to_vertices + to, __ldcs(vertices + c));
    if (edges != nullptr) {
      __stcs(reinterpret_cast<long long*>(to_edges + to), __ldcs(reinterpret_cast<long long const*>(edges + c)));
    }
  }
}

}  // namespace

void place_children(asked_slot const* slots, std::int64_t size, std::uint32_t fanout, vertex_id const* vertices,
                    edge_id const* edges, vertex_id* to_vertices, edge_id* to_edges, cuda_stream stream)
{
  std::int64_t const num_children = size * fanout;
  if (num_children == 0) { return; }
  place_kernel<<<grid_blocks(num_children, block_threads), block_threads, 0, stream>>>(
      slots, num_children, fanout, vertices, edges, to_vertices, to_edges);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
