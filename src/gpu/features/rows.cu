// Rows of features by their ids.

#include "gpu/features/rows.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include <cuda_runtime.h>
#include <cub/device/device_radix_sort.cuh>

#include <tendril/gpu.hpp>

#include "gpu/device/launch.cuh"
#include "gpu/features/row_tiles.cuh"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;

// What limits reads of the host's memory is the translation of its addresses, and reads that wait for the bus hold up those
// of the kernels beside them: so there are no more warps than fill the bus, in few large blocks. bench features, axis row
// bytes: 64 warps are too few for rows of 128 bytes.
constexpr int bus_block_threads = 512;
constexpr std::int64_t wide_row_bytes = 256;

std::int64_t blocks_over_bus(std::int64_t row_bytes) { return row_bytes < wide_row_bytes ? 8 : 6; }

/// The rows of a job, as a tile finds them.
template <class Word>
struct rows_of_job {
  struct found_row {
    Word const* row;
  };

  row_copies const& job;
  std::int64_t stride;  // in words
  unsigned long long* first_bad;

  [[nodiscard]] __device__ __forceinline__ vertex_id id(std::int64_t row) const
  {
    return job.ids == nullptr ? static_cast<vertex_id>(row) : job.ids[row];
  }

  [[nodiscard]] __device__ __forceinline__ found_row find(vertex_id id) const
  {
    bool const beyond = id >= job.num_rows;
    auto const* const from = reinterpret_cast<Word const*>(beyond ? job.more : job.rows);
    std::int64_t const row = beyond ? id - job.num_rows : std::int64_t{id};
    return {from == nullptr ? nullptr : from + row * stride};
  }

  [[nodiscard]] __device__ __forceinline__ bool takes_notes() const
  {
    return first_bad != nullptr && job.more == nullptr;
  }

  __device__ __forceinline__ void note(std::int64_t row, vertex_id id, found_row) const
  {
    if (id >= job.num_rows) { atomicMin(first_bad, static_cast<unsigned long long>(row)); }
  }
};

template <class Word, int Threads>
__global__ __launch_bounds__(Threads) void copy_kernel(row_copies job, row_tiles tiles, unsigned long long* first_bad)
{
  rows_of_job<Word> const rows{job, job.stride / static_cast<std::int64_t>(sizeof(Word)), first_bad};
  copy_tiles(tiles, rows, reinterpret_cast<Word*>(job.out));
}

__global__ __launch_bounds__(block_threads) void number_kernel(std::uint32_t* to, std::int64_t size)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) { to[i] = static_cast<std::uint32_t>(i); }
}

__global__ __launch_bounds__(block_threads) void number_copies_kernel(vertex_id const* ids, std::int64_t size,
                                                                      vertex_id* copy_of)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) { copy_of[ids[i]] = static_cast<vertex_id>(i); }
}

}  // namespace

void number_copies(vertex_id const* ids, std::int64_t size, vertex_id* copy_of, std::int64_t num_rows,
                   gpu_exec const& exec)
{
  device_guard const guard(exec.device);
  auto const bytes = static_cast<std::size_t>(num_rows) * sizeof(vertex_id);
  TENDRIL_CUDA_TRY(cudaMemsetAsync(copy_of, 0xff, bytes, exec.stream));
  if (size == 0) { return; }
  number_copies_kernel<<<grid_blocks(size, block_threads), block_threads, 0, exec.stream>>>(ids, size, copy_of);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void copy_rows(row_copies const& job, unsigned long long* first_bad, bool over_bus, gpu_exec const& exec)
{
  if (job.size == 0 || job.row_bytes == 0) { return; }
  device_guard const guard(exec.device);
  auto const all = static_cast<std::uint64_t>(job.stride) | static_cast<std::uint64_t>(job.row_bytes) |
                   reinterpret_cast<std::uintptr_t>(job.rows) | reinterpret_cast<std::uintptr_t>(job.more) |
                   reinterpret_cast<std::uintptr_t>(job.out);
  with_word(word_bytes(all), [&]<class Word>(Word) {
    auto const width = static_cast<std::uint32_t>(job.row_bytes / static_cast<std::int64_t>(sizeof(Word)));
    row_tiles const tiles{core::fast_divisor(width), job.places, job.size};
    if (over_bus) {
      unsigned const blocks = tiles.template blocks<Word>(bus_block_threads, blocks_over_bus(job.row_bytes));
      copy_kernel<Word, bus_block_threads><<<blocks, bus_block_threads, 0, exec.stream>>>(job, tiles, first_bad);
    } else {
      unsigned const blocks = tiles.template blocks<Word>(block_threads, std::int64_t{1} << 30U);
      copy_kernel<Word, block_threads><<<blocks, block_threads, 0, exec.stream>>>(job, tiles, first_bad);
    }
  });
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

sorted_ids sort_ids(vertex_id const* ids, std::int64_t size, std::int64_t num_rows, gpu_exec const& exec)
{
  device_guard const guard(exec.device);
  memory_resource& memory = memory_of(exec);
  sorted_ids sorted{buffer<vertex_id>(size, memory), buffer<std::uint32_t>(size, memory)};
  buffer<std::uint32_t> places(size, memory);
  number_kernel<<<grid_blocks(size, block_threads), block_threads, 0, exec.stream>>>(places.data(), size);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  int const bits = std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(num_rows - 1))));
  std::size_t bytes = 0;
  auto const sort = [&](void* space) {
    TENDRIL_CUDA_TRY(cub::DeviceRadixSort::SortPairs(space, bytes, ids, sorted.ids.data(), places.data(),
                                                     sorted.places.data(), static_cast<int>(size), 0, bits,
                                                     exec.stream));
  };
  sort(nullptr);
  buffer<std::byte> space(static_cast<std::int64_t>(bytes), memory);
  sort(space.data());
  return sorted;
}

}  // namespace tendril::gpu
