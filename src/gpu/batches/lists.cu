// Mini-batches, between hops: whom the next hop expands, where all neighbours of each go, and what is written behind or
// moved to larger memory. Small work, next to a hop's gathers: all of it runs in sequence over arrays, 4 to 24 bytes an
// element.

#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>

#include "gpu/batches/shape.cuh"

namespace tendril::gpu {
namespace {

constexpr int list_threads = 256;
constexpr int scan_threads = 1024;

/// One block: where each batch's vertices begin in the list.
__global__ __launch_bounds__(scan_threads) void list_begin_kernel(list_job const __grid_constant__ job)
{
  using scan = cub::BlockScan<std::int64_t, scan_threads>;
  __shared__ typename scan::TempStorage storage;
  std::int64_t before = 0;
  for (std::int64_t first = 0; first < job.num_batches; first += scan_threads) {
    std::int64_t const b = first + threadIdx.x;
    std::int64_t count = 0;
    if (b < job.num_batches) { count = job.to[b] - (job.from == nullptr ? 0 : job.from[b]); }
    std::int64_t begin = 0;
    std::int64_t all = 0;
    scan(storage).ExclusiveSum(count, begin, all);
    if (b < job.num_batches) { job.begin[b] = before + begin; }
    before += all;
    __syncthreads();  // the storage is used again
  }
  if (threadIdx.x == 0) { job.begin[job.num_batches] = before; }
}

__global__ __launch_bounds__(list_threads) void list_kernel(list_job const __grid_constant__ job)
{
  vertex_call const type = job.view.vertices[job.type];
  std::int64_t const size = job.begin[job.num_batches];
  std::uint32_t const batch_seeds = job.view.call->by_batch.divisor();
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) {
    std::int64_t const b = row_of(job.begin, 0, job.num_batches - 1, i);
    std::int64_t const number = i - job.begin[b] + (job.from == nullptr ? 0 : job.from[b]);
    std::int64_t const at = b * type.stride + number;
    // Of a batch that is larger than expected not all vertices have been written: it will be made again.
    bool const exists = number < type.stride;
    job.vertices[i] = exists ? type.node[at] : no_vertex;
    std::int64_t const tree = exists && job.view.disjoint ? type.batch[at] : 0;
    job.group_of[i] = static_cast<std::uint32_t>(job.view.disjoint ? b * batch_seeds + tree : b);
  }
}

__global__ __launch_bounds__(scan_threads) void measure_kernel(std::int64_t const* offsets, std::int64_t const* num,
                                                               std::int64_t const* begin, std::int64_t num_batches,
                                                               std::int64_t* sizes)
{
  __shared__ unsigned long long most;
  if (threadIdx.x == 0) { most = 0; }
  __syncthreads();
  std::int64_t const all = offsets[*num];
  if (begin == nullptr) {
    most = static_cast<unsigned long long>(all);
  } else {
    for (std::int64_t b = threadIdx.x; b < num_batches; b += scan_threads) {
      atomicMax(&most, static_cast<unsigned long long>(offsets[begin[b + 1]] - offsets[begin[b]]));
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    sizes[0] = all;
    sizes[1] = static_cast<std::int64_t>(most);
  }
}

/// A grid of (edges, batches).
__global__ __launch_bounds__(list_threads) void reverse_kernel(call_view const view, std::int64_t const* num_edges,
                                                               std::int64_t num_batches)
{
  edge_call const out = view.edges[0];
  for (std::int64_t b = blockIdx.y; b < num_batches; b += gridDim.y) {
    std::int64_t const size = num_edges[b];
    std::int64_t const first = b * out.edge_stride;
    for (std::int64_t k = global_thread(); k < size; k += grid_stride()) {
      std::int64_t const from = first + k;
      std::int64_t const to = from + size;
      out.row[to] = out.col[from];
      out.col[to] = out.row[from];
      out.edge[to] = out.edge[from];
    }
  }
}

__global__ __launch_bounds__(list_threads) void move_table_kernel(number_table const from, number_table const to,
                                                                  std::uint32_t first_stamp)
{
  for (std::int64_t i = global_thread(); i <= from.mask; i += grid_stride()) {
    numbered_slot const held = from.read(static_cast<std::uint32_t>(i));
    if (stamp_of(held.key) >= first_stamp) { to.copy_in(held); }
  }
}

/// A grid of (words, copies).
__global__ __launch_bounds__(list_threads) void copy_words_kernel(word_copy const* copies, std::int64_t num_copies)
{
  for (std::int64_t c = blockIdx.y; c < num_copies; c += gridDim.y) {
    word_copy const copy = copies[c];
    // Parts of outputs begin at multiples of 16 bytes, so that but for the last words four go at once. Induced edges don't.
    std::int64_t const fours = reinterpret_cast<std::uintptr_t>(copy.from) % 16 == 0 ? copy.words / 4 : 0;
    for (std::int64_t i = global_thread(); i < fours; i += grid_stride()) {
      __stcs(reinterpret_cast<uint4*>(copy.to) + i, __ldcs(reinterpret_cast<uint4 const*>(copy.from) + i));
    }
    for (std::int64_t i = 4 * fours + global_thread(); i < copy.words; i += grid_stride()) {
      copy.to[i] = copy.from[i];
    }
  }
}

/// Blocks a row of a grid whose rows are many.
unsigned row_blocks(std::int64_t size, std::int64_t rows)
{
  return grid_blocks(size, list_threads, std::max<std::int64_t>(1, 8192 / std::max<std::int64_t>(rows, 1)));
}

unsigned grid_rows(std::int64_t rows) { return static_cast<unsigned>(std::min<std::int64_t>(rows, 65535)); }

}  // namespace

void list_vertices(list_job const& job, gpu_exec const& exec)
{
  list_begin_kernel<<<1, scan_threads, 0, exec.stream>>>(job);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  list_kernel<<<filling_blocks<list_kernel>(job.most, list_threads, exec.device), list_threads, 0, exec.stream>>>(job);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void measure_picks(std::int64_t const* offsets, std::int64_t const* num, std::int64_t const* begin,
                   std::int64_t num_batches, std::int64_t* sizes, gpu_exec const& exec)
{
  measure_kernel<<<1, scan_threads, 0, exec.stream>>>(offsets, num, begin, num_batches, sizes);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void make_offsets(std::int64_t const* counts, std::int64_t size, std::int64_t* offsets, gpu_exec const& exec)
{
  TENDRIL_CUDA_TRY(cudaMemsetAsync(offsets, 0, sizeof *offsets, exec.stream));
  if (size == 0) { return; }
  run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, counts, offsets + 1, size, exec.stream);
  });
}

void add_reverses(call_view const& view, std::int64_t const* num_edges, std::int64_t num_batches, std::int64_t most,
                  gpu_exec const& exec)
{
  dim3 const grid(row_blocks(most, num_batches), grid_rows(num_batches));
  reverse_kernel<<<grid, list_threads, 0, exec.stream>>>(view, num_edges, num_batches);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void move_table(number_table const& from, number_table const& to, std::uint32_t first_stamp, gpu_exec const& exec)
{
  std::int64_t const slots = std::int64_t{from.mask} + 1;
  move_table_kernel<<<grid_blocks(slots, list_threads), list_threads, 0, exec.stream>>>(from, to, first_stamp);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void copy_words(word_copy const* copies, std::int64_t num_copies, std::int64_t most_words, gpu_exec const& exec)
{
  if (num_copies == 0 || most_words == 0) { return; }
  dim3 const grid(row_blocks(most_words / 4 + 4, num_copies), grid_rows(num_copies));
  copy_words_kernel<<<grid, list_threads, 0, exec.stream>>>(copies, num_copies);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
