// How many bits a list takes in each code, and which code is to be used. The codes: <tendril/list_code.hpp>. The
// functions run on host and device, by a team (team.hpp), all of whose members call them and get the same result; those
// without a team are for one thread. A list is measured in one pass, but for one with parallel edges.

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

/// Numbers that lie in [low, high], near v or as they are, whichever is narrower.
struct fixed_width {
  bool near;
  std::uint32_t width;

  [[nodiscard]] static TENDRIL_HD fixed_width of(vertex_id v, std::int64_t low, std::int64_t high)
  {
    std::uint32_t const near = near_width(low - v, high - v);
    std::uint32_t const far = low < 0 ? 32 : width_of(static_cast<std::uint64_t>(high));
    return {near < far, smaller(near, far)};
  }
};

TENDRIL_HD list_header header_of(list_code code, std::uint32_t width)
{
  return {static_cast<std::uint32_t>(code), width};
}

TENDRIL_HD list_choice measure_fixed(vertex_id v, id_list list)
{
  auto const [near, width] = fixed_width::of(v, list.front(), list.back());
  return {header_of(near ? list_code::fixed_near : list_code::fixed_far, width), list.size() * width, false};
}

/// The marks of `degree` edges.
TENDRIL_HD std::uint64_t mark_bits(std::uint64_t degree)
{
  std::uint64_t const sectors = (degree + list_codes::sector_edges - 1) / list_codes::sector_edges;
  return sectors > 1 ? 32 * sectors * list_codes::sector_words : degree;
}

/// The marks, and `changes` values of y = x_i - i.
TENDRIL_HD std::uint64_t run_bits(std::uint64_t degree, std::uint64_t changes, std::uint32_t width)
{
  return mark_bits(degree) + changes * width;
}

/// Where y changes, and where neighbours are equal.
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

inline std::uint64_t count_runs(id_list list) { return count_runs(serial_team(), list).runs; }

template <class Team>
TENDRIL_HD list_choice measure_runs(Team const& team, vertex_id v, id_list list)
{
  run_counts const counts = count_runs(team, list);
  std::int64_t const last = static_cast<std::int64_t>(list.size()) - 1;
  std::int64_t low = list.front(), high = std::int64_t{list.back()} - last;
  if (counts.repeats > 0) {  // only then y falls anywhere
    low = high = list.front();
    for (std::int64_t i = 1 + std::int64_t{team.rank()}; i <= last; i += Team::width) {
      std::int64_t const y = std::int64_t{list[static_cast<std::size_t>(i)]} - i;
      low = smaller(low, y);
      high = larger(high, y);
    }
    low = team.min(low);
    high = team.max(high);
  }
  auto const [near, width] = fixed_width::of(v, low, high);
  return {header_of(near ? list_code::runs_near : list_code::runs_far, width),
          run_bits(list.size(), counts.runs, width), list.size() > list_codes::sector_edges};
}

inline list_choice measure_runs(vertex_id v, id_list list) { return measure_runs(serial_team(), v, list); }

/// The lower bits of `size` numbers up to `range`, for the fewest bits in all.
struct elias_fano_shape {
  std::uint32_t width;
  std::uint64_t lower_bits, upper_bits;

  [[nodiscard]] static TENDRIL_HD elias_fano_shape with(std::uint32_t width, std::uint64_t size, std::uint64_t range)
  {
    return {width, size * width, size + (range >> width)};
  }
  [[nodiscard]] static TENDRIL_HD elias_fano_shape of(std::uint64_t size, std::uint64_t range)
  {
    std::uint64_t const gap = range / size;
    elias_fano_shape const narrow = with(gap == 0 ? 0 : bit_width(gap) - 1, size, range);
    elias_fano_shape const wide = with(narrow.width + 1, size, range);
    return narrow.width == 31 || narrow.lower_bits + narrow.upper_bits <= wide.lower_bits + wide.upper_bits ? narrow
                                                                                                            : wide;
  }
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

/// None where a block's place would not fit.
template <class Team>
TENDRIL_HD std::optional<list_choice> measure_elias_fano(Team const& team, id_list list)
{
  if (list.size() <= list_codes::block_edges) {
    elias_fano_shape const shape = elias_fano_block(list, 0);
    return list_choice{header_of(list_code::elias_fano, shape.width + 1), 32 + shape.lower_bits + shape.upper_bits,
                       false};
  }
  std::uint64_t own = 0;
  for (std::uint64_t begin = std::uint64_t{team.rank()} * list_codes::block_edges; begin < list.size();
       begin += Team::width * list_codes::block_edges) {
    own += list_codes::block_words + words_of(elias_fano_block(list, begin));
  }
  std::uint64_t const words = team.sum(own);
  if (words >> list_codes::place_bits != 0) { return {}; }
  return list_choice{header_of(list_code::elias_fano, 1), 32 * words, true};
}

inline std::optional<list_choice> measure_elias_fano(id_list list) { return measure_elias_fano(serial_team(), list); }

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

/// None where a group's place would not fit.
template <class Team>
TENDRIL_HD std::optional<list_choice> measure_vbyte(Team const& team, id_list list)
{
  std::uint64_t own = 0;
  for (std::uint64_t i = team.rank(); i < list.size(); i += Team::width) { own += bytes_of_gap(vbyte_gap(list, i)); }
  constexpr std::uint64_t group_lengths = list_codes::group_edges / 4;
  std::uint64_t const rest = list.size() % list_codes::group_edges;
  bool const grouped = list.size() > list_codes::group_edges;
  std::uint64_t const bytes = team.sum(own) + list.size() / list_codes::group_edges * group_lengths + (rest + 3) / 4 +
                              (grouped ? 4 * num_groups(list.size()) : 0);
  if (bytes >> 32U != 0) { return {}; }
  return list_choice{header_of(list_code::vbyte, 1), 8 * bytes, grouped};
}

inline std::optional<list_choice> measure_vbyte(id_list list) { return measure_vbyte(serial_team(), list); }

/// The best of several codes. Slower codes must save something: their bits count more.
class code_contest {
 public:
  explicit TENDRIL_HD code_contest(list_choice const& fixed) : best_(fixed), cost_(fixed.bits) {}

  TENDRIL_HD void offer(list_choice const& other, std::uint64_t sixteenths)
  {
    if (other.bits * sixteenths / 16 >= cost_) { return; }
    cost_ = other.bits * sixteenths / 16;
    best_ = other;
  }
  [[nodiscard]] TENDRIL_HD list_choice const& best() const { return best_; }

 private:
  list_choice best_;
  std::uint64_t cost_;
};

/// How the neighbours of v are written in a graph of form `form`; `list` is not empty. Runs must save a sixteenth of the
/// bits, Elias-Fano an eighth.
template <class Team>
TENDRIL_HD list_choice choose(Team const& team, graph_form form, vertex_id v, id_list list)
{
  list_choice const fixed = measure_fixed(v, list);
  if (form == graph_form::vbyte) { return measure_vbyte(team, list).value_or(fixed); }
  code_contest contest(fixed);
  if (form == graph_form::runs || form == graph_form::best) { contest.offer(measure_runs(team, v, list), 17); }
  if (form == graph_form::ef || form == graph_form::best) {
    if (auto const other = measure_elias_fano(team, list)) { contest.offer(*other, 18); }
  }
  return contest.best();
}

inline list_choice choose(graph_form form, vertex_id v, id_list list) { return choose(serial_team(), form, v, list); }

}  // namespace tendril::place
