// The arcs of a graph as sortable numbers: the source in the upper bits, the target in the lower ones, no more bits than
// ids need, so that a radix sort makes no pass in vain. Edges come from any function of their index.

#pragma once

#include <cstdint>

#include <tendril/gpu.hpp>  // memory_of

#include "core/rmat.hpp"  // drawn_edge
#include "gpu/device/launch.cuh"
#include "gpu/graph/csr.hpp"  // arc_list, arc_keys, no_arc

namespace tendril::gpu {

/// One thread an edge: the arcs that the options make of it, where there is none `no_arc`.
/// @param edge_of  edge_of(k): the ends of edge k, a core::drawn_edge.
/// @param keys     [num_edges], or twice as many to symmetrize: the arcs of edge k lie at 2k and 2k + 1 then.
template <class EdgeOf>
__global__ __launch_bounds__(256) void arc_keys_kernel(EdgeOf edge_of, std::int64_t num_edges, bool reverse,
                                                       bool symmetrize, bool drop_self_loops, key_layout layout,
                                                       std::uint64_t* keys)
{
  for (std::int64_t k = global_thread(); k < num_edges; k += grid_stride()) {
    core::drawn_edge const edge = edge_of(k);
    vertex_id const u = reverse ? edge.target : edge.source;
    vertex_id const v = reverse ? edge.source : edge.target;
    std::uint64_t const forth = u == v && drop_self_loops ? no_arc : layout.key(u, v);
    if (symmetrize) {
      keys[2 * k] = forth;
      keys[2 * k + 1] = u == v ? no_arc : layout.key(v, u);
    } else {
      keys[k] = forth;
    }
  }
}

/// The arcs that `options` make of the edges [0, num_edges), whose ids are below num_ids. Does not synchronise.
template <class EdgeOf>
arc_list make_arcs(EdgeOf const& edge_of, std::int64_t num_edges, std::int64_t num_ids, build_options const& options,
                   gpu_exec const& exec)
{
  constexpr int block_threads = 256;
  arc_list arcs;
  arcs.layout = key_layout::of(num_ids);
  arcs.size = num_edges * (options.symmetrize ? 2 : 1);
  arcs.has_gaps = options.symmetrize || options.drop_self_loops;
  arcs.keys = buffer<std::uint64_t>(arcs.size, memory_of(exec));
  if (num_edges == 0) { return arcs; }
  arc_keys_kernel<<<grid_blocks(num_edges, block_threads), block_threads, 0, exec.stream>>>(
      edge_of, num_edges, options.reverse, options.symmetrize, options.drop_self_loops, arcs.layout, arcs.keys.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  return arcs;
}

}  // namespace tendril::gpu
