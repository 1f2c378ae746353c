// How many bits a list takes in each code, and which code is to be used. The codes: <tendril/list_code.hpp>. A team
// (team.hpp) goes over a list once (twice, if it has parallel edges), and notes what decides the bits of any code: a
// list_shape. All members call with the same arguments and get the same result; functions without a team are for one
// thread. On host and device.

#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include <tendril/graph_view.hpp>  // graph_form
#include <tendril/list_code.hpp>

#include "place/team.hpp"

namespace tendril::place {

using id_list = std::span<vertex_id const>;

/// A list, as it would be written.
struct list_choice {
  list_header header;
  std::uint64_t bits = 0;  ///< Behind the header, from a whole byte or word on.
  bool begins_a_word = false;

  /// The byte behind a list that begins at byte `start`.
  [[nodiscard]] TENDRIL_HD std::uint64_t end(std::uint64_t start, bool own_header) const
  {
    std::uint64_t const data = start + (own_header ? 1 : 0);
    return (begins_a_word ? 4 * list_codes::word_from(data) : data) + (bits + 7) / 8;
  }
};

TENDRIL_HD std::uint64_t words_for(std::uint64_t bits) { return (bits + 31) / 32; }

template <class T>
TENDRIL_HD T smaller(T a, T b)
{
  return a < b ? a : b;
}

template <class T>
TENDRIL_HD T larger(T a, T b)
{
  return a < b ? b : a;
}

/// The bits of a number; 0 has none.
TENDRIL_HD std::uint32_t bit_width(std::uint64_t x)
{
#ifdef __CUDA_ARCH__
  return 64U - static_cast<std::uint32_t>(__clzll(static_cast<long long>(x)));
#else
  return static_cast<std::uint32_t>(std::bit_width(x));
#endif
}

/// The width of a number in [0, largest], at least 1.
TENDRIL_HD std::uint32_t width_of(std::uint64_t largest) { return larger(1U, bit_width(largest)); }

/// The width of biased differences in [low, high]; 32 holds any, modulo 2^32.
TENDRIL_HD std::uint32_t near_width(std::int64_t low, std::int64_t high)
{
  auto const of = [](std::int64_t x) { return 1 + bit_width(static_cast<std::uint64_t>(x < 0 ? -x - 1 : x)); };
  return smaller(32U, larger(of(low), of(high)));
}

TENDRIL_HD list_header header_of(list_code code, std::uint32_t width)
{
  return {static_cast<std::uint32_t>(code), width};
}

/// The marks of `degree` edges.
TENDRIL_HD std::uint64_t mark_bits(std::uint64_t degree)
{
  std::uint64_t const sectors = (degree + list_codes::sector_edges - 1) / list_codes::sector_edges;
  return sectors > 1 ? 32 * sectors * list_codes::sector_words : degree;
}

/// Where y = x_i - i changes, and where neighbours are equal.
struct run_counts {
  std::uint64_t runs, repeats;
};

/// How many runs of consecutive ids a list has, and how many edges are parallel to the one before.
template <class Team>
TENDRIL_HD run_counts count_runs(Team const& team, id_list list)
{
  std::uint64_t runs = 0, repeats = 0;
  vertex_id const* const ids = list.data();
  for (std::uint64_t i = 1 + team.rank(); i < list.size(); i += Team::width) {
    runs += ids[i] != ids[i - 1] + 1U ? 1U : 0U;
    repeats += ids[i] == ids[i - 1] ? 1U : 0U;
  }
  return {1 + team.sum(runs), team.sum(repeats)};
}

/// The lower bits of `size` numbers up to `range`, and how many bits they take.
struct elias_fano_shape {
  std::uint32_t width;
  std::uint64_t lower_bits, upper_bits;

  [[nodiscard]] static TENDRIL_HD elias_fano_shape with(std::uint32_t width, std::uint64_t size, std::uint64_t range)
  {
    return {width, size * width, size + (range >> width)};
  }
  /// For the fewest bits in all.
  [[nodiscard]] static TENDRIL_HD elias_fano_shape of(std::uint64_t size, std::uint64_t range)
  {
    std::uint64_t const gap = range / size;
    elias_fano_shape const narrow = with(gap == 0 ? 0 : bit_width(gap) - 1, size, range);
    elias_fano_shape const wide = with(narrow.width + 1, size, range);
    return narrow.width == 31 || narrow.bits() <= wide.bits() ? narrow : wide;
  }
  [[nodiscard]] TENDRIL_HD std::uint64_t bits() const { return lower_bits + upper_bits; }
};

/// How many blocks a long list has.
TENDRIL_HD std::uint64_t num_elias_fano_blocks(std::uint64_t degree)
{
  return (degree + list_codes::block_edges - 1) / list_codes::block_edges;
}

/// A block of a long list, from edge `begin` on.
TENDRIL_HD elias_fano_shape elias_fano_block(id_list list, std::uint64_t begin)
{
  std::uint64_t const size = smaller<std::uint64_t>(list_codes::block_edges, list.size() - begin);
  return elias_fano_shape::of(size, list[begin + size - 1] - list[begin]);
}

/// The words of its numbers.
TENDRIL_HD std::uint64_t words_of(elias_fano_shape const& block)
{
  return words_for(block.lower_bits) + words_for(block.upper_bits);
}

/// The words of a long list.
template <class Team>
TENDRIL_HD std::uint64_t elias_fano_words(Team const& team, id_list list)
{
  std::uint64_t own = 0;
  for (std::uint64_t begin = std::uint64_t{team.rank()} * list_codes::block_edges; begin < list.size();
       begin += Team::width * list_codes::block_edges) {
    own += list_codes::block_words + words_of(elias_fano_block(list, begin));
  }
  return team.sum(own);
}

/// The runs behind the first of a list in runs and Elias-Fano: `size` numbers up to `range`, whose lower bits have
/// `width` bits. Without upper bits where the lower ones are all.
TENDRIL_HD std::uint64_t later_run_bits(std::uint32_t width, std::uint64_t size, std::uint64_t range)
{
  return size * width + (range >> width == 0 ? 0 : size + (range >> width));
}

/// The bytes of a gap of vbyte: 1 to 4.
TENDRIL_HD std::uint32_t bytes_of_gap(std::uint32_t gap) { return (width_of(gap) + 7U) / 8U; }

/// What vbyte writes of neighbour i: groups begin with a neighbour as it is.
TENDRIL_HD std::uint32_t vbyte_gap(id_list list, std::uint64_t i)
{
  return i % list_codes::group_edges == 0 ? list[i] : list[i] - list[i - 1];
}

TENDRIL_HD std::uint64_t num_groups(std::uint64_t degree)
{
  return (degree + list_codes::group_edges - 1) / list_codes::group_edges;
}

/// The bytes of a list in vbyte.
template <class Team>
TENDRIL_HD std::uint64_t vbyte_bytes(Team const& team, id_list list)
{
  std::uint64_t own = 0;
  for (std::uint64_t i = team.rank(); i < list.size(); i += Team::width) { own += bytes_of_gap(vbyte_gap(list, i)); }
  constexpr std::uint64_t group_lengths = list_codes::group_edges / 4;
  std::uint64_t const rest = list.size() % list_codes::group_edges;
  bool const grouped = list.size() > list_codes::group_edges;
  return team.sum(own) + list.size() / list_codes::group_edges * group_lengths + (rest + 3) / 4 +
         (grouped ? 4 * num_groups(list.size()) : 0);
}

/// Whether lists of a form may have a code. Those of `vbyte` take a fixed width where groups' places would not fit.
TENDRIL_HD bool allows(graph_form form, list_code code)
{
  switch (code) {
    case list_code::fixed_near:
    case list_code::fixed_far: return form != graph_form::vbyte;
    case list_code::runs_near:
    case list_code::runs_far: return form == graph_form::runs || form == graph_form::best;
    case list_code::elias_fano: return form == graph_form::ef || form == graph_form::best;
    case list_code::runs_elias_fano: return form == graph_form::best;
    case list_code::vbyte: return form == graph_form::vbyte;
  }
  return false;
}

/// What decides how many bits a list takes in each code that its form allows.
struct list_shape {
  vertex_id vertex = 0;
  std::uint32_t degree = 0;
  vertex_id least = 0, largest = 0;  ///< Of the neighbours.
  std::uint64_t runs = 0;
  bool ascends = false;                     ///< Without parallel edges.
  std::int64_t least_y = 0, largest_y = 0;  ///< Of x_i - i.
  std::uint64_t long_words = 0;             ///< Of a list of more than 128 edges in Elias-Fano.
  std::uint64_t bytes = 0;                  ///< In vbyte.

  /// The header with which a code takes the fewest bits.
  [[nodiscard]] TENDRIL_HD list_header header(list_code code) const
  {
    switch (code) {
      case list_code::fixed_near: return header_of(code, near_width(to_near(least), to_near(largest)));
      case list_code::fixed_far: return header_of(code, width_of(largest));
      case list_code::runs_near: return header_of(code, near_width(to_near(least_y), to_near(largest_y)));
      case list_code::runs_far:
        return header_of(code, least_y < 0 ? 32 : width_of(static_cast<std::uint64_t>(largest_y)));
      case list_code::elias_fano:
        return header_of(code, is_long() ? 1 : elias_fano_shape::of(degree, largest - least).width + 1);
      case list_code::runs_elias_fano: return header_of(code, later_width() + 1);
      case list_code::vbyte: break;
    }
    return header_of(code, 1);
  }

  /// The list with a header of a code that the form allows; none where the code does not suit the list, or the width
  /// does not.
  [[nodiscard]] TENDRIL_HD std::optional<list_choice> with(list_header header) const
  {
    std::uint32_t const width = header.width();
    auto const code = static_cast<list_code>(header.code());
    switch (code) {
      case list_code::fixed_near:
      case list_code::fixed_far:
        if (width < this->header(code).width()) { return {}; }
        return list_choice{header, std::uint64_t{degree} * width, false};
      case list_code::runs_near:
      case list_code::runs_far:
        if (width < this->header(code).width()) { return {}; }
        return list_choice{header, mark_bits(degree) + runs * width, degree > list_codes::sector_edges};
      case list_code::elias_fano: {
        if (is_long()) {
          if (long_words >> list_codes::place_bits != 0) { return {}; }
          return list_choice{header, 32 * long_words, true};
        }
        elias_fano_shape const shape = elias_fano_shape::with(width - 1, degree, largest - least);
        if (shape.upper_bits > list_codes::most_upper_bits) { return {}; }
        return list_choice{header, 32 + shape.bits(), false};
      }
      case list_code::runs_elias_fano: {
        std::uint64_t const later = runs - 1, range = later_range();
        if (!ascends || degree > list_codes::sector_edges || later > list_codes::block_edges) { return {}; }
        if (later + (range >> (width - 1)) > list_codes::most_upper_bits) { return {}; }
        return list_choice{
            header, degree + list_codes::first_run_bits + first_run_width() + later_run_bits(width - 1, later, range),
            false};
      }
      case list_code::vbyte:
        if (bytes >> 32U != 0) { return {}; }
        return list_choice{header, 8 * bytes, degree > list_codes::group_edges};
    }
    return {};
  }

  /// The width of the first neighbour as a difference from the vertex.
  [[nodiscard]] TENDRIL_HD std::uint32_t first_run_width() const { return near_width(to_near(least), to_near(least)); }
  /// The largest y, counted from the first neighbour.
  [[nodiscard]] TENDRIL_HD std::uint64_t later_range() const
  {
    return static_cast<std::uint64_t>(largest_y - std::int64_t{least});
  }

 private:
  [[nodiscard]] TENDRIL_HD std::int64_t to_near(std::int64_t x) const { return x - std::int64_t{vertex}; }
  [[nodiscard]] TENDRIL_HD bool is_long() const { return degree > list_codes::block_edges; }
  /// The lower bits of the runs behind the first, for the fewest bits.
  [[nodiscard]] TENDRIL_HD std::uint32_t later_width() const
  {
    if (runs <= 1 || !ascends) { return 0; }
    std::uint64_t const size = runs - 1, range = later_range();
    std::uint32_t const all = smaller(31U, bit_width(range));
    std::uint32_t const some = elias_fano_shape::of(size, range).width;
    return later_run_bits(all, size, range) <= later_run_bits(some, size, range) ? all : some;
  }
};

/// The shape of the neighbours of v, as far as a form asks for it; `list` is not empty.
template <class Team>
TENDRIL_HD list_shape shape_of(Team const& team, graph_form form, vertex_id v, id_list list)
{
  list_shape out;
  out.vertex = v;
  out.degree = static_cast<std::uint32_t>(list.size());
  out.least = list.front();
  out.largest = list.back();
  if (allows(form, list_code::runs_far)) {
    run_counts const counts = count_runs(team, list);
    out.runs = counts.runs;
    out.ascends = counts.repeats == 0;
    std::int64_t const last = static_cast<std::int64_t>(list.size()) - 1;
    out.least_y = out.least;
    out.largest_y = std::int64_t{out.largest} - last;
    if (!out.ascends) {  // only then y falls anywhere
      std::int64_t low = out.least, high = low;
      for (std::int64_t i = 1 + std::int64_t{team.rank()}; i <= last; i += Team::width) {
        std::int64_t const y = std::int64_t{list[static_cast<std::size_t>(i)]} - i;
        low = smaller(low, y);
        high = larger(high, y);
      }
      out.least_y = team.min(low);
      out.largest_y = team.max(high);
    }
  }
  if (allows(form, list_code::elias_fano) && list.size() > list_codes::block_edges) {
    out.long_words = elias_fano_words(team, list);
  }
  if (allows(form, list_code::vbyte)) { out.bytes = vbyte_bytes(team, list); }
  return out;
}

/// What a list counts among others: bits of whole bytes, more of codes that are slower to read. Runs must save a sixteenth
/// of the bits, Elias-Fano an eighth.
TENDRIL_HD std::uint64_t cost_of(list_choice const& choice)
{
  constexpr std::uint64_t sixteenths[] = {16, 16, 17, 17, 18, 16, 18};
  return (choice.bits + 7) / 8 * sixteenths[choice.header.code()];
}

/// How a list is written that has a header of its own.
TENDRIL_HD list_choice choose(graph_form form, list_shape const& shape)
{
  if (form == graph_form::vbyte) {
    if (auto const bytes = shape.with(shape.header(list_code::vbyte))) { return *bytes; }
  }
  list_choice best = *shape.with(shape.header(list_code::fixed_far));
  for (list_code const code : {list_code::fixed_near, list_code::runs_far, list_code::runs_near, list_code::elias_fano,
                               list_code::runs_elias_fano}) {
    if (!allows(form, code)) { continue; }
    auto const other = shape.with(shape.header(code));
    if (other && cost_of(*other) < cost_of(best)) { best = *other; }
  }
  return best;
}

}  // namespace tendril::place
