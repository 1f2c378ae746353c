// A row is read once, over NVLink where it lies on another GPU, and written once: nothing is asked, and nothing is packed. n GPUs with
// rows that are asked for alike read a share of 1 - 1/n of them from others. Four H200s: a call that lets 3/4 of its bytes come
// at R bytes/s has R / .75.

#include "gpu/features/read_rows.hpp"

#include <cstdint>

#include <cuda_runtime.h>

#include <tendril/gpu.hpp>

#include "gpu/device/launch.cuh"
#include "gpu/features/row_tiles.cuh"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;
constexpr int most_tables = most_ranks + 1;  // the copies, too
static_assert(most_tables <= block_threads);

/// The rows of all tables, as a block finds them.
template <class Word>
struct rows_of_tables {
  struct found_row {
    Word const* row;
    int table;
  };

  rows_to_read const& job;
  reached_rows const* tables;
  std::int64_t const* bounds;
  unsigned* away;  // as of the job, of the block

  [[nodiscard]] __device__ __forceinline__ vertex_id id(std::int64_t row) const { return job.ids[row]; }

  [[nodiscard]] __device__ __forceinline__ found_row find(vertex_id id) const
  {
    if (id >= job.bounds[job.num_tables]) { return {nullptr, 0}; }
    int table = 0;
    std::int64_t row = 0;
    vertex_id const copy = job.copy_of == nullptr ? no_vertex : job.copy_of[id];
    if (copy == no_vertex) {
      for (int r = 1; r < job.num_tables; ++r) { table += job.bounds[r] <= std::int64_t{id} ? 1 : 0; }
      row = std::int64_t{id} - bounds[table];
    } else {
      table = job.num_tables;
      row = copy;
    }
    return {reinterpret_cast<Word const*>(tables[table].rows + row * tables[table].stride), table};
  }

  [[nodiscard]] __device__ __forceinline__ bool takes_notes() const { return job.away != nullptr; }

  __device__ __forceinline__ void note(std::int64_t, vertex_id, found_row found) const
  {
    if (found.table != job.own) { atomicAdd(away + (found.table == job.num_tables ? 1 : 0), 1U); }
  }
};

template <class Word>
__global__ __launch_bounds__(block_threads) void read_kernel(row_tiles tiles, __grid_constant__ rows_to_read const job)
{
  __shared__ reached_rows tables[most_tables];  // lanes find different ones
  __shared__ std::int64_t bounds[most_tables];
  __shared__ unsigned away[2];
  if (threadIdx.x < most_tables) {
    tables[threadIdx.x] = job.tables[threadIdx.x];
    bounds[threadIdx.x] = job.bounds[threadIdx.x];
  }
  if (threadIdx.x < 2) { away[threadIdx.x] = 0; }
  __syncthreads();
  copy_tiles(tiles, rows_of_tables<Word>{job, tables, bounds, away}, reinterpret_cast<Word*>(job.out));
  if (job.away == nullptr) { return; }
  __syncthreads();
  if (threadIdx.x < 2 && away[threadIdx.x] != 0) {
    atomicAdd(job.away + threadIdx.x, static_cast<unsigned long long>(away[threadIdx.x]));
  }
}

}  // namespace

void read_rows(rows_to_read const& job, gpu_exec const& exec)
{
  if (job.size == 0) { return; }
  device_guard const guard(exec.device);
  auto all = static_cast<std::uint64_t>(job.row_bytes) | reinterpret_cast<std::uintptr_t>(job.out);
  for (int t = 0; t <= job.num_tables; ++t) {
    all |= static_cast<std::uint64_t>(job.tables[t].stride) | reinterpret_cast<std::uintptr_t>(job.tables[t].rows);
  }
  with_word(word_bytes(all), [&]<class Word>(Word) {
    auto const width = static_cast<std::uint32_t>(job.row_bytes / static_cast<std::int64_t>(sizeof(Word)));
    row_tiles const tiles{core::fast_divisor(width), nullptr, job.size};
    read_kernel<Word>
        <<<tiles.template blocks<Word>(block_threads, std::int64_t{1} << 30U), block_threads, 0, exec.stream>>>(tiles,
                                                                                                                job);
  });
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
