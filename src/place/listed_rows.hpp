// The neighbours of consecutive vertices, one after the other in memory: what is measured and written. CSR has them;
// those of other graphs are made for a few thousand vertices at a time.

#pragma once

#include <cstdint>
#include <span>

#include <tendril/types.hpp>

namespace tendril::place {

/// Trivially copyable; owns nothing.
struct listed_rows {
  vertex_id const* ids = nullptr;
  edge_id const* offsets =
      nullptr;  ///< Into `ids`: those of vertex first_vertex + k from offsets[k] to offsets[k + 1].
  std::int64_t first_vertex = 0;
  edge_id first_edge = 0;  ///< The number of the edge ids[0].
  vertex_id first_id = 0;  ///< As compressed_lists::first_id.

  [[nodiscard]] TENDRIL_HD std::span<vertex_id const> list(std::int64_t v) const
  {
    edge_id const* const at = offsets + (v - first_vertex);
    return {ids + at[0], static_cast<std::size_t>(at[1] - at[0])};
  }
  /// What the near codes of v's list count from.
  [[nodiscard]] TENDRIL_HD vertex_id id(std::int64_t v) const { return first_id + static_cast<vertex_id>(v); }
  /// The number of v's first edge; v may be the vertex behind the last.
  [[nodiscard]] TENDRIL_HD edge_id first_edge_of(std::int64_t v) const
  {
    return first_edge + offsets[v - first_vertex];
  }
};

}  // namespace tendril::place
