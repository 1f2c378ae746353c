// How many bits a list takes in each code, and which code is to be used. The codes: <tendril/list_code.hpp>. A list is
// measured in one pass, but for the gaps of vbyte.

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>

#include <tendril/graph_view.hpp>  // graph_form
#include <tendril/list_code.hpp>

namespace tendril::place {

/// A list, as it would be written.
struct list_choice {
  list_header header;
  std::uint64_t bits = 0;  ///< Behind the header, from a whole byte or word on.
  bool begins_a_word = false;

  /// The byte behind a list that begins at byte `start`.
  [[nodiscard]] std::uint64_t end(std::uint64_t start, bool own_header) const
  {
    std::uint64_t const data = start + (own_header ? 1 : 0);
    return (begins_a_word ? 4 * list_codes::word_from(data) : data) + (bits + 7) / 8;
  }
};

inline std::uint64_t words_for(std::uint64_t bits) { return (bits + 31) / 32; }

/// The width of a number in [0, largest], at least 1.
inline std::uint32_t width_of(std::uint64_t largest) { return std::max(1, static_cast<int>(std::bit_width(largest))); }

/// The width of biased differences in [low, high]; 32 holds any, modulo 2^32.
inline std::uint32_t near_width(std::int64_t low, std::int64_t high)
{
  auto const of = [](std::int64_t x) { return 1 + std::bit_width(static_cast<std::uint64_t>(x < 0 ? -x - 1 : x)); };
  return static_cast<std::uint32_t>(std::min<int>(32, std::max(of(low), of(high))));
}

/// Numbers that lie in [low, high], near v or as they are, whichever is narrower.
struct fixed_width {
  bool near;
  std::uint32_t width;

  [[nodiscard]] static fixed_width of(vertex_id v, std::int64_t low, std::int64_t high)
  {
    std::uint32_t const near = near_width(low - v, high - v);
    std::uint32_t const far = low < 0 ? 32 : width_of(static_cast<std::uint64_t>(high));
    return {near < far, std::min(near, far)};
  }
};

inline list_header header_of(list_code code, std::uint32_t width) { return {static_cast<std::uint32_t>(code), width}; }

inline list_choice measure_fixed(vertex_id v, std::span<vertex_id const> list)
{
  auto const [near, width] = fixed_width::of(v, list.front(), list.back());
  return {header_of(near ? list_code::fixed_near : list_code::fixed_far, width), list.size() * width, false};
}

/// The marks of `degree` edges, and `changes` values of y = x_i - i.
inline std::uint64_t run_bits(std::uint64_t degree, std::uint64_t changes, std::uint32_t width)
{
  std::uint64_t const sectors = (degree + list_codes::sector_edges - 1) / list_codes::sector_edges;
  return (sectors > 1 ? 32 * sectors * list_codes::sector_words : degree) + changes * width;
}

/// How many runs of consecutive ids a list has.
inline std::uint64_t count_runs(std::span<vertex_id const> list)
{
  std::uint64_t count = 1;
  for (std::size_t i = 1; i < list.size(); ++i) { count += list[i] != list[i - 1] + 1U ? 1 : 0; }
  return count;
}

inline list_choice measure_runs(vertex_id v, std::span<vertex_id const> list)
{
  std::int64_t low = list.front(), high = low;
  for (std::size_t i = 1; i < list.size(); ++i) {
    std::int64_t const y = std::int64_t{list[i]} - static_cast<std::int64_t>(i);
    low = std::min(low, y);
    high = std::max(high, y);
  }
  auto const [near, width] = fixed_width::of(v, low, high);
  return {header_of(near ? list_code::runs_near : list_code::runs_far, width),
          run_bits(list.size(), count_runs(list), width), list.size() > list_codes::sector_edges};
}

/// The lower bits of `size` numbers up to `range`, for the fewest bits in all.
struct elias_fano_shape {
  std::uint32_t width;
  std::uint64_t lower_bits, upper_bits;

  [[nodiscard]] static elias_fano_shape of(std::uint64_t size, std::uint64_t range)
  {
    auto const with = [&](std::uint32_t width) {
      return elias_fano_shape{width, size * width, size + (range >> width)};
    };
    std::uint64_t const gap = range / size;
    elias_fano_shape const narrow = with(gap == 0 ? 0 : static_cast<std::uint32_t>(std::bit_width(gap)) - 1);
    elias_fano_shape const wide = with(narrow.width + 1);
    auto const bits = [](elias_fano_shape const& s) { return s.lower_bits + s.upper_bits; };
    return narrow.width == 31 || bits(narrow) <= bits(wide) ? narrow : wide;
  }
};

/// A block of a long list.
inline elias_fano_shape elias_fano_block(std::span<vertex_id const> list, std::size_t begin)
{
  std::size_t const size = std::min<std::size_t>(list_codes::block_edges, list.size() - begin);
  return elias_fano_shape::of(size, list[begin + size - 1] - list[begin]);
}

/// None where a block's place would not fit.
inline std::optional<list_choice> measure_elias_fano(std::span<vertex_id const> list)
{
  if (list.size() <= list_codes::block_edges) {
    elias_fano_shape const shape = elias_fano_block(list, 0);
    return list_choice{header_of(list_code::elias_fano, shape.width + 1), 32 + shape.lower_bits + shape.upper_bits,
                       false};
  }
  std::uint64_t words = (list.size() + list_codes::block_edges - 1) / list_codes::block_edges * list_codes::block_words;
  for (std::size_t begin = 0; begin < list.size(); begin += list_codes::block_edges) {
    elias_fano_shape const shape = elias_fano_block(list, begin);
    words += words_for(shape.lower_bits) + words_for(shape.upper_bits);
  }
  if (words >> list_codes::place_bits != 0) { return {}; }
  return list_choice{header_of(list_code::elias_fano, 1), 32 * words, true};
}

/// The bytes of a gap of vbyte: 1 to 4.
inline std::uint32_t bytes_of_gap(std::uint32_t gap) { return (width_of(gap) + 7U) / 8U; }

/// None where a group's place would not fit.
inline std::optional<list_choice> measure_vbyte(std::span<vertex_id const> list)
{
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i % list_codes::group_edges == 0) {
      bytes += (std::min<std::size_t>(list_codes::group_edges, list.size() - i) + 3) / 4;
      bytes += bytes_of_gap(list[i]);
    } else {
      bytes += bytes_of_gap(list[i] - list[i - 1]);
    }
  }
  bool const grouped = list.size() > list_codes::group_edges;
  if (grouped) { bytes += 4 * ((list.size() + list_codes::group_edges - 1) / list_codes::group_edges); }
  if (bytes >> 32U != 0) { return {}; }
  return list_choice{header_of(list_code::vbyte, 1), 8 * bytes, grouped};
}

/// How the neighbours of v are written in a graph of form `form`; `list` is not empty. Slower codes must save something:
/// runs a sixteenth of the bits, Elias-Fano an eighth.
inline list_choice choose(graph_form form, vertex_id v, std::span<vertex_id const> list)
{
  list_choice const fixed = measure_fixed(v, list);
  list_choice best = fixed;
  std::uint64_t cost = fixed.bits;
  auto const offer = [&](list_choice const& other, std::uint64_t sixteenths) {
    if (other.bits * sixteenths / 16 >= cost) { return; }
    cost = other.bits * sixteenths / 16;
    best = other;
  };
  if (form == graph_form::runs || form == graph_form::best) { offer(measure_runs(v, list), 17); }
  if (form == graph_form::ef || form == graph_form::best) {
    if (auto const other = measure_elias_fano(list)) { offer(*other, 18); }
  }
  if (form == graph_form::vbyte) { best = measure_vbyte(list).value_or(fixed); }
  return best;
}

}  // namespace tendril::place
