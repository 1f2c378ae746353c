#pragma once

#include <cstdint>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril::bench {

// What no job on a GPU can beat, measured the way jobs use memory. Each synchronises and gives a rate.

/// Bytes a second of a sequential read of `bytes` bytes, 16 bytes a thread at a time.
[[nodiscard]] double gpu_sequential_read(std::int64_t bytes, gpu_exec const& exec);

/// Records a second, gathered from random places of a table of `num_records`, many at once.
/// @param record_bytes  4, 8, 16 or 32.
[[nodiscard]] double gpu_gathers(std::int64_t num_records, int record_bytes, gpu_exec const& exec);

/// Steps a second of a uniform walk that writes nothing and draws cheap numbers: a gather of the vertex's offset and
/// degree (8 bytes), then one of the neighbour. Graphs of less than 2^32 edges; 0 for others.
[[nodiscard]] double gpu_dependent_gathers(graph const& graph, gpu_exec const& exec);

}  // namespace tendril::bench
