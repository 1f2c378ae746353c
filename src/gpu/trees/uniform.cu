// Uniform picks of k-hop trees. CPU twin: src/cpu/picks/neighbor_picks.hpp. With replacement a thread makes two picks. Without:
// src/gpu/picks/floyd_picks.cuh.

#include <bit>

#include <tendril/checked.hpp>

#include "gpu/picks/floyd_picks.cuh"
#include "gpu/trees/pairs.cuh"

namespace tendril::gpu {
namespace {

constexpr int table_threads = 128;
constexpr std::int64_t most_scratch_bytes = std::int64_t{2} << 30;

struct uniform_chooser {
  template <class View>
  __device__ pick_pair operator()(khop_part<View> const& part, typename View::row_type const& row,
                                  khop_place const& place, std::uint32_t slot, bool has_second) const
  {
    core::random_block const block = core::draw_block(part.key, place.root, place.slot, slot / 2);
    pick_pair out;
    out.first = core::bounded(block.low(), row.degree());
    if (has_second) { out.second = core::bounded(block.high(), row.degree()); }
    find_vertices(row, out);
    return out;
  }
};

/// Looks up the vertices of two picks and writes them. Any thread.
template <class View>
__device__ __forceinline__ void finish_pair(khop_part<View> const& part, std::uint32_t parent, std::uint32_t slot,
                                            typename View::row_type const& row, slot_pair const& picks)
{
  pick_pair out{picks.first, picks.second};
  find_vertices(row, out);
  write_pair(part, parent, slot, row, out);
}

/// Fan-outs of at most 64. Lane l of a parent's has the slots 2 l and 2 l + 1; lanes of a warp that no parent is left
/// for idle. Any grid of whole warps that covers all parents.
template <class View>
__global__ __launch_bounds__(pair_threads) void floyd_lanes_kernel(khop_part<View> const __grid_constant__ part)
{
  std::uint32_t const width = part.by_pairs.divisor();
  auto const lane = static_cast<std::uint32_t>(lane_id());
  std::uint32_t const group = part.by_pairs.quotient(lane);
  std::uint32_t const first_lane = group * width;
  std::uint32_t const pair = lane - first_lane;
  std::uint32_t const groups = part.by_pairs.quotient(warp_size);
  std::uint32_t const parent = (blockIdx.x * blockDim.x + threadIdx.x) / warp_size * groups + group;
  bool const exists = group < groups && parent < part.num_parents;
  typename View::row_type row;
  if (exists) { row = row_of_parent(part, parent); }
  slot_pair const picks = pick_by_lanes(first_lane, width, pair, part.fanout, row.degree(), [&](std::uint32_t own) {
    khop_place const place = place_of(part, parent);
    return core::draw_block(part.key, place.root, place.slot, own);
  });
  if (exists) { finish_pair(part, parent, 2 * pair, row, picks); }
}

/// Any fan-out; a block a parent, in a loop over the grid.
template <class View>
__global__ __launch_bounds__(table_threads) void floyd_tables_kernel(khop_part<View> const __grid_constant__ part,
                                                                     table_space const space)
{
  extern __shared__ std::uint32_t shared[];
  candidate_table const table = space.table(shared);
  for (std::uint32_t parent = blockIdx.x; parent < part.num_parents; parent += gridDim.x) {
    typename View::row_type const row = row_of_parent(part, parent);
    khop_place const place = place_of(part, parent);
    pick_by_table(
        table, part.fanout, row.degree(),
        [&](std::uint32_t pair) { return core::draw_block(part.key, place.root, place.slot, pair); },
        [&](std::uint32_t slot, slot_pair const& picks) { finish_pair(part, parent, slot, row, picks); });
  }
}

template <class View>
void enqueue_lanes(View const& graph, khop_job const& job, gpu_exec const& exec)
{
  std::int64_t const groups = warp_size / (job.fanout / 2 + job.fanout % 2);
  for_each_part(graph, job, warp_size / groups + 1, [&](khop_part<View> const& part) {
    std::int64_t const warps = (part.num_parents + groups - 1) / groups;
    unsigned const blocks = grid_blocks(warps * warp_size, pair_threads, 1 << 23);
    floyd_lanes_kernel<<<blocks, pair_threads, 0, exec.stream>>>(part);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  });
}

template <class View>
void enqueue_tables(View const& graph, khop_job const& job, gpu_exec const& exec)
{
  auto* const kernel = floyd_tables_kernel<View>;
  bool const any_drawn = job.most_picks >= job.fanout;
  std::uint32_t const num_slots = any_drawn ? std::bit_ceil(2 * std::min(job.fanout, 0x40000000U)) : 0;
  std::int64_t const bytes = 2 * std::int64_t{num_slots} * 4;
  bool const in_shared = bytes <= static_cast<std::int64_t>(most_table_bytes);
  std::size_t const shared_bytes = in_shared ? static_cast<std::size_t>(bytes) : 0;
  if (in_shared) {
    TENDRIL_CUDA_TRY(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(most_table_bytes)));
  }
  std::int64_t most = resident_blocks(kernel, table_threads, shared_bytes, exec.device);
  if (!in_shared) { most = std::clamp<std::int64_t>(most_scratch_bytes / bytes, 1, most); }
  most = std::min(most, job.parents.size);
  buffer<std::uint32_t> scratch(in_shared ? 0 : checked_product("scratch of blocks", most, bytes / 4), memory_of(exec));
  table_space const space{num_slots, in_shared ? nullptr : scratch.data()};
  for_each_part(graph, job, 1, [&](khop_part<View> const& part) {
    auto const blocks = static_cast<unsigned>(std::min<std::int64_t>(most, part.num_parents));
    kernel<<<blocks, table_threads, shared_bytes, exec.stream>>>(part, space);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  });
}

}  // namespace

void uniform_hop(khop_job const& job, gpu_exec const& exec)
{
  if (job.replace) {
    enqueue_pairs(job, uniform_chooser{}, exec);
    return;
  }
  job.graph.visit([&](auto const& graph) {
    if (job.fanout <= most_lane_picks) {
      enqueue_lanes(graph, job, exec);
    } else {
      enqueue_tables(graph, job, exec);
    }
  });
}

}  // namespace tendril::gpu
