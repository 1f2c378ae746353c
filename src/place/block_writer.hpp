// Writes a block of 12 lists, its entry in the directory and its wide entries. On host and device.

#pragma once

#include <cstdint>

#include "place/block_layout.hpp"
#include "place/list_writer.hpp"

namespace tendril::place {

/// What lists take, or what those before take: bytes, wide entries, edges.
struct list_totals {
  std::uint64_t bytes = 0;
  std::int64_t wide = 0;
  edge_id edges = 0;

  friend TENDRIL_HD list_totals operator+(list_totals const& a, list_totals const& b)
  {
    return {a.bytes + b.bytes, a.wide + b.wide, a.edges + b.edges};
  }
};

/// What a block takes, without its edges.
TENDRIL_HD list_totals totals_of(block_layout const& layout) { return {layout.bytes(), layout.num_wide(), 0}; }

/// The arrays of a compressed graph, to be written.
struct list_arrays {
  list_block* blocks = nullptr;
  wide_list* wide = nullptr;
  std::int64_t first_block = 0;  ///< The number of blocks[0].
};

/// Writes the block of which `first` is the first vertex. All members of the team.
/// @param at  What is before the block.
template <class Team, class Sink>
TENDRIL_HD void write_block(Team const& team, Sink const& sink, list_arrays const& to, listed_rows const& rows,
                            measured_block const& block, block_layout const& layout, std::int64_t first,
                            list_totals const& at)
{
  list_block& entry = to.blocks[first / list_block::vertices - to.first_block];
  if (team.leads()) {
    entry.head =
        layout.head(layout.is_wide() ? static_cast<std::uint64_t>(at.wide) : at.bytes, rows.first_edge_of(first));
  }
  for (std::uint32_t i = team.rank(); i < list_block::vertices; i += Team::width) {
    entry.shares[i] = layout.share(block, i);
    if (layout.is_wide()) {
      bool const is_there = i < block.size;
      std::uint64_t const place =
          is_there ? list_place::of(at.bytes + layout.start(i), block.lists[i].header, 0, 0).at : 0;
      to.wide[at.wide + i] = {place, is_there ? block.degrees[i] : 0, 0};
    }
  }
  for (std::uint32_t i = 0; i < block.size; ++i) {
    if (block.degrees[i] == 0) { continue; }
    std::uint64_t start = at.bytes + layout.start(i);
    list_header const header = block.lists[i].header;
    if (layout.has_own_headers()) {
      if (team.leads()) { sink.put(8 * start, header.byte(), 8); }
      ++start;
    }
    write_list(team, sink, start, static_cast<vertex_id>(first + i), rows.list(first + i), header);
  }
}

}  // namespace tendril::place
