// Hops of all neighbours in trees of ranks that each have a part of a graph on a GPU: counts, where children go, and where slots are
// in trees that differ in size. Functions enqueue work; pointers are device memory.

#pragma once

#include <cstdint>

#include <tendril/exec.hpp>
#include <tendril/graph_view.hpp>

#include "gpu/trees/khop.hpp"

namespace tendril::gpu {

/// counts[i] = the number of neighbours of slots[i].row.
void count_children(graph_view const& part, asked_slot const* slots, std::int64_t size, std::int64_t* counts,
                    cuda_stream stream);

/// Turns counts [size] into where the children of each begin, [size + 1], in place.
void make_begins(std::int64_t* counts, std::int64_t size, gpu_exec const& exec);

/// Where each root's children begin, begins [num_roots + 1]. @param offsets  [parents.size + 1] Of a hop of all neighbours.
void find_root_begins(hop_slots const& parents, std::int64_t const* offsets, std::int64_t* begins, cuda_stream stream);

/// Where slots of a hop are, places [size]. @param hop  With unit_begin.
void find_places(asked_slot const* slots, std::int64_t size, hop_slots const& hop, tree_place* places,
                 cuda_stream stream);

/// Some slots, and their children, which are numbered in the order of the slots.
struct slot_children {
  asked_slot const* slots;  ///< [size]
  std::int64_t size;
  std::int64_t const* begins;  ///< [size + 1]
  std::int64_t first, end;     ///< begins[0], begins[size]
};

/// Where children are written: to the places that the hop's offsets give their slots; without offsets in the order of their numbers.
struct children_places {
  vertex_id* vertices;
  edge_id* edges;               ///< Or null.
  std::int64_t const* offsets;  ///< By the number of the slot; or null.
};

/// Writes all neighbours of rows of a part. @param first_edge  Number of the part's first edge in the whole graph.
void take_from_part(slot_children const& children, graph_view const& part, edge_id first_edge,
                    children_places const& to, gpu_exec const& exec);

/// Writes children that another rank has made. @param vertices, edges  From number children.first on; edges with to.edges.
void take_from_ranks(slot_children const& children, vertex_id const* vertices, edge_id const* edges,
                     children_places const& to, gpu_exec const& exec);

}  // namespace tendril::gpu
