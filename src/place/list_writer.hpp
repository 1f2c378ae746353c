// Writes lists as <tendril/list_code.hpp> describes them, on host and device, by a team (team.hpp), all of whose members
// call with the same arguments. Bits go to a sink, put(bit, value, width), in any order: words that are 0 so far, of
// which plain_words is for one thread.

#pragma once

#include <cstdint>

#include <tendril/list_code.hpp>

#include "place/list_measure.hpp"
#include "place/team.hpp"

namespace tendril::place {

/// Words to which one thread writes.
class plain_words {
 public:
  /// @param words  All of the graph; those that are written to are the caller's own, and 0.
  explicit TENDRIL_HD plain_words(std::uint32_t* words) : words_(words) {}

  /// Puts a number of `width` bits, 0 to 32, at `bit`.
  TENDRIL_HD void put(std::uint64_t bit, std::uint32_t value, std::uint32_t) const
  {
    std::uint64_t const both = std::uint64_t{value} << (bit & 31U);
    std::uint64_t const word = bit >> 5U;
    words_[word] |= static_cast<std::uint32_t>(both);
    if (auto const rest = static_cast<std::uint32_t>(both >> 32U); rest != 0) { words_[word + 1] |= rest; }
  }

 private:
  std::uint32_t* words_;
};

TENDRIL_HD std::uint32_t low_bits(std::uint32_t value, std::uint32_t width)
{
  return value & static_cast<std::uint32_t>((std::uint64_t{1} << width) - 1);
}

template <class Team, class Sink>
TENDRIL_HD void write_fixed(Team const& team, Sink const& to, std::uint64_t bit, vertex_id v, id_list list,
                            list_header header)
{
  bool const near = header.code() == static_cast<std::uint32_t>(list_code::fixed_near);
  std::uint32_t const width = header.width();
  std::uint32_t const bias = list_codes::bias_of(near, v, width);
  for (std::uint64_t i = team.rank(); i < list.size(); i += Team::width) {
    to.put(bit + i * width, low_bits(list[i] - bias, width), width);
  }
}

/// Where the marks of a list begin that lies from `bit` on: a word, if they stand in sectors.
TENDRIL_HD std::uint64_t marks_from(std::uint64_t bit, std::uint64_t degree)
{
  return degree > list_codes::sector_edges ? 32 * words_for(bit) : bit;
}

/// Writes the marks of a list from `marks` on, and calls f(run, y) for each run, by one member each.
template <class Team, class Sink, class F>
TENDRIL_HD void write_marks(Team const& team, Sink const& to, std::uint64_t marks, id_list list, F f)
{
  using list_codes::sector_edges;
  constexpr std::uint64_t sector_bits = 32 * list_codes::sector_words;
  bool const in_sectors = list.size() > sector_edges;
  vertex_id const* const ids = list.data();
  std::uint64_t rank = 0;
  for (std::uint64_t begin = 0; begin < list.size(); begin += 32) {
    auto const size = static_cast<std::uint32_t>(smaller<std::uint64_t>(32, list.size() - begin));
    std::uint32_t const changes = team.mask(size, [&](std::uint32_t k) {
      std::uint64_t const i = begin + k;
      return i == 0 || ids[i] != ids[i - 1] + 1U;
    });
    if (team.leads()) {
      std::uint64_t const sector = marks + begin / sector_edges * sector_bits;
      bool const begins_sector = in_sectors && begin % sector_edges == 0;
      if (begins_sector) { to.put(sector, static_cast<std::uint32_t>(rank), 32); }
      to.put(in_sectors ? sector + 32 + begin % sector_edges : marks + begin, changes, 32);
    }
    team.for_each_one(changes, [&](std::uint32_t k, std::uint32_t before) {
      std::uint64_t const i = begin + k;
      f(rank + before, ids[i] - static_cast<std::uint32_t>(i));
    });
    rank += list_codes::count_ones(changes);
  }
}

template <class Team, class Sink>
TENDRIL_HD void write_runs(Team const& team, Sink const& to, std::uint64_t bit, vertex_id v, id_list list,
                           list_header header)
{
  bool const near = header.code() == static_cast<std::uint32_t>(list_code::runs_near);
  std::uint32_t const width = header.width();
  std::uint32_t const bias = list_codes::bias_of(near, v, width);
  std::uint64_t const marks = marks_from(bit, list.size());
  std::uint64_t const values = marks + mark_bits(list.size());
  write_marks(team, to, marks, list, [&](std::uint64_t run, std::uint32_t y) {
    to.put(values + run * width, low_bits(y - bias, width), width);
  });
}

/// As <tendril/list_runs_ef.hpp> has it.
template <class Team, class Sink>
TENDRIL_HD void write_runs_elias_fano(Team const& team, Sink const& to, std::uint64_t bit, vertex_id v, id_list list,
                                      list_header header)
{
  list_shape const shape = shape_of(team, graph_form::best, v, list);
  std::uint32_t const width = header.width() - 1;
  std::uint32_t const first_width = shape.first_run_width();
  std::uint64_t const first = bit + shape.degree;
  std::uint64_t const lower = first + list_codes::first_run_bits + first_width;
  std::uint64_t const upper = lower + (shape.runs - 1) * width;
  bool const has_upper = shape.later_range() >> width != 0;
  if (team.leads()) {
    to.put(first, (first_width - 1) | (has_upper ? 32U : 0U), list_codes::first_run_bits);
    to.put(first + list_codes::first_run_bits,
           low_bits(list.front() - list_codes::bias_of(true, v, first_width), first_width), first_width);
  }
  write_marks(team, to, bit, list, [&](std::uint64_t run, std::uint32_t y) {
    if (run == 0) { return; }
    std::uint32_t const above = y - list.front();
    to.put(lower + (run - 1) * width, low_bits(above, width), width);
    if (has_upper) { to.put(upper + run - 1 + (above >> width), 1, 1); }
  });
}

/// The numbers of a list or of a block of it: lower bits from `lower` on, marks from `upper` on.
template <class Team, class Sink>
TENDRIL_HD void write_elias_fano(Team const& team, Sink const& to, std::uint64_t lower, std::uint64_t upper,
                                 id_list list, std::uint32_t width)
{
  vertex_id const first = list.front();
  for (std::uint64_t i = team.rank(); i < list.size(); i += Team::width) {
    std::uint32_t const above = list[i] - first;
    to.put(lower + i * width, low_bits(above, width), width);
    to.put(upper + i + (std::uint64_t{above} >> width), 1, 1);
  }
}

template <class Team, class Sink>
TENDRIL_HD void write_elias_fano(Team const& team, Sink const& to, std::uint64_t bit, id_list list, list_header header)
{
  using list_codes::block_edges;
  if (list.size() <= block_edges) {
    std::uint32_t const width = header.width() - 1;
    if (team.leads()) { to.put(bit, list.front(), 32); }
    write_elias_fano(team, to, bit + 32, bit + 32 + list.size() * width, list, width);
    return;
  }
  std::uint64_t const base = words_for(bit);
  std::uint64_t const num_blocks = num_elias_fano_blocks(list.size());
  std::uint64_t next = num_blocks * list_codes::block_words;
  for (std::uint64_t first = 0; first < num_blocks; first += Team::width) {
    // A block a member for the places, then all members a block.
    std::uint64_t const own = first + team.rank();
    elias_fano_shape const shape =
        own < num_blocks ? elias_fano_block(list, own * block_edges) : elias_fano_shape{0, 0, 0};
    part_of_sum const place = team.prefix(words_of(shape));
    if (own < num_blocks) {
      std::uint64_t const entry = 32 * (base + own * list_codes::block_words);
      to.put(entry, list[own * block_edges], 32);
      to.put(entry + 32, shape.width << list_codes::place_bits | static_cast<std::uint32_t>(next + place.before), 32);
    }
    std::uint64_t const together = smaller<std::uint64_t>(Team::width, num_blocks - first);
    for (std::uint32_t k = 0; k < together; ++k) {
      std::uint64_t const lower = 32 * (base + next + team.of_rank(place.before, k));
      auto const width = static_cast<std::uint32_t>(team.of_rank(shape.width, k));
      std::uint64_t const begin = (first + k) * block_edges;
      std::uint64_t const size = smaller<std::uint64_t>(block_edges, list.size() - begin);
      write_elias_fano(team, to, lower, lower + 32 * words_for(size * width), list.subspan(begin, size), width);
    }
    next += place.total;
  }
}

template <class Team, class Sink>
TENDRIL_HD void write_vbyte(Team const& team, Sink const& to, std::uint64_t bit, id_list list)
{
  using list_codes::group_edges;
  bool const grouped = list.size() > group_edges;
  std::uint64_t const base = grouped ? 4 * words_for(bit) : bit / 8;  // a byte
  std::uint64_t next = grouped ? 4 * num_groups(list.size()) : 0;
  for (std::uint64_t begin = 0; begin < list.size(); begin += group_edges) {
    std::uint64_t const size = smaller<std::uint64_t>(group_edges, list.size() - begin);
    if (grouped && team.leads()) { to.put(8 * (base + begin / group_edges * 4), static_cast<std::uint32_t>(next), 32); }
    std::uint64_t const lengths = base + next;
    next += (size + 3) / 4;
    for (std::uint64_t k = 0; k < size; k += Team::width) {
      std::uint64_t const own = k + team.rank();
      std::uint32_t const gap = own < size ? vbyte_gap(list, begin + own) : 0;
      std::uint32_t const bytes = own < size ? bytes_of_gap(gap) : 0;
      part_of_sum const place = team.prefix(bytes);
      if (own < size) {
        to.put(8 * lengths + 2 * own, bytes - 1, 2);
        to.put(8 * (base + next + place.before), gap, 8 * bytes);
      }
      next += place.total;
    }
  }
}

/// Writes the neighbours of v behind the list's header, from `byte` on.
template <class Team, class Sink>
TENDRIL_HD void write_list(Team const& team, Sink const& to, std::uint64_t byte, vertex_id v, id_list list,
                           list_header header)
{
  std::uint64_t const bit = 8 * byte;
  switch (static_cast<list_code>(header.code())) {
    case list_code::fixed_near:
    case list_code::fixed_far: return write_fixed(team, to, bit, v, list, header);
    case list_code::runs_near:
    case list_code::runs_far: return write_runs(team, to, bit, v, list, header);
    case list_code::elias_fano: return write_elias_fano(team, to, bit, list, header);
    case list_code::vbyte: return write_vbyte(team, to, bit, list);
    case list_code::runs_elias_fano: return write_runs_elias_fano(team, to, bit, v, list, header);
  }
}

/// The same by one thread.
inline void write_list(std::uint32_t* words, std::uint64_t byte, vertex_id v, id_list list, list_header header)
{
  write_list(serial_team(), plain_words(words), byte, v, list, header);
}

}  // namespace tendril::place
