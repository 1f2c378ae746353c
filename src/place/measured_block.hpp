// The lists of the vertices that share a block of the directory, and how each is to be written.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "place/block_layout.hpp"
#include "place/list_measure.hpp"

namespace tendril::place {

/// A block's lists, and how they are to be written.
struct measured_block {
  std::array<std::uint32_t, list_block::vertices> degrees;
  std::array<list_choice, list_block::vertices> lists;
  std::size_t size;  ///< Vertices.

  [[nodiscard]] std::span<std::uint32_t const> degree_span() const { return {degrees.data(), size}; }
  [[nodiscard]] block_layout layout() const { return block_layout::of(degree_span(), {lists.data(), size}); }

  /// All lists at one width, so that they share a header: reading one takes a load less.
  /// @param ends  The first and the last neighbour of each vertex.
  void share_width(vertex_id first, std::span<std::pair<vertex_id, vertex_id> const> ends)
  {
    std::uint32_t near = 1, far = 1;
    for (std::size_t i = 0; i < size; ++i) {
      if (degrees[i] == 0) { continue; }
      std::int64_t const v = first + static_cast<std::int64_t>(i);
      near = std::max(near, near_width(ends[i].first - v, ends[i].second - v));
      far = std::max(far, width_of(ends[i].second));
    }
    list_header const header =
        near < far ? header_of(list_code::fixed_near, near) : header_of(list_code::fixed_far, far);
    for (std::size_t i = 0; i < size; ++i) { lists[i] = {header, std::uint64_t{degrees[i]} * header.width(), false}; }
  }
};

}  // namespace tendril::place
