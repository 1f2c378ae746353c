// Bytes a vertex: 8 read and a slot of the table. An edge that arrives: 12 read, 24 written.

#include "gpu/batches/parts/found.hpp"
#include "gpu/device/launch.cuh"
#include "gpu/graph/edge_tiles.cuh"  // row_of

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;

__global__ __launch_bounds__(block_threads) void number_kernel(vertex_id const* vertices, std::uint32_t const* group_of,
                                                               std::int64_t size, std::uint32_t first_group,
                                                               number_table const table, std::uint32_t first_stamp)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    std::uint32_t const stamp = stamp_of_group(first_stamp, 1, 0, first_group + group_of[i]);
    std::uint32_t at = 0;
    (void)table.put(stamped(stamp, vertices[i]), first_stamp, at);
    table.set_value(at, stamped(stamp, numbered_as(static_cast<std::uint32_t>(i))));
  }
}

__global__ __launch_bounds__(block_threads) void put_kernel(found_edges const __grid_constant__ found,
                                                            std::int64_t const* places, std::int64_t const* begin,
                                                            std::int64_t num_batches, edge_call const out)
{
  for (std::int64_t p = global_thread(); p < found.end - found.first; p += grid_stride()) {
    std::int64_t const i = row_of(found.offsets, 0, found.size - 1, found.first + p);
    std::uint32_t const vertex = found.slots[i].slot;
    std::int64_t const first = begin[row_of(begin, 0, num_batches - 1, std::int64_t{vertex})];
    std::int64_t const to = places[vertex] + (found.first + p - found.offsets[i]);
    out.row[to] = vertex - first;
    out.col[to] = found.numbers[p] - first;
    out.edge[to] = found.first_edge + found.edges[p];
  }
}

}  // namespace

void number_list(vertex_id const* vertices, std::uint32_t const* group_of, std::int64_t size, std::uint32_t first_group,
                 number_table const& table, std::uint32_t first_stamp, gpu_exec const& exec)
{
  if (size == 0) { return; }
  number_kernel<<<grid_blocks(size, block_threads), block_threads, 0, exec.stream>>>(vertices, group_of, size,
                                                                                     first_group, table, first_stamp);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void put_found(found_edges const& found, std::int64_t const* places, std::int64_t const* begin,
               std::int64_t num_batches, edge_call const& out, gpu_exec const& exec)
{
  std::int64_t const size = found.end - found.first;
  if (size == 0) { return; }
  put_kernel<<<grid_blocks(size, block_threads), block_threads, 0, exec.stream>>>(found, places, begin, num_batches,
                                                                                  out);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
