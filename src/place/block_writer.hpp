// Writes a block of lists, its entry in the directory and its wide entries. On host and device.

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
TENDRIL_HD list_totals totals_of(block_layout const& layout) { return {layout.bytes(), layout.num_wide(2), 0}; }

/// The arrays of a compressed graph, to be written.
struct list_arrays {
  list_block* blocks = nullptr;
  wide_list* wide = nullptr;
  std::int64_t first_block = 0;  ///< The number of blocks[0].
};

/// Writes the lists of half a block and what its entry and its wide entries say. All members of the team.
/// @param first  The half's first vertex.
/// @param at     What is before: the bytes of the block, the wide entries of the half.
template <class Team, class Sink>
TENDRIL_HD void write_half(Team const& team, Sink const& sink, list_half& entry, wide_list* wide,
                           listed_rows const& rows, measured_half const& half, half_layout const& layout,
                           std::uint32_t capacity, std::int64_t first, list_totals const& at)
{
  if (team.leads()) { entry.head = layout.head(at.bytes, at.wide); }
  for (std::uint32_t i = team.rank(); i < capacity; i += Team::width) {
    entry.shares[i] = layout.share(half, i);
    if (layout.is_wide()) {
      bool const is_there = i < half.size;
      std::uint64_t const place =
          is_there ? list_place::of(at.bytes + layout.start(i), half.lists[i].header, 0, 0).at : 0;
      wide[at.wide + i] = {place, is_there ? half.degrees[i] : 0, 0};
    }
  }
  for (std::uint32_t i = 0; i < half.size; ++i) {
    if (half.degrees[i] == 0) { continue; }
    std::uint64_t start = at.bytes + layout.start(i);
    list_header const header = half.lists[i].header;
    if (layout.has_own_headers()) {
      if (team.leads()) { sink.put(8 * start, header.byte(), 8); }
      ++start;
    }
    write_list(team, sink, start, rows.id(first + i), rows.list(first + i), header);
  }
}

/// Writes the block of which `first` is the first vertex. All members of the team.
/// @param at  What is before the block.
template <class Team, class Sink>
TENDRIL_HD void write_block(Team const& team, Sink const& sink, list_arrays const& to, listed_rows const& rows,
                            measured_block const& block, block_layout const& layout, std::int64_t first,
                            list_totals const& at)
{
  list_block& entry = to.blocks[first / list_block::vertices - to.first_block];
  for (std::uint32_t h = 0; h < 2; ++h) {
    write_half(team, sink, entry.halves[h], to.wide, rows, block.halves[h], layout.half(h), list_block::size_of(h),
               first + h * std::int64_t{list_block::first_half}, {at.bytes, at.wide + layout.num_wide(h), 0});
  }
  if (team.leads()) { entry.set_middle_edge(rows.first_edge_of(first + block.halves[0].size)); }
}

}  // namespace tendril::place
