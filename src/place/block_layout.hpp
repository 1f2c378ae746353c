// The 12 lists of a block: how each is to be written, where they lie from the block's first byte on, and what the
// directory says of them. On host and device.

#pragma once

#include <cstdint>

#include <tendril/list_directory.hpp>

#include "place/list_measure.hpp"
#include "place/listed_rows.hpp"

namespace tendril::place {

/// A block's lists. Choices of empty lists don't count.
struct measured_block {
  std::uint32_t degrees[list_block::vertices];
  vertex_id least[list_block::vertices], largest[list_block::vertices];  ///< The ends of lists that aren't empty.
  list_choice lists[list_block::vertices];
  std::uint32_t size;  ///< Vertices: less than 12 at the end of the graph.

  /// All lists at one width, so that they share a header: reading one takes a load less.
  TENDRIL_HD void share_width(std::int64_t first)
  {
    std::uint32_t near = 1, far = 1;
    for (std::uint32_t i = 0; i < size; ++i) {
      if (degrees[i] == 0) { continue; }
      std::int64_t const v = first + i;
      near = larger(near, near_width(least[i] - v, largest[i] - v));
      far = larger(far, width_of(largest[i]));
    }
    list_header const header =
        near < far ? header_of(list_code::fixed_near, near) : header_of(list_code::fixed_far, far);
    for (std::uint32_t i = 0; i < size; ++i) { lists[i] = {header, std::uint64_t{degrees[i]} * header.width(), false}; }
  }
};

/// Measures the lists of the block that begins with vertex `first`. `out` is one object of the team, which every member
/// may read afterwards.
template <class Team>
TENDRIL_HD void measure_block(Team const& team, listed_rows const& rows, graph_form form, std::int64_t num_vertices,
                              std::int64_t first, measured_block& out)
{
  auto const size = static_cast<std::uint32_t>(smaller<std::int64_t>(num_vertices - first, list_block::vertices));
  if (team.leads()) { out.size = size; }
  for (std::uint32_t i = team.rank(); i < size; i += Team::width) {
    id_list const list = rows.list(first + i);
    out.degrees[i] = static_cast<std::uint32_t>(list.size());
    out.least[i] = list.empty() ? 0 : list.front();
    out.largest[i] = list.empty() ? 0 : list.back();
    out.lists[i] = {};
  }
  team.wait();
  if (form == graph_form::packed) {
    if (team.leads()) { out.share_width(first); }
  } else {
    for (std::uint32_t i = 0; i < size; ++i) {
      if (out.degrees[i] == 0) { continue; }
      list_choice const choice = choose(team, form, static_cast<vertex_id>(first + i), rows.list(first + i));
      if (team.leads()) { out.lists[i] = choice; }
    }
  }
  team.wait();
}

/// The lists of a block, before they have a place in the graph: offsets count from the block's first byte. One thread.
class block_layout {
 public:
  block_layout() = default;
  explicit TENDRIL_HD block_layout(measured_block const& block)
  {
    std::uint32_t largest = 0;
    for (std::uint32_t i = 0; i < block.size; ++i) { largest = larger(largest, block.degrees[i]); }
    degree_bits_ = bit_width(largest);
    find_shared(block);
    constexpr std::uint32_t most_steps = 6;
    for (; degree_bits_ <= 31 && step_ < most_steps; ++step_) {
      place(block);
      std::uint64_t const last = block.size == 0 ? 0 : starts_[block.size - 1];
      if (last >> step_ >> (32U - degree_bits_) == 0) { return; }
    }
    kind_ = block_kind::wide;
    step_ = degree_bits_ = 0;
    place(block);
  }

  [[nodiscard]] TENDRIL_HD bool is_wide() const { return kind_ == block_kind::wide; }
  [[nodiscard]] TENDRIL_HD bool has_own_headers() const { return kind_ == block_kind::own; }
  [[nodiscard]] TENDRIL_HD std::uint64_t start(std::uint32_t i) const { return starts_[i]; }
  /// Whole words.
  [[nodiscard]] TENDRIL_HD std::uint64_t bytes() const { return bytes_; }
  /// The entries of a wide block.
  [[nodiscard]] TENDRIL_HD std::int64_t num_wide() const { return is_wide() ? list_block::vertices : 0; }

  /// The block's head. @param base  The block's first byte; of a wide block its first wide entry.
  [[nodiscard]] TENDRIL_HD block_head head(std::uint64_t base, edge_id first_edge) const
  {
    return block_head::of(kind_, base, kind_ == block_kind::shared ? shared_ : list_header(0), degree_bits_, step_,
                          first_edge);
  }
  /// The share of list i.
  [[nodiscard]] TENDRIL_HD std::uint32_t share(measured_block const& block, std::uint32_t i) const
  {
    if (i >= block.size || is_wide()) { return 0; }
    return static_cast<std::uint32_t>(starts_[i] >> step_ << degree_bits_ | block.degrees[i]);
  }

 private:
  /// All lists have one header: then no list begins with it.
  TENDRIL_HD void find_shared(measured_block const& block)
  {
    bool found = false;
    for (std::uint32_t i = 0; i < block.size; ++i) {
      if (block.degrees[i] == 0) { continue; }
      if (found && !(shared_ == block.lists[i].header)) { return; }
      shared_ = block.lists[i].header;
      found = true;
    }
    kind_ = block_kind::shared;
  }

  TENDRIL_HD void place(measured_block const& block)
  {
    std::uint64_t end = 0;
    std::uint64_t const unit = std::uint64_t{1} << step_;
    for (std::uint32_t i = 0; i < block.size; ++i) {
      starts_[i] = (end + unit - 1) & ~(unit - 1);
      if (block.degrees[i] > 0) { end = block.lists[i].end(starts_[i], kind_ == block_kind::own); }
    }
    bytes_ = 4 * list_codes::word_from(end);
  }

  std::uint64_t starts_[list_block::vertices] = {};
  std::uint64_t bytes_ = 0;
  block_kind kind_ = block_kind::own;
  list_header shared_;  ///< Of a block of that kind.
  std::uint32_t degree_bits_ = 0, step_ = 0;
};

}  // namespace tendril::place
