// Ids between the types of other libraries and the library's own: one pass each, a thread an element.
// CPU twin: python/src/arrays.cpp, import_ids and widen.

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/vertex_ids.hpp>

#include "gpu/device/copy_value.hpp"
#include "gpu/device/ids.hpp"
#include "gpu/device/launch.cuh"

namespace tendril {
namespace {

constexpr int block_threads = 256;
constexpr std::int64_t most_rows = 65535;  // what the y-side of a grid can have

/// Where element i, counted row by row, lies in the caller's memory.
struct element_places {
  std::int64_t num_columns;
  std::int64_t row_stride;
  std::int64_t column_stride;

  /// Any thread.
  __device__ std::int64_t operator()(std::int64_t i) const
  {
    return i / num_columns * row_stride + i % num_columns * column_stride;
  }
};

template <class T>
__global__ __launch_bounds__(block_threads) void narrow_kernel(T const* from, element_places place, std::int64_t size,
                                                               vertex_id* to)
{
  for (std::int64_t i = gpu::global_thread(); i < size; i += gpu::grid_stride()) {
    T const id = from[place(i)];
    to[i] = is_vertex_id(id) ? static_cast<vertex_id>(id) : no_vertex;
  }
}

/// Lowers *first_bad to the smallest i whose element is no id below `limit`.
template <class T>
__global__ __launch_bounds__(block_threads) void find_bad_kernel(T const* ids, element_places place, std::int64_t size,
                                                                 std::uint64_t limit, unsigned long long* first_bad)
{
  for (std::int64_t i = gpu::global_thread(); i < size; i += gpu::grid_stride()) {
    T const id = ids[place(i)];
    if (!is_vertex_id(id) || static_cast<std::uint64_t>(id) >= limit) {
      atomicMin(first_bad, static_cast<unsigned long long>(i));
    }
  }
}

__global__ __launch_bounds__(block_threads) void every_vertex_kernel(std::int64_t size, std::int64_t repeats,
                                                                     vertex_id* to)
{
  for (std::int64_t i = gpu::global_thread(); i < size; i += gpu::grid_stride()) {
    to[i] = static_cast<vertex_id>(i / repeats);
  }
}

/// Threads along x share a row, blocks along y take rows.
__global__ __launch_bounds__(block_threads) void widen_kernel(vertex_id const* from, std::int64_t num_rows,
                                                              std::int64_t num_columns, std::int64_t* to,
                                                              std::int64_t to_stride)
{
  for (std::int64_t row = blockIdx.y; row < num_rows; row += gridDim.y) {
    for (std::int64_t c = gpu::global_thread(); c < num_columns; c += gpu::grid_stride()) {
      vertex_id const id = from[row * num_columns + c];
      to[row * to_stride + c] = id == no_vertex ? -1 : std::int64_t{id};
    }
  }
}

std::int64_t size_of(id_matrix const& ids) { return ids.num_rows * ids.num_columns; }

element_places places_of(id_matrix const& ids) { return {ids.num_columns, ids.row_stride, ids.column_stride}; }

/// work(pointer to the elements, of their type).
template <class F>
void with_elements(id_matrix const& ids, F const& work)
{
  switch (ids.type) {
    case id_type::int32: work(static_cast<std::int32_t const*>(ids.data)); break;
    case id_type::uint32: work(static_cast<std::uint32_t const*>(ids.data)); break;
    case id_type::int64: work(static_cast<std::int64_t const*>(ids.data)); break;
    case id_type::uint64: work(static_cast<std::uint64_t const*>(ids.data)); break;
  }
}

}  // namespace

buffer<vertex_id> narrow_ids(id_matrix const& ids, gpu_exec const& exec)
{
  gpu::device_guard const guard(exec.device);
  std::int64_t const size = size_of(ids);
  buffer<vertex_id> out(size, memory_of(exec));
  if (size == 0) { return out; }  // an empty grid is a launch error
  with_elements(ids, [&](auto const* from) {
    narrow_kernel<<<gpu::grid_blocks(size, block_threads), block_threads, 0, exec.stream>>>(from, places_of(ids), size,
                                                                                            out.data());
    TENDRIL_CUDA_TRY(cudaGetLastError());
  });
  return out;
}

buffer<vertex_id> every_vertex(std::int64_t num_vertices, std::int64_t repeats, gpu_exec const& exec)
{
  gpu::device_guard const guard(exec.device);
  std::int64_t const size = checked_product("starts", num_vertices, repeats);
  buffer<vertex_id> out(size, memory_of(exec));
  if (size == 0) { return out; }
  every_vertex_kernel<<<gpu::grid_blocks(size, block_threads), block_threads, 0, exec.stream>>>(size, repeats,
                                                                                                out.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  return out;
}

void widen_ids(vertex_id const* from, std::int64_t num_rows, std::int64_t num_columns, std::int64_t* to,
               std::int64_t to_stride, gpu_exec const& exec)
{
  if (num_rows == 0 || num_columns == 0) { return; }
  gpu::device_guard const guard(exec.device);
  dim3 const grid(gpu::grid_blocks(num_columns, block_threads),
                  static_cast<unsigned>(std::min<std::int64_t>(num_rows, most_rows)));
  widen_kernel<<<grid, block_threads, 0, exec.stream>>>(from, num_rows, num_columns, to, to_stride);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

gpu::bad_id gpu::first_bad_id(id_matrix const& ids, std::int64_t limit, gpu_exec const& exec)
{
  device_guard const guard(exec.device);
  std::int64_t const size = size_of(ids);
  bad_id found;
  if (size == 0) { return found; }
  with_elements(ids, [&](auto const* from) {
    buffer<unsigned long long> first_bad(1, memory_of(exec));
    TENDRIL_CUDA_TRY(cudaMemsetAsync(first_bad.data(), 0xff, sizeof(unsigned long long), exec.stream));
    find_bad_kernel<<<grid_blocks(size, block_threads), block_threads, 0, exec.stream>>>(
        from, places_of(ids), size, static_cast<std::uint64_t>(limit), first_bad.data());
    TENDRIL_CUDA_TRY(cudaGetLastError());
    found.index = static_cast<std::int64_t>(value_at(first_bad.data(), exec));  // all ones, -1, if nothing lowered it
    if (found.index < 0) { return; }
    auto const place =
        found.index / ids.num_columns * ids.row_stride + found.index % ids.num_columns * ids.column_stride;
    found.value = std::to_string(value_at(from + place, exec));
  });
  return found;
}

}  // namespace tendril
