// Combined neighbourhoods of collective samples, built transit-parallel (NextDoor, section 6.2): as if each sample's
// transits were asked for all their neighbours. What is copied is what combined_edges finds by searching; CPU twin: none,
// the CPU searches. A copy costs 4 bytes of writing a neighbour and its reading from a cache.

#include <cub/device/device_scan.cuh>

#include <tendril/checked.hpp>
#include <tendril/engine/applications/transit_teams.cuh>

#include "gpu/applications/transit.hpp"
#include "gpu/device/launch.cuh"
#include "gpu/graph/edge_tiles.cuh"  // run_with_scratch

namespace tendril::gpu {
namespace {

using engine::transit_run;
using engine::transit_threads;

constexpr int block_threads = 256;

__global__ __launch_bounds__(block_threads) void list_sizes_kernel(edge_arrays graph, vertex_id const* transits,
                                                                   std::int64_t num_samples, std::int64_t num_transits,
                                                                   std::uint64_t* out)
{
  std::int64_t const size = num_samples * (num_transits + 1);
  for (std::int64_t k = global_thread(); k < size; k += grid_stride()) {
    std::int64_t const s = k / (num_transits + 1);
    std::int64_t const i = k - s * (num_transits + 1);
    vertex_id const v = i == num_transits ? no_vertex : transits[s * num_transits + i];
    out[k] = v == no_vertex ? 0 : graph.degree(v);
  }
}

__global__ __launch_bounds__(block_threads) void every_kernel(std::uint64_t const* from, std::int64_t size,
                                                              std::int64_t every, std::int64_t count,
                                                              std::uint64_t* out)
{
  for (std::int64_t k = global_thread(); k < count; k += grid_stride()) {
    out[k] = from[k + 1 == count ? size - 1 : k * every];
  }
}

/// A transit's list, copied to its pairs.
template <class View>
class list_copies {
 public:
  explicit __device__ list_copies(combined_job<View> const& job) : job_(job) {}

  [[nodiscard]] __device__ std::size_t entry_bytes() const { return 0; }
  [[nodiscard]] __device__ std::uint32_t items_a_pair() const { return size_; }

  __device__ void open(transit_run const& run, unsigned char*, std::uint32_t, std::uint32_t, std::uint32_t)
  {
    row_ = job_.graph.row(run.transit);
    size_ = row_.degree();
  }

  __device__ void item(std::uint32_t pair, std::uint32_t j) const
  {
    std::uint64_t const row = pair / job_.num_transits;  // one element more than transits in each row of the offsets
    job_.neighbors[job_.offsets[pair + row] - job_.first_copied + j] = row_.neighbor(j);
  }

 private:
  combined_job<View> const& job_;
  typename View::row_type row_;
  std::uint32_t size_ = 1;
};

template <class View>
__global__ __launch_bounds__(transit_threads) void copy_few_kernel(combined_job<View> const __grid_constant__ job)
{
  list_copies copies(job);
  engine::share_few(job.map, copies, 8, 0, nullptr);
}

template <class View>
__global__ __launch_bounds__(transit_threads) void copy_block_kernel(combined_job<View> const __grid_constant__ job)
{
  list_copies copies(job);
  engine::share_blocks(job.map, copies, 0, nullptr);
}

template <class View>
__global__ __launch_bounds__(transit_threads) void copy_grid_kernel(combined_job<View> const __grid_constant__ job)
{
  list_copies copies(job);
  engine::share_grid(job.map, copies, 0, nullptr);
}

}  // namespace

buffer<std::uint64_t> combined_offsets(edge_arrays const& graph, vertex_id const* transits, std::int64_t num_samples,
                                       std::int64_t num_transits, gpu_exec const& exec)
{
  device_guard const guard(exec.device);
  std::int64_t const size = checked_product("offsets of samples", num_samples, num_transits + 1);
  buffer<std::uint64_t> out(size, memory_of(exec));
  list_sizes_kernel<<<grid_blocks(size, block_threads), block_threads, 0, exec.stream>>>(graph, transits, num_samples,
                                                                                         num_transits, out.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  // The element after a row's last transit is 0: what comes before it is where the row ends.
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, out.data(), out.data(), size, exec.stream);
  });
  return out;
}

std::vector<std::uint64_t> every_element(std::uint64_t const* from, std::int64_t size, std::int64_t every,
                                         gpu_exec const& exec)
{
  device_guard const guard(exec.device);
  std::int64_t const count = (size + every - 1) / every + 1;
  buffer<std::uint64_t> there(count, memory_of(exec));
  every_kernel<<<grid_blocks(count, block_threads), block_threads, 0, exec.stream>>>(from, size, every, count,
                                                                                     there.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  std::vector<std::uint64_t> out(static_cast<std::size_t>(count));
  TENDRIL_CUDA_TRY(
      cudaMemcpyAsync(out.data(), there.data(), out.size() * sizeof out[0], cudaMemcpyDeviceToHost, exec.stream));
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  return out;
}

template <class View>
void copy_neighbors(combined_job<View> const& job, gpu_exec const& exec)
{
  device_guard const guard(exec.device);
  auto const launch = [&](auto* kernel) {
    std::int64_t const most = resident_blocks(kernel, transit_threads, 0, exec.device);
    auto const blocks = static_cast<unsigned>(std::min(most, job.num_pairs));
    kernel<<<blocks, transit_threads, 0, exec.stream>>>(job);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  };
  launch(copy_few_kernel<View>);
  launch(copy_block_kernel<View>);
  launch(copy_grid_kernel<View>);
}

template void copy_neighbors(combined_job<csr_view> const&, gpu_exec const&);
template void copy_neighbors(combined_job<compressed_view> const&, gpu_exec const&);

}  // namespace tendril::gpu
