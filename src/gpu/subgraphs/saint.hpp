// What the kernels of GraphSAINT offer to src/gpu/subgraphs/saint.cpp. All arrays lie in device memory; nothing synchronises unless
// it says so.

#pragma once

#include <cstdint>

#include <tendril/batch_numbers.hpp>
#include <tendril/exec.hpp>
#include <tendril/saint.hpp>

#include "core/saint.hpp"
#include "plan/tables.hpp"  // alias_record

namespace tendril::gpu {

using saint_draws = core::saint_draws<plan::alias_record, graph_view>;

/// The vertices that have edges, ascending. Synchronises.
[[nodiscard]] buffer<vertex_id> make_sources(graph_view const& graph, gpu_exec const& exec);

/// The distinct vertices of samples, ascending in each, and where they begin; what a sample has at most.
struct drawn_samples {
  buffer<vertex_id> nodes;
  buffer<std::int64_t> offsets;  ///< [num_samples + 1]
  std::int64_t max_size = 0;
};

/// Draws num_samples > 0 samples of these numbers. Synchronises once.
[[nodiscard]] drawn_samples draw_samples(saint_draws const& draws, std::uint32_t budget, batch_numbers numbers,
                                         std::int64_t num_samples, gpu_exec const& exec);

/// Adds one to the counts of the vertices and edges of subgraphs.
void count_subgraphs(subgraphs const& samples, saint_coefficients& counts, cuda_stream stream);

/// Works out the coefficients from the counts.
void finish_coefficients(graph_view const& graph, saint_coefficients& out, gpu_exec const& exec);

}  // namespace tendril::gpu
