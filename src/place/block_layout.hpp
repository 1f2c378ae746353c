// The lists of a block, a half after the other: how each is to be written, where they lie from the block's first byte on,
// and what the directory says of them. On host and device.

#pragma once

#include <cstdint>

#include <tendril/list_directory.hpp>

#include "place/list_measure.hpp"
#include "place/listed_rows.hpp"

namespace tendril::place {

/// The lists of half a block. Shapes and choices of empty lists don't count.
struct measured_half {
  static constexpr std::uint32_t most = list_block::first_half;

  std::uint32_t degrees[most];
  list_shape shapes[most];
  list_choice lists[most];
  std::uint32_t size;  ///< Vertices: fewer at the end of the graph.

  [[nodiscard]] TENDRIL_HD bool has_edges(std::uint32_t i) const { return i < size && degrees[i] > 0; }
};

/// What all lists of half a block cost with one header, which stands in the directory: reading takes a load less.
class header_contest {
 public:
  /// A fixed width and runs at the width of the widest list, near and far, and Elias-Fano, runs with it, and gaps with the
  /// header of any list.
  static constexpr std::uint32_t num_candidates = 4 + 3 * measured_half::most;
  static constexpr std::uint64_t no_cost = std::uint64_t{1} << 56U;

  TENDRIL_HD header_contest(measured_half const& half, graph_form form) : half_(half), form_(form) {}

  /// Half a block without edges has a header of no meaning.
  [[nodiscard]] TENDRIL_HD list_header candidate(std::uint32_t k) const
  {
    constexpr list_code widest[] = {list_code::fixed_far, list_code::fixed_near, list_code::runs_far,
                                    list_code::runs_near};
    constexpr list_code any[] = {list_code::elias_fano, list_code::runs_elias_fano, list_code::vbyte};
    if (k >= 4) { return half_.shapes[(k - 4) % measured_half::most].header(any[(k - 4) / measured_half::most]); }
    list_header out = header_of(widest[k], 1);
    for (std::uint32_t i = 0; i < half_.size; ++i) {
      if (half_.degrees[i] == 0) { continue; }
      list_header const own = half_.shapes[i].header(widest[k]);
      if (own.width() > out.width()) { out = own; }
    }
    return out;
  }

  /// What all lists cost with candidate k; no_cost where one of them, or the form, can't have it.
  [[nodiscard]] TENDRIL_HD std::uint64_t cost(std::uint32_t k) const
  {
    if (k >= 4 && !half_.has_edges((k - 4) % measured_half::most)) { return no_cost; }
    list_header const header = candidate(k);
    if (!allows(form_, static_cast<list_code>(header.code()))) { return no_cost; }
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < half_.size; ++i) {
      if (half_.degrees[i] == 0) { continue; }
      auto const list = half_.shapes[i].with(header);
      if (!list) { return no_cost; }
      sum += cost_of(*list);
    }
    return sum;
  }

 private:
  measured_half const& half_;
  graph_form form_;
};

/// Chooses a header for all lists of half a block, or one for each, whichever takes less; in the form `packed` always one
/// for all. All members of the team.
template <class Team>
TENDRIL_HD void choose_headers(Team const& team, graph_form form, measured_half& half)
{
  std::uint64_t own = 0;
  for (std::uint32_t i = team.rank(); i < half.size; i += Team::width) {
    if (half.degrees[i] == 0) { continue; }
    half.lists[i] = choose(form, half.shapes[i]);
    own += cost_of(half.lists[i]) + cost_of({list_header(0), 8, false});
  }
  header_contest const contest(half, form);
  constexpr unsigned index_bits = 6;
  static_assert(header_contest::num_candidates <= 1U << index_bits);
  auto best = static_cast<std::int64_t>(header_contest::no_cost << index_bits);
  for (std::uint32_t k = team.rank(); k < header_contest::num_candidates; k += Team::width) {
    best = smaller(best, static_cast<std::int64_t>(contest.cost(k) << index_bits | k));
  }
  best = team.min(best);
  std::uint64_t const together = static_cast<std::uint64_t>(best) >> index_bits;
  if (together > team.sum(own) && form != graph_form::packed) { return; }
  list_header const header = contest.candidate(static_cast<std::uint32_t>(best) & ((1U << index_bits) - 1U));
  for (std::uint32_t i = team.rank(); i < half.size; i += Team::width) {
    if (half.degrees[i] > 0) { half.lists[i] = *half.shapes[i].with(header); }
  }
}

/// Measures the lists of half a block that begins with vertex `first`. `out` is one object of the team, which every member
/// may read afterwards.
template <class Team>
TENDRIL_HD void measure_half(Team const& team, listed_rows const& rows, graph_form form, std::int64_t first,
                             std::uint32_t size, measured_half& out)
{
  if (team.leads()) { out.size = size; }
  for (std::uint32_t i = team.rank(); i < size; i += Team::width) {
    out.degrees[i] = static_cast<std::uint32_t>(rows.list(first + i).size());
    out.lists[i] = {};
  }
  team.wait();
  for (std::uint32_t i = 0; i < size; ++i) {
    if (out.degrees[i] == 0) { continue; }
    list_shape const shape = shape_of(team, form, rows.id(first + i), rows.list(first + i));
    if (team.leads()) { out.shapes[i] = shape; }
  }
  team.wait();
  choose_headers(team, form, out);
  team.wait();
}

/// Both halves.
struct measured_block {
  measured_half halves[2];
};

/// The same of the block that begins with vertex `first`.
template <class Team>
TENDRIL_HD void measure_block(Team const& team, listed_rows const& rows, graph_form form, std::int64_t num_vertices,
                              std::int64_t first, measured_block& out)
{
  for (std::uint32_t h = 0; h < 2; ++h) {
    std::int64_t const begin = first + h * std::int64_t{list_block::first_half};
    std::int64_t const left = larger<std::int64_t>(num_vertices - begin, 0);
    auto const size = static_cast<std::uint32_t>(smaller<std::int64_t>(left, list_block::size_of(h)));
    measure_half(team, rows, form, begin, size, out.halves[h]);
  }
}

/// The lists of half a block, before they have a place in the graph: offsets count from the block's first byte. One thread.
class half_layout {
 public:
  half_layout() = default;
  /// @param begin  The byte behind the half before.
  TENDRIL_HD half_layout(measured_half const& half, std::uint64_t begin) : begin_(begin)
  {
    std::uint32_t largest = 0;
    for (std::uint32_t i = 0; i < half.size; ++i) { largest = larger(largest, half.degrees[i]); }
    degree_bits_ = bit_width(largest);
    find_shared(half);
    for (std::uint32_t const step : {0U, half_head::coarse_step}) {
      if (degree_bits_ > 31) { break; }
      step_ = step;
      place(half);
      std::uint64_t const last = half.size == 0 ? 0 : starts_[half.size - 1] - begin_;
      if (last >> step_ >> (32U - degree_bits_) == 0) { return; }
    }
    kind_ = block_kind::wide;
    step_ = degree_bits_ = 0;
    place(half);
  }

  [[nodiscard]] TENDRIL_HD bool is_wide() const { return kind_ == block_kind::wide; }
  [[nodiscard]] TENDRIL_HD bool has_own_headers() const { return kind_ == block_kind::own; }
  [[nodiscard]] TENDRIL_HD std::uint64_t start(std::uint32_t i) const { return starts_[i]; }
  /// The byte behind the last list.
  [[nodiscard]] TENDRIL_HD std::uint64_t end() const { return end_; }

  /// @param at          The block's first byte.
  /// @param first_wide  The half's first wide entry, if it is wide.
  [[nodiscard]] TENDRIL_HD half_head head(std::uint64_t at, std::int64_t first_wide) const
  {
    return half_head::of(kind_, is_wide() ? static_cast<std::uint64_t>(first_wide) : at + begin_,
                         kind_ == block_kind::shared ? shared_ : list_header(0), degree_bits_, step_);
  }
  /// The share of list i.
  [[nodiscard]] TENDRIL_HD std::uint32_t share(measured_half const& half, std::uint32_t i) const
  {
    if (i >= half.size || is_wide()) { return 0; }
    return static_cast<std::uint32_t>((starts_[i] - begin_) >> step_ << degree_bits_ | half.degrees[i]);
  }

 private:
  /// All lists have one header: then no list begins with it.
  TENDRIL_HD void find_shared(measured_half const& half)
  {
    bool found = false;
    for (std::uint32_t i = 0; i < half.size; ++i) {
      if (half.degrees[i] == 0) { continue; }
      if (found && !(shared_ == half.lists[i].header)) { return; }
      shared_ = half.lists[i].header;
      found = true;
    }
    kind_ = block_kind::shared;
  }

  TENDRIL_HD void place(measured_half const& half)
  {
    end_ = begin_;
    std::uint64_t const unit = std::uint64_t{1} << step_;
    for (std::uint32_t i = 0; i < half.size; ++i) {
      starts_[i] = begin_ + ((end_ - begin_ + unit - 1) & ~(unit - 1));
      if (half.degrees[i] > 0) { end_ = half.lists[i].end(starts_[i], kind_ == block_kind::own); }
    }
  }

  std::uint64_t starts_[measured_half::most] = {};
  std::uint64_t begin_ = 0, end_ = 0;
  block_kind kind_ = block_kind::own;
  list_header shared_;  ///< Of a half of that kind.
  std::uint32_t degree_bits_ = 0, step_ = 0;
};

/// Both halves, one behind the other. One thread.
class block_layout {
 public:
  block_layout() = default;
  explicit TENDRIL_HD block_layout(measured_block const& block)
      : halves_{half_layout(block.halves[0], 0), half_layout(block.halves[1], halves_[0].end())}
  {
  }

  [[nodiscard]] TENDRIL_HD half_layout const& half(std::uint32_t h) const { return halves_[h]; }
  /// Whole words.
  [[nodiscard]] TENDRIL_HD std::uint64_t bytes() const { return 4 * list_codes::word_from(halves_[1].end()); }
  /// The wide entries of the halves before half `h`, 0 to 2.
  [[nodiscard]] TENDRIL_HD std::int64_t num_wide(std::uint32_t h) const
  {
    std::int64_t sum = 0;
    for (std::uint32_t k = 0; k < h; ++k) { sum += halves_[k].is_wide() ? list_block::size_of(k) : 0; }
    return sum;
  }

 private:
  half_layout halves_[2];
};

}  // namespace tendril::place
