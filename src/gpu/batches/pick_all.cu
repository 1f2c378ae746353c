// All neighbours of a mini-batch's vertices: degrees, and, after the caller's scan, a copy that is cut by edges, so that
// hubs unbalance nothing. CPU twin: src/cpu/batches/minibatch.cpp.

#include "gpu/batches/pick.cuh"
#include "gpu/graph/edge_tiles.cuh"  // row_of

namespace tendril::gpu {
namespace {

constexpr std::int64_t slots_a_warp = 8 * warp_size;

template <class View>
__global__ __launch_bounds__(expand_threads) void count_kernel(expansion_part<View> const __grid_constant__ part,
                                                               std::int64_t* counts)
{
  std::uint32_t const size = part.size();
  for (std::int64_t i = global_thread(); i < part.what.most_vertices; i += grid_stride()) {
    counts[i] = i < size ? vertex_of(part.what, static_cast<std::uint32_t>(i)).degree : 0;
  }
}

/// A warp takes a stretch of slots at a time and searches the vertices of its ends; each lane then searches between them,
/// in lines that the warp has just read. A vertex without edges has the offset of the next: the last one wins, so it is
/// never found. How many slots there are lies in device memory, too.
template <class View>
__global__ __launch_bounds__(expand_threads) void copy_kernel(expansion_on<View> const __grid_constant__ what,
                                                              std::int64_t const* offsets)
{
  std::int64_t const num_vertices = min(*what.num_vertices, what.most_vertices);
  if (num_vertices <= 0) { return; }
  std::int64_t const num_slots = offsets[num_vertices];
  std::int64_t const stride = grid_stride() / warp_size * slots_a_warp;
  for (std::int64_t begin = global_thread() / warp_size * slots_a_warp; begin < num_slots; begin += stride) {
    std::int64_t const end = min(begin + slots_a_warp, num_slots);
    std::int64_t const low = row_of(offsets, 0, num_vertices - 1, begin);
    std::int64_t const high = row_of(offsets, low, num_vertices - 1, end - 1);
    for (std::int64_t slot = begin + lane_id(); slot < end; slot += warp_size) {
      std::int64_t const i = row_of(offsets, low, high, slot);
      auto const row = what.graph.row(what.vertices[i]);
      edge_id const first = row.first_edge();
      auto const pick = static_cast<std::uint32_t>(slot - offsets[i]);
      std::uint32_t const position = position_of(what, first, pick);
      keep_edge(what, what.group_of[i], slot, first + position,
                [&](int) { return target_of(what, row, first, position); });
    }
  }
}

}  // namespace

void count_all(expansion const& what, std::int64_t* counts, gpu_exec const& exec)
{
  with_view(what, [&]<class View>(expansion_on<View> const& seen) {
    auto* const kernel = count_kernel<View>;
    for_each_part(seen, 1, [&](expansion_part<View> const& part) {
      unsigned const blocks = loop_blocks(kernel, part.what.most_vertices, expand_threads, 0, exec.device);
      kernel<<<blocks, expand_threads, 0, exec.stream>>>(part, counts + part.first_vertex);
      TENDRIL_CUDA_TRY(cudaGetLastError());
    });
  });
}

void pick_all(expansion const& what, std::int64_t const* offsets, gpu_exec const& exec)
{
  if (what.most_vertices == 0) { return; }
  with_view(what, [&]<class View>(expansion_on<View> const& seen) {
    auto* const kernel = copy_kernel<View>;
    auto const blocks = static_cast<unsigned>(resident_blocks(kernel, expand_threads, 0, exec.device));
    kernel<<<blocks, expand_threads, 0, exec.stream>>>(seen, offsets);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  });
}

}  // namespace tendril::gpu
