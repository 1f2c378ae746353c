#include "place/list_range.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "place/block_layout.hpp"
#include "place/list_writer.hpp"
#include "place/measured_block.hpp"

namespace tendril::place {
namespace {

/// Up to 12 vertices that follow each other in a range.
struct block_rows {
  vertex_id first;
  std::span<edge_id const> offsets;
  std::span<vertex_id const> targets;

  [[nodiscard]] std::size_t size() const { return offsets.size() - 1; }
  [[nodiscard]] std::span<vertex_id const> list(std::size_t i) const
  {
    return targets.subspan(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
  }

  [[nodiscard]] measured_block measure(graph_form form) const
  {
    measured_block out{};
    out.size = size();
    std::array<std::pair<vertex_id, vertex_id>, list_block::vertices> ends{};
    for (std::size_t i = 0; i < size(); ++i) {
      auto const neighbors = list(i);
      out.degrees[i] = static_cast<std::uint32_t>(neighbors.size());
      if (neighbors.empty()) { continue; }
      ends[i] = {neighbors.front(), neighbors.back()};
      if (form != graph_form::packed) { out.lists[i] = choose(form, static_cast<vertex_id>(first + i), neighbors); }
    }
    if (form == graph_form::packed) { out.share_width(first, ends); }
    return out;
  }
};

void append_block(graph_form form, block_rows const& rows, list_range& out)
{
  measured_block const block = rows.measure(form);
  block_layout const layout = block.layout();
  bool const is_wide = layout.kind == block_kind::wide;
  std::uint64_t const base = 4 * out.words.size();
  out.blocks.push_back(layout.entry(block.degree_span(), is_wide ? out.wide.size() : base, out.num_edges));
  out.words.resize(out.words.size() + layout.bytes / 4, 0U);
  for (std::size_t i = 0; i < block.size; ++i) {
    std::uint64_t start = base + layout.starts[i];
    list_header const header = block.lists[i].header;
    if (is_wide) { out.wide.push_back({list_place::of(start, header, 0, 0).at, block.degrees[i], 0}); }
    out.num_edges += block.degrees[i];
    if (block.degrees[i] == 0) { continue; }
    if (layout.kind == block_kind::own) {
      out.words[start / 4] |= header.byte() << (8 * (start % 4));
      ++start;
    }
    write_list(out.words.data(), start, static_cast<vertex_id>(rows.first + i), rows.list(i), header);
  }
  if (is_wide) {
    out.num_missing = list_block::vertices - block.size;
    out.wide.resize(out.wide.size() + out.num_missing);
  }
}

}  // namespace

list_range write_range(graph_form form, vertex_id first, std::span<edge_id const> offsets,
                       std::span<vertex_id const> targets, bool is_last)
{
  list_range out;
  std::size_t const size = offsets.size() - 1;
  std::size_t const num_blocks = size / list_block::vertices + (is_last ? 1 : 0);
  out.blocks.reserve(num_blocks);
  for (std::size_t b = 0; b < num_blocks; ++b) {
    std::size_t const begin = b * list_block::vertices;
    std::size_t const count = std::min<std::size_t>(list_block::vertices, size - begin);
    append_block(form, {static_cast<vertex_id>(first + begin), offsets.subspan(begin, count + 1), targets}, out);
  }
  return out;
}

void list_range::move_behind(std::uint64_t bytes, std::uint64_t num_wide, edge_id num_edges_before)
{
  for (list_block& block : blocks) {
    block.head.place += block.head.is(block_kind::wide) ? num_wide : bytes;
    block.head.first_edge += num_edges_before;
  }
  for (std::size_t i = 0; i < wide.size() - num_missing; ++i) { wide[i].at += bytes; }
}

}  // namespace tendril::place
