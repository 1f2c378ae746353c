#pragma once

#include <cstdint>

#include <tendril/list_directory.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::place {

/// What the directory can say of places and edges.
/// @throws argument_error for lists of more bytes, or more edges.
inline void expect_room_in_directory(std::uint64_t bytes, edge_id edges)
{
  TENDRIL_EXPECTS(edges <= list_block::most_edges,
                  "compress: {} edges, expected at most 2^40 - 1 in a compressed graph", edges);
  TENDRIL_EXPECTS(bytes <= half_head::base_mask,
                  "compress: the lists take {} bytes, expected at most 2^40 - 1 in a compressed graph", bytes);
}

}  // namespace tendril::place
