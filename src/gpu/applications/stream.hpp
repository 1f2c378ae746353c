// Sampling applications on graphs in host memory whose edges stream through the GPU.

#pragma once

#include <cstdint>
#include <vector>

#include <tendril/engine/applications/launch.hpp>

#include "gpu/applications/make_transit_map.hpp"
#include "gpu/graph/edge_stream.hpp"

namespace tendril::gpu {

/// What a job takes on the GPU besides the graph and the result: pairs that are grouped, neighbourhoods that are copied.
[[nodiscard]] std::int64_t work_bytes(engine::application_job const& job);

/// How streamed steps are cut. Never changes a sample.
struct stream_tuning {
  std::int64_t most_pairs = 0;  ///< (sample, transit) that are grouped at a time: 24 bytes each; 0: what memory allows.
  std::int64_t most_copied = std::int64_t{1} << 29U;  ///< Vertices of combined neighbourhoods kept at a time, but for a
                                                      ///< sample that alone has more.
};

/// Enqueues all steps of a streamable job. The setup's graph needs the number of vertices only. Synchronises once for each
/// time that pairs are grouped, which is once a step where memory allows (collective: twice, and more where
/// neighbourhoods are many). @throws memory_error; device_error.
void grow_streamed(engine::application_kernels const& kernels, void const* app, engine::application_run& run,
                   edge_stream& edges, stream_tuning const& tuning);

/// The pairs of one sub-graph.
struct subgraph_pairs {
  std::uint32_t begin, end;  ///< Among the sorted ones.
  vertex_id first, last;     ///< The least and the greatest of their transits, if begin < end.
};

/// Of every sub-graph. Synchronises.
/// @param first_vertex  [sub-graphs + 1] in device memory.
[[nodiscard]] std::vector<subgraph_pairs> pairs_by_subgraph(sorted_pairs const& sorted, std::int64_t num_pairs,
                                                            std::int64_t const* first_vertex,
                                                            std::int64_t num_subgraphs, gpu_exec const& exec);

}  // namespace tendril::gpu
