// Children on their way back to the slots that asked for them.

#pragma once

#include <cstdint>

#include "gpu/ranks/slots.hpp"

namespace tendril::gpu {

/// Enqueues the way of children into the rows of their slots: child j of slot i goes to place `slots[i].slot * fanout + j`.
/// @param edges  With its destination; or both null.
void place_children(asked_slot const* slots, std::int64_t size, std::uint32_t fanout, vertex_id const* vertices,
                    edge_id const* edges, vertex_id* to_vertices, edge_id* to_edges, cuda_stream stream);

}  // namespace tendril::gpu
