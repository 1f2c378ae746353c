// Uniform and latest picks of mini-batches. The rule: src/core/floyd.hpp; without replacement: src/gpu/picks/floyd_picks.cuh. CPU
// twin: src/cpu/picks/neighbor_picks.hpp. With times the choice is the same among the first of the vertex's order, as many as
// are not too late.

#include <bit>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>  // memory_of

#include "gpu/batches/pick.cuh"

namespace tendril::gpu {
namespace {

constexpr int table_threads = 128;
constexpr std::int64_t most_scratch_bytes = std::int64_t{2} << 30;

struct uniform_choice {
  template <class View>
  __device__ slot_pair operator()(expansion_part<View> const& part, expanded_vertex<View> const& vertex,
                                  std::uint32_t slot) const
  {
    core::random_block const block = core::draw_block(vertex.key, vertex.item, part.what.step, slot / 2);
    return {core::bounded(block.low(), vertex.degree), core::bounded(block.high(), vertex.degree)};
  }
};

struct last_choice {
  template <class View>
  __device__ slot_pair operator()(expansion_part<View> const& part, expanded_vertex<View> const& vertex,
                                  std::uint32_t slot) const
  {
    std::uint32_t const count = min(part.what.fanout, vertex.degree);
    std::uint32_t const first = vertex.degree - count;
    slot_pair out;
    if (slot < count) { out.first = first + slot; }
    if (slot + 1 < count) { out.second = first + slot + 1; }
    return out;
  }
};

/// Fan-outs of at most 64. A warp takes as many vertices as have lanes, in a loop over the grid; the loop is the warp's,
/// so all lanes stay in it.
template <class View>
__global__ __launch_bounds__(expand_threads) void expand_lanes_kernel(expansion_part<View> const __grid_constant__ part)
{
  std::uint32_t const width = part.by_pairs.divisor();
  auto const lane = static_cast<std::uint32_t>(lane_id());
  std::uint32_t const group = part.by_pairs.quotient(lane);
  std::uint32_t const first_lane = group * width;
  std::uint32_t const pair = lane - first_lane;
  std::uint32_t const groups = part.by_pairs.quotient(warp_size);
  std::uint32_t const size = part.size();
  std::uint32_t const stride = gridDim.x * blockDim.x / warp_size * groups;
  for (std::uint32_t at = (blockIdx.x * blockDim.x + threadIdx.x) / warp_size * groups; at < size; at += stride) {
    std::uint32_t const i = at + group;
    bool const exists = group < groups && i < size;
    expanded_vertex<View> vertex;
    if (exists) { vertex = vertex_of(part.what, i); }
    slot_pair const picks = pick_by_lanes(
        first_lane, width, pair, part.what.fanout, vertex.degree,
        [&](std::uint32_t own) { return core::draw_block(vertex.key, vertex.item, part.what.step, own); });
    if (exists) { keep_pair(part.what, i, 2 * pair, vertex, picks); }
  }
}

/// Any fan-out; a block a vertex, in a loop over the grid.
template <class View>
__global__ __launch_bounds__(table_threads) void expand_tables_kernel(expansion_part<View> const __grid_constant__ part,
                                                                      table_space const space)
{
  extern __shared__ std::uint32_t shared[];
  candidate_table const table = space.table(shared);
  std::uint32_t const size = part.size();
  for (std::uint32_t i = blockIdx.x; i < size; i += gridDim.x) {
    expanded_vertex<View> const vertex = vertex_of(part.what, i);
    pick_by_table(
        table, part.what.fanout, vertex.degree,
        [&](std::uint32_t pair) { return core::draw_block(vertex.key, vertex.item, part.what.step, pair); },
        [&](std::uint32_t slot, slot_pair const& picks) { keep_pair(part.what, i, slot, vertex, picks); });
  }
}

template <class View>
void enqueue_lanes(expansion_on<View> const& what, gpu_exec const& exec)
{
  auto* const kernel = expand_lanes_kernel<View>;
  std::int64_t const groups = warp_size / (what.fanout / 2 + what.fanout % 2);
  for_each_part(what, warp_size / groups + 1, [&](expansion_part<View> const& part) {
    std::int64_t const warps = (part.what.most_vertices + groups - 1) / groups;
    unsigned const blocks = loop_blocks(kernel, warps * warp_size, expand_threads, 0, exec.device);
    kernel<<<blocks, expand_threads, 0, exec.stream>>>(part);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  });
}

template <class View>
void enqueue_tables(expansion_on<View> const& what, gpu_exec const& exec)
{
  auto* const kernel = expand_tables_kernel<View>;
  std::uint32_t const num_slots = std::bit_ceil(2 * std::min(what.fanout, 0x40000000U));
  std::int64_t const bytes = 2 * std::int64_t{num_slots} * 4;
  bool const in_shared = bytes <= static_cast<std::int64_t>(most_table_bytes);
  std::size_t const shared_bytes = in_shared ? static_cast<std::size_t>(bytes) : 0;
  if (shared_bytes > 48 << 10) {  // more than a kernel gets unasked
    TENDRIL_CUDA_TRY(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(most_table_bytes)));
  }
  std::int64_t most = resident_blocks(kernel, table_threads, shared_bytes, exec.device);
  if (!in_shared) { most = std::clamp<std::int64_t>(most_scratch_bytes / bytes, 1, most); }
  most = std::min(most, what.most_vertices);
  buffer<std::uint32_t> scratch(in_shared ? 0 : checked_product("scratch of blocks", most, bytes / 4), memory_of(exec));
  table_space const space{num_slots, in_shared ? nullptr : scratch.data()};
  for_each_part(what, 1, [&](expansion_part<View> const& part) {
    auto const blocks = static_cast<unsigned>(std::min(most, part.what.most_vertices));
    kernel<<<blocks, table_threads, shared_bytes, exec.stream>>>(part, space);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  });
}

}  // namespace

void pick_uniform(expansion const& what, bool replace, gpu_exec const& exec)
{
  if (what.most_vertices == 0) { return; }
  if (replace) {
    expand_pairs(what, uniform_choice{}, exec);
    return;
  }
  with_view(what, [&](auto const& seen) {
    what.fanout <= most_lane_picks ? enqueue_lanes(seen, exec) : enqueue_tables(seen, exec);
  });
}

void pick_last(expansion const& what, gpu_exec const& exec) { expand_pairs(what, last_choice{}, exec); }

}  // namespace tendril::gpu
