#pragma once

#include <tendril/graph.hpp>

namespace tendril::bench {

/// Bytes a second of a sequential sum over `bytes` bytes, on `threads` threads.
[[nodiscard]] double sequential_read(std::int64_t bytes, int threads);

/// Independent 4-byte gathers a second from the graph's neighbour array, at random places, with prefetch.
[[nodiscard]] double independent_gathers(csr_arrays const& graph, std::int64_t count, int threads);

/// Pairs of dependent gathers a second - a vertex's offset pair, then a random neighbour, which is the next vertex -
/// with prefetch, many chains at once, cheap random numbers, nothing written: what no walk can beat.
[[nodiscard]] double dependent_gather_pairs(csr_arrays const& graph, std::int64_t count, int threads);

/// Steps a second of a plain loop that follows one walker at a time, by the rule of uniform walks, without
/// interleaving: what the executor is there to beat. Writes its walks as the executor does.
[[nodiscard]] double plain_walk(csr_arrays const& graph, std::span<vertex_id const> starts, int length, int threads);

}  // namespace tendril::bench
