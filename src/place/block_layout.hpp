// Where the 12 lists of a block lie, from its first byte on, and what the directory says of them.

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include <tendril/list_directory.hpp>

#include "place/list_measure.hpp"

namespace tendril::place {

/// The lists of a block, before they have a place in the graph: offsets count from the block's first byte.
struct block_layout {
  block_kind kind = block_kind::own;
  list_header shared;  ///< Of a block of that kind.
  std::uint32_t degree_bits = 0, step = 0;
  std::array<std::uint64_t, list_block::vertices> starts{};
  std::uint64_t bytes = 0;  ///< Whole words.

  /// @param degrees, lists  Of the block's vertices, less than 12 at the end of the graph; choices of empty lists don't
  ///                        count.
  [[nodiscard]] static block_layout of(std::span<std::uint32_t const> degrees, std::span<list_choice const> lists)
  {
    block_layout out;
    std::uint32_t const largest = degrees.empty() ? 0 : *std::max_element(degrees.begin(), degrees.end());
    out.degree_bits = static_cast<std::uint32_t>(std::bit_width(largest));
    out.find_shared(degrees, lists);
    constexpr std::uint32_t most_steps = 6;
    while (out.degree_bits <= 31 && out.step < most_steps) {
      out.place(degrees, lists);
      if (out.last_start_ >> out.step >> (32U - out.degree_bits) == 0) { return out; }
      ++out.step;
    }
    out.kind = block_kind::wide;
    out.step = 0;
    out.place(degrees, lists);
    return out;
  }

  /// The block's entry. @param base  The block's first byte; of a wide block its first wide entry.
  [[nodiscard]] list_block entry(std::span<std::uint32_t const> degrees, std::uint64_t base, edge_id first_edge) const
  {
    list_block out;
    bool const wide = kind == block_kind::wide;
    out.head = block_head::of(kind, base, kind == block_kind::shared ? shared : list_header(0), wide ? 0 : degree_bits,
                              wide ? 0 : step, first_edge);
    for (std::size_t i = 0; i < degrees.size() && !wide; ++i) {
      out.shares[i] = static_cast<std::uint32_t>(std::uint64_t{starts[i] >> step} << degree_bits | degrees[i]);
    }
    return out;
  }

 private:
  /// All lists have one header: then no list begins with it.
  void find_shared(std::span<std::uint32_t const> degrees, std::span<list_choice const> lists)
  {
    bool found = false;
    for (std::size_t i = 0; i < degrees.size(); ++i) {
      if (degrees[i] == 0) { continue; }
      if (found && !(shared == lists[i].header)) { return; }
      shared = lists[i].header;
      found = true;
    }
    kind = block_kind::shared;
  }

  void place(std::span<std::uint32_t const> degrees, std::span<list_choice const> lists)
  {
    std::uint64_t end = 0;
    std::uint64_t const unit = std::uint64_t{1} << step;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      starts[i] = i < degrees.size() ? (end + unit - 1) & ~(unit - 1) : 0;
      if (i >= degrees.size()) { continue; }
      if (degrees[i] > 0) { end = lists[i].end(starts[i], kind == block_kind::own); }
    }
    last_start_ = degrees.empty() ? 0 : starts[degrees.size() - 1];
    bytes = 4 * list_codes::word_from(end);
  }
  std::uint64_t last_start_ = 0;
};

}  // namespace tendril::place
