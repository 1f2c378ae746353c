// Ceilings of a GPU: sequential reads, independent gathers, dependent pairs of gathers. Places are a hash of a counter;
// nothing but a checksum a thread is written.

#include "bench/gpu_ceilings.hpp"

#include <algorithm>
#include <chrono>

#include <tendril/gpu.hpp>

#include "gpu/device/launch.cuh"
#include "gpu/tables/tables.hpp"

namespace tendril::bench {
namespace {

constexpr int block_threads = 256;
constexpr int gathers_a_thread = 2048;
constexpr int at_once = 8;

__device__ __forceinline__ std::uint32_t mixed(std::uint32_t x)
{
  x = (x ^ (x >> 16U)) * 0x7feb352dU;
  x = (x ^ (x >> 15U)) * 0x846ca68bU;
  return x ^ (x >> 16U);
}

__device__ __forceinline__ std::uint32_t sum_of(uint4 v) { return v.x + v.y + v.z + v.w; }

__global__ void read_kernel(uint4 const* data, std::int64_t size, std::uint32_t* out)
{
  std::uint32_t sum = 0;
#pragma unroll 8
  for (std::int64_t i = gpu::global_thread(); i < size; i += gpu::grid_stride()) { sum += sum_of(__ldcs(data + i)); }
  out[gpu::global_thread()] = sum;
}

template <int bytes>
__device__ std::uint32_t record_sum(std::uint8_t const* table, std::uint64_t i)
{
  std::uint8_t const* const at = table + i * bytes;
  if constexpr (bytes == 4) { return __ldg(reinterpret_cast<std::uint32_t const*>(at)); }
  if constexpr (bytes == 8) {
    uint2 const v = __ldg(reinterpret_cast<uint2 const*>(at));
    return v.x + v.y;
  }
  if constexpr (bytes >= 16) {
    std::uint32_t sum = sum_of(__ldg(reinterpret_cast<uint4 const*>(at)));
    if constexpr (bytes == 32) { sum += sum_of(__ldg(reinterpret_cast<uint4 const*>(at) + 1)); }
    return sum;
  }
}

template <int bytes>
__global__ void gather_kernel(std::uint8_t const* table, std::uint64_t num_records, std::uint32_t* out)
{
  auto const thread = static_cast<std::uint32_t>(gpu::global_thread());
  std::uint32_t sum = 0;
  for (std::uint32_t k = 0; k < gathers_a_thread; k += at_once) {
#pragma unroll
    for (std::uint32_t j = 0; j < at_once; ++j) {
      std::uint64_t const place = mixed(thread * gathers_a_thread + k + j);
      sum += record_sum<bytes>(table, (place * num_records) >> 32U);
    }
  }
  out[gpu::global_thread()] = sum;
}

__global__ void walk_kernel(gpu::row_record const* rows, vertex_id const* indices, std::uint32_t num_vertices,
                            std::uint32_t* out)
{
  auto const thread = static_cast<std::uint32_t>(gpu::global_thread());
  auto at = static_cast<vertex_id>((std::uint64_t{mixed(thread)} * num_vertices) >> 32U);
  std::uint32_t sum = 0;
  for (std::uint32_t k = 0; k < gathers_a_thread; ++k) {
    uint2 const row = __ldg(reinterpret_cast<uint2 const*>(rows + at));
    std::uint64_t const bits = mixed(thread * gathers_a_thread + k);
    if (row.y == 0) {  // a dead end: go on elsewhere
      at = static_cast<vertex_id>((bits * num_vertices) >> 32U);
      continue;
    }
    at = __ldg(indices + row.x + ((bits * row.y) >> 32U));
    sum += at;
  }
  out[gpu::global_thread()] = sum;
}

/// The best of a few runs: a ceiling is what the machine can do.
template <class Launch>
double fastest(gpu_exec const& exec, Launch launch)
{
  double best = 1e30;
  for (int run = 0; run < 4; ++run) {
    synchronize(exec);
    auto const start = std::chrono::steady_clock::now();
    launch();
    TENDRIL_CUDA_TRY(cudaGetLastError());
    synchronize(exec);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

unsigned full_grid(gpu_exec const& exec)
{
  return static_cast<unsigned>(8 * describe_gpu(exec.device).num_multiprocessors);
}

}  // namespace

double gpu_sequential_read(std::int64_t bytes, gpu_exec const& exec)
{
  gpu::device_guard const guard(exec.device);
  unsigned const blocks = full_grid(exec);
  buffer<uint4> data(bytes / 16, memory_of(exec));
  buffer<std::uint32_t> out(std::int64_t{blocks} * block_threads, memory_of(exec));
  TENDRIL_CUDA_TRY(cudaMemsetAsync(data.data(), 1, static_cast<std::size_t>(bytes / 16 * 16), exec.stream));
  return static_cast<double>(bytes) / fastest(exec, [&] {
           read_kernel<<<blocks, block_threads, 0, exec.stream>>>(data.data(), data.size(), out.data());
         });
}

double gpu_gathers(std::int64_t num_records, int record_bytes, gpu_exec const& exec)
{
  gpu::device_guard const guard(exec.device);
  unsigned const blocks = full_grid(exec);
  buffer<std::uint8_t> table(num_records * record_bytes, memory_of(exec));
  buffer<std::uint32_t> out(std::int64_t{blocks} * block_threads, memory_of(exec));
  TENDRIL_CUDA_TRY(cudaMemsetAsync(table.data(), 1, static_cast<std::size_t>(table.size()), exec.stream));
  auto const run = [&](auto* kernel) {
    return fastest(exec, [&] {
      kernel<<<blocks, block_threads, 0, exec.stream>>>(table.data(), static_cast<std::uint64_t>(num_records),
                                                        out.data());
    });
  };
  double const seconds = record_bytes == 4    ? run(gather_kernel<4>)
                         : record_bytes == 8  ? run(gather_kernel<8>)
                         : record_bytes == 16 ? run(gather_kernel<16>)
                                              : run(gather_kernel<32>);
  return static_cast<double>(out.size()) * gathers_a_thread / seconds;
}

double gpu_dependent_gathers(graph const& graph, gpu_exec const& exec)
{
  if (graph.num_edges() >= std::int64_t{1} << 32U || graph.form() != graph_form::csr) { return 0; }
  gpu::device_guard const guard(exec.device);
  unsigned const blocks = full_grid(exec);
  auto const rows = gpu::make_row_records(graph.view(), exec);
  buffer<std::uint32_t> out(std::int64_t{blocks} * block_threads, memory_of(exec));
  double const seconds = fastest(exec, [&] {
    walk_kernel<<<blocks, block_threads, 0, exec.stream>>>(
        rows.data(), graph.csr().indices, static_cast<std::uint32_t>(graph.num_vertices()), out.data());
  });
  return static_cast<double>(out.size()) * gathers_a_thread / seconds;
}

}  // namespace tendril::bench
