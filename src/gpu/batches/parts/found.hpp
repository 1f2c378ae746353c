// Vertices of induced mini-batches, numbered for a search, and edges that other ranks have found between them. Each function enqueues
// one launch; pointers are device memory.

#pragma once

#include <cstdint>

#include <tendril/exec.hpp>

#include "gpu/batches/numbering.hpp"
#include "gpu/batches/table.hpp"
#include "gpu/ranks/slots.hpp"

namespace tendril::gpu {

/// Numbers the vertices of a list: the number of a vertex is its place.
/// @param first_group  Of the list's groups, among those of all ranks. @param first_stamp  Of group 0.
void number_list(vertex_id const* vertices, std::uint32_t const* group_of, std::int64_t size, std::uint32_t first_group,
                 number_table const& table, std::uint32_t first_stamp, gpu_exec const& exec);

/// Edges that a rank has found for some slots, in the order of `slots`.
struct found_edges {
  asked_slot const* slots = nullptr;      ///< [size]
  std::int64_t const* offsets = nullptr;  ///< [size + 1] where the edges of each begin.
  std::int64_t size = 0;
  std::int64_t first = 0, end = 0;     ///< offsets[0], offsets[size]
  edge_id const* edges = nullptr;      ///< [end - first] of the rank's part.
  vertex_id const* numbers = nullptr;  ///< [end - first] places in the list.
  edge_id first_edge = 0;              ///< Number of the part's first edge in the whole graph.
};

/// Writes edges to their batches. @param places  [list + 1] where the edges of each vertex belong.
/// @param begin  [batches + 1] where the vertices of each batch begin.
void put_found(found_edges const& found, std::int64_t const* places, std::int64_t const* begin,
               std::int64_t num_batches, edge_call const& out, gpu_exec const& exec);

}  // namespace tendril::gpu
