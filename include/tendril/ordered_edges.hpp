#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril {

/// Builds a graph from edges that may be in the graph's own order already: ascending by vertex, then by neighbour. One
/// parallel pass reads each edge once, checks it, narrows the neighbour to 32 bits and finds the offsets of the vertices;
/// nothing is sorted. The graph equals `build_graph`'s of the same edges, and does not refer to the arguments.
///
/// @tparam Id           std::int32_t or std::int64_t.
/// @param vertices      [E] Edge k is an out-edge of vertices[k],
/// @param neighbors     [E] and leads to neighbors[k].
/// @param weights       [E], or empty.
/// @param num_vertices  In [0, max_num_vertices].
/// @return Nothing if an edge is out of order, an end is not in [0, num_vertices), or a weight is not a finite number
///         >= 0: `build_graph` sorts such edges, or names what is wrong with them. Where edges are in random order this is
///         found out after a few of them.
/// @throws argument_error if lengths differ or num_vertices is out of range; memory_error.
template <class Id>
[[nodiscard]] std::optional<graph> build_if_ordered(std::span<Id const> vertices, std::span<Id const> neighbors,
                                                    std::span<float const> weights, std::int64_t num_vertices,
                                                    cpu_exec const& exec = {});

extern template std::optional<graph> build_if_ordered(std::span<std::int32_t const>, std::span<std::int32_t const>,
                                                      std::span<float const>, std::int64_t, cpu_exec const&);
extern template std::optional<graph> build_if_ordered(std::span<std::int64_t const>, std::span<std::int64_t const>,
                                                      std::span<float const>, std::int64_t, cpu_exec const&);

}  // namespace tendril
