// Rows of features by their ids. The words of all copied rows are numbered through; a warp copies a tile of consecutive
// ones, so that rows of any width keep all lanes at work, and what is written is written in whole lines.

#include "gpu/features/rows.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include <cuda_runtime.h>
#include <cub/device/device_radix_sort.cuh>

#include <tendril/gpu.hpp>

#include "core/fast_divisor.hpp"
#include "gpu/device/launch.cuh"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;
constexpr int lane_words = 4;  // that a lane reads at once
constexpr int tile_words = lane_words * warp_size;

// What limits reads of the host's memory is the translation of its addresses, and reads that wait for the bus hold up those
// of the kernels beside them: so there are no more warps than fill the bus, in few large blocks. bench features, axis row
// bytes: 64 warps are too few for rows of 128 bytes.
constexpr int bus_block_threads = 512;
constexpr std::int64_t wide_row_bytes = 256;

std::int64_t blocks_over_bus(std::int64_t row_bytes) { return row_bytes < wide_row_bytes ? 8 : 6; }

/// The widest type that divides all addresses and sizes of a job.
struct words_of_job {
  std::int64_t bytes;

  explicit words_of_job(row_copies const& job)
  {
    auto const all = static_cast<std::uint64_t>(job.stride) | static_cast<std::uint64_t>(job.row_bytes) |
                     reinterpret_cast<std::uintptr_t>(job.rows) | reinterpret_cast<std::uintptr_t>(job.more) |
                     reinterpret_cast<std::uintptr_t>(job.out) | 16U;
    bytes = std::int64_t{1} << std::countr_zero(all);
  }
};

/// Places of the words of a tile.
template <class Word>
struct row_words {
  core::fast_divisor a_row;  // words of a row
  std::int64_t stride;       // in words

  explicit row_words(row_copies const& job)
      : a_row(static_cast<std::uint32_t>(job.row_bytes / static_cast<std::int64_t>(sizeof(Word)))),
        stride(job.stride / static_cast<std::int64_t>(sizeof(Word)))
  {
  }
};

/// One warp a tile: first all its ids and places, then all its rows, then all that is written, so that a warp waits three
/// times a tile and not once a word.
template <class Word, int Threads>
__global__ __launch_bounds__(Threads) void copy_kernel(row_copies job, row_words<Word> words, std::int64_t num_words,
                                                       unsigned long long* first_bad)
{
  auto const* const rows = reinterpret_cast<Word const*>(job.rows);
  auto const* const more = reinterpret_cast<Word const*>(job.more);
  auto* const out = reinterpret_cast<Word*>(job.out);
  std::uint32_t const width = words.a_row.divisor();
  std::int64_t const num_tiles = (num_words + tile_words - 1) / tile_words;
  for (std::int64_t tile = global_thread() / warp_size; tile < num_tiles; tile += grid_stride() / warp_size) {
    std::int64_t const first_word = tile * tile_words;
    std::int64_t const first_row = first_word / width;
    auto const before = static_cast<std::uint32_t>(first_word - first_row * width);
    auto const rows_left = static_cast<std::uint32_t>(min(job.size - first_row, std::int64_t{tile_words}));
    std::uint32_t down[lane_words];
    std::uint32_t across[lane_words];
    vertex_id id[lane_words];
    std::int64_t place[lane_words];
#pragma unroll
    for (int k = 0; k < lane_words; ++k) {
      std::uint32_t const word = before + static_cast<std::uint32_t>(k * warp_size + lane_id());
      down[k] = words.a_row.quotient(word);
      across[k] = word - down[k] * width;
      std::int64_t const row = first_row + min(down[k], rows_left - 1);  // a word beyond the end reads the last row
      id[k] = job.ids == nullptr ? static_cast<vertex_id>(row) : job.ids[row];
      place[k] = job.places == nullptr ? row : std::int64_t{job.places[row]};
    }
    Word read[lane_words];
#pragma unroll
    for (int k = 0; k < lane_words; ++k) {
      bool const beyond = id[k] >= job.num_rows;
      Word const* const from = beyond ? more : rows;
      std::int64_t const row = beyond ? id[k] - job.num_rows : std::int64_t{id[k]};
      read[k] = Word{};
      if (from != nullptr) { read[k] = __ldcs(from + row * words.stride + across[k]); }
    }
#pragma unroll
    for (int k = 0; k < lane_words; ++k) {
      if (down[k] < rows_left) { __stcs(out + place[k] * width + across[k], read[k]); }
    }
    if (more != nullptr || first_bad == nullptr) { continue; }
#pragma unroll
    for (int k = 0; k < lane_words; ++k) {
      if (id[k] >= job.num_rows && across[k] == 0 && down[k] < rows_left) {
        atomicMin(first_bad, static_cast<unsigned long long>(first_row + down[k]));
      }
    }
  }
}

template <class Word, int Threads>
void launch(row_copies const& job, unsigned long long* first_bad, std::int64_t most_blocks, gpu_exec const& exec)
{
  row_words<Word> const words(job);
  std::int64_t const num_words = job.size * words.a_row.divisor();
  std::int64_t const threads = (num_words + lane_words - 1) / lane_words;
  unsigned const blocks = grid_blocks(threads, Threads, most_blocks);
  copy_kernel<Word, Threads><<<blocks, Threads, 0, exec.stream>>>(job, words, num_words, first_bad);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

template <class Word>
void launch(row_copies const& job, unsigned long long* first_bad, bool over_bus, gpu_exec const& exec)
{
  over_bus ? launch<Word, bus_block_threads>(job, first_bad, blocks_over_bus(job.row_bytes), exec)
           : launch<Word, block_threads>(job, first_bad, std::int64_t{1} << 30U, exec);
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
  switch (words_of_job(job).bytes) {
    case 16: return launch<uint4>(job, first_bad, over_bus, exec);
    case 8: return launch<uint2>(job, first_bad, over_bus, exec);
    case 4: return launch<std::uint32_t>(job, first_bad, over_bus, exec);
    case 2: return launch<std::uint16_t>(job, first_bad, over_bus, exec);
    default: return launch<std::uint8_t>(job, first_bad, over_bus, exec);
  }
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
