// LABOR's picks of mini-batches, put in place. Picks have been counted and staged (stage_labor.cu). Once counts have been
// added up, a copy that is cut by picks writes them, so that hubs unbalance nothing. A vertex of more picks than are staged
// has its row read again, by a block. The rule: src/core/labor.hpp. CPU twin: src/cpu/batches/labor_picks.hpp.

#include <cub/device/device_scan.cuh>

#include "gpu/batches/labor_rows.cuh"
#include "gpu/batches/shape.cuh"  // filling_blocks, row_of

namespace tendril::gpu {
namespace {

constexpr std::int64_t slots_a_warp = 8 * warp_size;

/// Keeps one pick of a vertex whose row begins at edge `first`. Any thread.
template <class View>
__device__ __forceinline__ void keep_candidate(expansion_on<View> const& what, typename View::row_type const& row,
                                               edge_id first, std::uint32_t group, std::int64_t slot,
                                               std::uint32_t candidate)
{
  std::uint32_t const position = position_of(what, first, candidate);
  keep_edge(what, group, slot, first + position, [&](int) { return target_of(what, row, first, position); });
}

/// As the copy of all neighbours (pick_all.cu): a warp takes a stretch of slots, and each lane searches the vertices of its
/// own between those of the stretch's ends. Vertices without picks have the offset of the next one: the last one wins.
template <class View>
__global__ __launch_bounds__(expand_threads) void put_kernel(expansion_on<View> const __grid_constant__ what,
                                                             labor_job const __grid_constant__ job, std::int64_t most)
{
  std::int64_t const num_vertices = min(*what.num_vertices, what.most_vertices);
  if (num_vertices <= 0) { return; }
  std::int64_t const* const offsets = job.memory.offsets;
  std::int64_t const num_slots = offsets[num_vertices];
  if (num_slots >= most && global_thread() == 0) { *what.sink.table.full = 1; }
  std::int64_t const stride = grid_stride() / warp_size * slots_a_warp;
  for (std::int64_t begin = global_thread() / warp_size * slots_a_warp; begin < num_slots; begin += stride) {
    std::int64_t const end = min(begin + slots_a_warp, num_slots);
    std::int64_t const low = row_of(offsets, 0, num_vertices - 1, begin);
    std::int64_t const high = row_of(offsets, low, num_vertices - 1, end - 1);
    for (std::int64_t slot = begin + lane_id(); slot < end; slot += warp_size) {
      std::int64_t const i = row_of(offsets, low, high, slot);
      auto candidate = static_cast<std::uint32_t>(slot - offsets[i]);
      if (job.stage > 0) {
        if (job.memory.counts[i] > job.stage) { continue; }  // put_spilled_kernel's
        candidate = job.memory.staged[i * job.stage + candidate];
      }
      auto const row = what.graph.row(what.vertices[i]);
      keep_candidate(what, row, row.first_edge(), what.group_of[i], slot, candidate);
    }
  }
}

/// A block a vertex of the list: its picks, as far as they have a place.
template <class Numbers, class View>
__global__ __launch_bounds__(labor_long_threads) void put_spilled_kernel(
    expansion_on<View> const __grid_constant__ what, labor_job const __grid_constant__ job)
{
  __shared__ row_sums sums;
  std::uint32_t const size = job.memory.lists->spilled;
  for (std::uint32_t n = blockIdx.x; n < size; n += gridDim.x) {
    std::uint32_t const i = job.memory.spilled[n];
    auto const v = asking<Numbers>(what, job, i);
    std::int64_t const first_slot = job.memory.offsets[i];
    std::int64_t const room = job.memory.offsets[i + 1] - first_slot;
    (void)read_by_block(what, v, sums, [&](std::uint32_t at, std::uint32_t candidate) {
      if (at >= room) { return; }
      keep_candidate(what, v.vertex.row, v.vertex.first, v.vertex.group, first_slot + at, candidate);
    });
  }
}

/// Sums of numbers that are not negative, which stop at a bound: associative.
struct bounded_sum {
  std::int64_t most;

  [[nodiscard]] TENDRIL_HD std::int64_t operator()(std::int64_t a, std::int64_t b) const
  {
    return a + b < most ? a + b : most;
  }
};

}  // namespace

std::size_t labor_scan_bytes(std::int64_t most_vertices)
{
  std::size_t bytes = 0;
  std::int64_t* const none = nullptr;
  TENDRIL_CUDA_TRY(cub::DeviceScan::InclusiveScan(nullptr, bytes, none, none, bounded_sum{0}, most_vertices));
  return bytes;
}

void place_labor(labor_job const& job, std::int64_t most_vertices, std::int64_t most, void* scratch, std::size_t bytes,
                 gpu_exec const& exec)
{
  if (most_vertices == 0) { return; }
  TENDRIL_CUDA_TRY(cub::DeviceScan::InclusiveScan(scratch, bytes, job.memory.counts, job.memory.offsets + 1,
                                                  bounded_sum{most}, most_vertices, exec.stream));
}

void pick_labor(expansion const& what, labor_job const& job, std::int64_t most, gpu_exec const& exec)
{
  if (what.most_vertices == 0) { return; }
  with_numbers(what, job, [&]<class Numbers, class View>(expansion_on<View> const& seen) {
    constexpr auto kernel = put_kernel<View>;
    constexpr auto spilled_kernel = put_spilled_kernel<Numbers, View>;
    unsigned const blocks = filling_blocks<kernel>(most, expand_threads, exec.device);
    kernel<<<blocks, expand_threads, 0, exec.stream>>>(seen, job, most);
    TENDRIL_CUDA_TRY(cudaGetLastError());
    if (job.stage == 0) { return; }
    unsigned const spilled_blocks =
        filling_blocks<spilled_kernel>(what.most_vertices * labor_long_threads, labor_long_threads, exec.device);
    spilled_kernel<<<spilled_blocks, labor_long_threads, 0, exec.stream>>>(seen, job);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  });
}

}  // namespace tendril::gpu
