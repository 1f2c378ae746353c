#pragma once

#include <cstdint>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>  // coo_view, build_options

namespace tendril {

/// Owns edges in any order. All arrays have the same length; weights and labels may be empty.
struct edge_list {
  buffer<vertex_id> sources = {}, targets = {};
  buffer<float> weights = {};
  buffer<std::uint8_t> narrow_labels = {};  ///< Labels, if all are below 256,
  buffer<std::uint16_t> wide_labels = {};   ///< or if they are not.

  [[nodiscard]] coo_view view() const;
};

/// Builds the same graph as from `edges.view()`, bit for bit, and takes the edges apart as it goes: peak memory, the edges
/// included, is about 2.3 times the arrays of a graph that keeps all edges. With `keep_edge_ids` the edges stay to the end.
/// @param edges  In memory of `exec.memory`.
/// @throws as build_graph of a view. The edges are gone in any case.
[[nodiscard]] graph build_graph(edge_list&& edges, build_options const& options, cpu_exec const& exec = {});

}  // namespace tendril
