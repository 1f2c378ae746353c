// Walks on a placed graph, of which the GPU makes some and the CPU the others.

#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include <tendril/walk.hpp>

#include "gpu/walks/regions.hpp"

namespace tendril::gpu {

/// Where walks of `length` steps go: [num_walks, length + 1], or [length + 1, stride] where rows are steps. Device memory.
struct walk_result {
  vertex_id* vertices;
  std::int32_t* lengths;  ///< Or null.
  std::int64_t num_walks;
  std::int64_t length;
  walk_order order;
  std::int64_t stride;  ///< Where rows are steps: walks of a row, num_walks or more.
};

/// Makes walks on the GPU, and waits for them.
using walk_maker =
    std::function<void(std::span<vertex_id const> starts, std::int64_t first_walk, walk_result const& out)>;

/// @param graph    The placed graph.
/// @param on_host  Plans walks of out.length steps for the graph in host memory.
/// @param starts   In device memory, all of them vertices.
/// @param regions  By which the GPU makes many walks at once; or null.
void share_walks(graph const& graph, walker const& on_host, std::span<vertex_id const> starts, std::int64_t first_walk,
                 walk_result const& out, walk_maker const& on_gpu, walk_regions const* regions, gpu_exec const& exec);

}  // namespace tendril::gpu
