#include "place/list_range.hpp"

#include <algorithm>

#include "place/block_writer.hpp"
#include "place/list_limits.hpp"
#include "place/team.hpp"

namespace tendril::place {

list_range write_range(graph_form form, vertex_id first, std::span<edge_id const> offsets,
                       std::span<vertex_id const> targets, bool is_last)
{
  listed_rows const rows{targets.data(), offsets.data(), first, 0};
  auto const size = std::ssize(offsets) - 1;
  std::int64_t const end = first + size;
  std::int64_t const num_blocks = size / list_block::vertices + (is_last ? 1 : 0);
  measured_block block;
  auto const for_each_block = [&](auto&& f) {
    for (std::int64_t b = 0; b < num_blocks; ++b) {
      std::int64_t const v = first + b * list_block::vertices;
      measure_block(serial_team(), rows, form, end, v, block);
      f(v, block_layout(block));
    }
  };
  list_range out;
  list_totals all;
  for_each_block([&](std::int64_t, block_layout const& layout) {
    all = all + totals_of(layout);
    for (std::uint32_t h = 0; h < 2; ++h) {
      if (layout.half(h).is_wide()) { out.num_missing = list_block::size_of(h) - block.halves[h].size; }
    }
  });
  out.num_edges = offsets.back();
  out.blocks.resize(static_cast<std::size_t>(num_blocks));
  out.wide.resize(static_cast<std::size_t>(all.wide));
  out.words.resize(all.bytes / 4);
  list_arrays const to{out.blocks.data(), out.wide.data(), first / list_block::vertices};
  list_totals at;
  for_each_block([&](std::int64_t v, block_layout const& layout) {
    write_block(serial_team(), plain_words(out.words.data()), to, rows, block, layout, v, at);
    at = at + totals_of(layout);
  });
  return out;
}

void list_range::move_behind(std::uint64_t bytes, std::uint64_t num_wide, edge_id num_edges_before)
{
  expect_room_in_directory(bytes + 4 * words.size(), num_edges_before + num_edges);
  for (list_block& block : blocks) {
    for (list_half& half : block.halves) { half.head.bits += half.head.is(block_kind::wide) ? num_wide : bytes; }
    block.set_middle_edge(block.middle_edge() + num_edges_before);
  }
  for (std::size_t i = 0; i < wide.size() - num_missing; ++i) { wide[i].at += bytes; }
}

}  // namespace tendril::place
