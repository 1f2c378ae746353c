// LABOR's picks of mini-batches, counted and staged. A warp reads the row of a vertex, draws the number of each neighbour,
// and stages the candidates that are taken. Rows of more than `labor_part` edges go to a list. Warps share their parts
// evenly; who finishes a part appends what it has taken to what is staged of the vertex, and a last launch puts that in
// order. Where too many picks are staged for that, a block reads such a row. What becomes of staged picks: pick_labor.cu.
// The rule: src/core/labor.hpp. CPU twin: src/cpu/batches/labor_picks.hpp.

#include "gpu/batches/labor_rows.cuh"
#include "gpu/batches/shape.cuh"  // filling_blocks

namespace tendril::gpu {
namespace {

constexpr int expand_warps = expand_threads / warp_size;
constexpr int picks_a_lane = 4;
/// Picks that a warp puts in order.
constexpr std::uint32_t most_ordered = picks_a_lane * warp_size;

/// Index of the calling thread's warp in the grid: from one lane, which tells the compiler that all have the same. Any
/// thread of a whole warp.
__device__ __forceinline__ std::int64_t global_warp() { return __shfl_sync(full_warp, global_thread() / warp_size, 0); }

/// Keeps what is known of vertex i once its row has been read. One thread.
template <class View, class Numbers>
__device__ void keep_count(labor_job const& job, asking_vertex<View, Numbers> const& v, std::uint32_t i,
                           std::uint32_t count)
{
  job.memory.counts[i] = count;
  job.memory.weights[i] = count == 0 ? 0.0F : v.choice.weight(job.fanout, v.degree(), count, job.normalize);
  if (count > job.stage && job.stage > 0) { job.memory.spilled[atomicAdd(&job.memory.lists->spilled, 1U)] = i; }
}

__device__ __forceinline__ std::uint32_t parts_of(std::uint32_t degree)
{
  return degree / labor_part + (degree % labor_part == 0 ? 0 : 1);
}

/// Puts vertex i into the list of long rows. One thread.
__device__ void keep_long_row(labor_job const& job, std::uint32_t i, std::uint32_t degree)
{
  unsigned long long const before =
      atomicAdd(&job.memory.lists->long_rows, (1ULL << 32U) + static_cast<unsigned long long>(parts_of(degree)));
  job.memory.long_rows[before >> 32U] = {i, static_cast<std::uint32_t>(before)};
  job.memory.counts[i] = 0;  // its parts add theirs
}

template <class Numbers, class View>
__global__ __launch_bounds__(expand_threads) void stage_kernel(expansion_on<View> const __grid_constant__ what,
                                                               labor_job const __grid_constant__ job)
{
  std::int64_t const num_vertices = min(*what.num_vertices, what.most_vertices);
  auto const lane = static_cast<std::uint32_t>(lane_id());
  std::uint32_t const below = (1U << lane) - 1U;
  if (global_thread() == 0) { job.memory.offsets[0] = 0; }
  for (std::int64_t i = num_vertices + global_thread(); i < what.most_vertices; i += grid_stride()) {
    job.memory.counts[i] = 0;
  }
  std::int64_t const stride = grid_stride() / warp_size;
  for (std::int64_t n = global_warp(); n < num_vertices; n += stride) {
    auto const i = static_cast<std::uint32_t>(n);
    auto const v = asking<Numbers>(what, job, i);
    if (job.fanout < 0) {  // nothing to choose, nothing to stage
      if (lane == 0) { keep_count(job, v, i, v.degree()); }
      continue;
    }
    if (v.degree() > labor_part) {
      if (lane == 0) { keep_long_row(job, i, v.degree()); }
      continue;
    }
    std::uint32_t* const staged = job.memory.staged + n * job.stage;
    std::uint32_t count = 0;
    if (v.choice.all) {  // as many as are staged at most
      count = v.degree();
      for (std::uint32_t c = lane; c < count; c += warp_size) { staged[c] = c; }
    } else {
      draw_by_warp(what, v, 0, v.degree(), [&](unsigned mask, std::uint32_t candidate) {
        std::uint32_t const at = count + static_cast<std::uint32_t>(__popc(mask & below));
        if ((mask >> lane & 1U) != 0 && at < job.stage) { staged[at] = candidate + lane; }
        count += static_cast<std::uint32_t>(__popc(mask));
      });
    }
    if (lane == 0) { keep_count(job, v, i, count); }
  }
}

/// The row of the list that has part `part`; parts ascend, and every row has one. Any thread.
__device__ std::uint32_t row_of_part(labor_long_row const* rows, std::uint32_t num_rows, std::uint32_t part)
{
  std::uint32_t low = 0;
  for (std::uint32_t size = num_rows; size > 1;) {
    std::uint32_t const half = size / 2;
    low += rows[low + half].first_part <= part ? half : 0;
    size -= half;
  }
  return low;
}

/// The parts of the long rows: a warp has a stretch of them, of several rows or of part of one. What it takes of a row it
/// appends to the row's staged picks at once, in any order among warps. At most `most_ordered` are staged.
template <class Numbers, class View>
__global__ __launch_bounds__(expand_threads) void stage_parts_kernel(expansion_on<View> const __grid_constant__ what,
                                                                     labor_job const __grid_constant__ job)
{
  __shared__ std::uint32_t taken_by_warp[expand_warps][most_ordered];
  std::uint32_t* const taken = taken_by_warp[threadIdx.x / warp_size];
  auto const lane = static_cast<std::uint32_t>(lane_id());
  std::uint32_t const below = (1U << lane) - 1U;
  unsigned long long const size = job.memory.lists->long_rows;
  auto const num_parts = static_cast<std::int64_t>(size & 0xffffffffU);
  std::int64_t const warp = global_warp();
  std::int64_t const num_warps = grid_stride() / warp_size;
  auto part = static_cast<std::uint32_t>(num_parts * warp / num_warps);
  auto const end = static_cast<std::uint32_t>(num_parts * (warp + 1) / num_warps);
  if (part == end) { return; }
  std::uint32_t row = row_of_part(job.memory.long_rows, static_cast<std::uint32_t>(size >> 32U), part);
  for (; part < end; ++row) {
    labor_long_row const of_list = job.memory.long_rows[row];
    auto const v = asking<Numbers>(what, job, of_list.vertex);
    std::uint32_t const first = part - of_list.first_part;
    std::uint32_t const last = min(parts_of(v.degree()), first + (end - part));
    std::uint32_t const begin = first * labor_part;
    auto const behind = static_cast<std::uint32_t>(min(std::uint64_t{last} * labor_part, std::uint64_t{v.degree()}));
    std::uint32_t count = 0;
    draw_by_warp(what, v, begin, behind - begin, [&](unsigned mask, std::uint32_t candidate) {
      std::uint32_t const at = count + static_cast<std::uint32_t>(__popc(mask & below));
      if ((mask >> lane & 1U) != 0 && at < job.stage) { taken[at] = candidate + lane; }
      count += static_cast<std::uint32_t>(__popc(mask));
    });
    part += last - first;
    if (count == 0) { continue; }
    unsigned long long before = 0;
    if (lane == 0) {
      auto* const counter = reinterpret_cast<unsigned long long*>(job.memory.counts + of_list.vertex);
      before = atomicAdd(counter, static_cast<unsigned long long>(count));
    }
    before = __shfl_sync(full_warp, before, 0);
    __syncwarp();  // all have written `taken`
    std::uint32_t* const staged = job.memory.staged + std::int64_t{of_list.vertex} * job.stage;
    for (std::uint32_t j = lane; j < count && before + j < job.stage; j += warp_size) { staged[before + j] = taken[j]; }
    __syncwarp();  // before lanes write `taken` again
  }
}

/// Puts the staged picks of the long rows in order, which all differ. A warp a row: the place of each pick is how many are
/// smaller.
template <class Numbers, class View>
__global__ __launch_bounds__(expand_threads) void order_kernel(expansion_on<View> const __grid_constant__ what,
                                                               labor_job const __grid_constant__ job)
{
  auto const lane = static_cast<std::uint32_t>(lane_id());
  auto const num_rows = static_cast<std::int64_t>(job.memory.lists->long_rows >> 32U);
  for (std::int64_t n = global_warp(); n < num_rows; n += grid_stride() / warp_size) {
    std::uint32_t const i = job.memory.long_rows[n].vertex;
    auto const count = static_cast<std::uint32_t>(job.memory.counts[i]);
    std::uint32_t const size = min(count, job.stage);
    std::uint32_t* const staged = job.memory.staged + std::int64_t{i} * job.stage;
    std::uint32_t own[picks_a_lane];
    std::uint32_t place[picks_a_lane] = {};
#pragma unroll
    for (int p = 0; p < picks_a_lane; ++p) {
      std::uint32_t const j = p * warp_size + lane;
      own[p] = j < size ? staged[j] : 0xffffffffU;  // which is no candidate
    }
#pragma unroll
    for (int p = 0; p < picks_a_lane; ++p) {
      for (std::uint32_t l = 0; l < warp_size && p * warp_size + l < size; ++l) {
        std::uint32_t const other = __shfl_sync(full_warp, own[p], l);
#pragma unroll
        for (int q = 0; q < picks_a_lane; ++q) { place[q] += other < own[q] ? 1 : 0; }
      }
    }
    __syncwarp();  // all have read
#pragma unroll
    for (int p = 0; p < picks_a_lane; ++p) {
      if (p * warp_size + lane < size) { staged[place[p]] = own[p]; }
    }
    if (lane == 0) { keep_count(job, asking<Numbers>(what, job, i), i, count); }
  }
}

/// A block a long row.
template <class Numbers, class View>
__global__ __launch_bounds__(labor_long_threads) void stage_long_kernel(expansion_on<View> const __grid_constant__ what,
                                                                        labor_job const __grid_constant__ job)
{
  __shared__ row_sums sums;
  auto const size = static_cast<std::uint32_t>(job.memory.lists->long_rows >> 32U);
  for (std::uint32_t n = blockIdx.x; n < size; n += gridDim.x) {
    std::uint32_t const i = job.memory.long_rows[n].vertex;
    auto const v = asking<Numbers>(what, job, i);
    std::uint32_t* const staged = job.memory.staged + std::int64_t{i} * job.stage;
    std::uint32_t const count = read_by_block(what, v, sums, [&](std::uint32_t at, std::uint32_t candidate) {
      if (at < job.stage) { staged[at] = candidate; }
    });
    if (threadIdx.x == 0) { keep_count(job, v, i, count); }
  }
}

template <class Numbers, class View>
void stage_long_rows(expansion_on<View> const& what, labor_job const& job, gpu_exec const& exec)
{
  if (job.stage > most_ordered) {
    constexpr auto kernel = stage_long_kernel<Numbers, View>;
    unsigned const blocks =
        filling_blocks<kernel>(what.most_vertices * labor_long_threads, labor_long_threads, exec.device);
    kernel<<<blocks, labor_long_threads, 0, exec.stream>>>(what, job);
    TENDRIL_CUDA_TRY(cudaGetLastError());
    return;
  }
  constexpr auto kernel = stage_parts_kernel<Numbers, View>;
  constexpr auto order = order_kernel<Numbers, View>;
  std::int64_t const parts_a_row = job.most_degree / labor_part + 1;
  unsigned const blocks =
      filling_blocks<kernel>(what.most_vertices * parts_a_row * warp_size, expand_threads, exec.device);
  kernel<<<blocks, expand_threads, 0, exec.stream>>>(what, job);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  unsigned const order_blocks = filling_blocks<order>(what.most_vertices * warp_size, expand_threads, exec.device);
  order<<<order_blocks, expand_threads, 0, exec.stream>>>(what, job);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace

void stage_labor(expansion const& what, labor_job const& job, gpu_exec const& exec)
{
  if (what.most_vertices == 0) { return; }
  TENDRIL_CUDA_TRY(cudaMemsetAsync(job.memory.lists, 0, sizeof(labor_lists), exec.stream));
  with_numbers(what, job, [&]<class Numbers, class View>(expansion_on<View> const& seen) {
    constexpr auto kernel = stage_kernel<Numbers, View>;
    unsigned const blocks = filling_blocks<kernel>(what.most_vertices * warp_size, expand_threads, exec.device);
    kernel<<<blocks, expand_threads, 0, exec.stream>>>(seen, job);
    TENDRIL_CUDA_TRY(cudaGetLastError());
    if (job.fanout >= 0 && job.most_degree > labor_part) { stage_long_rows<Numbers>(seen, job, exec); }
  });
}

}  // namespace tendril::gpu
