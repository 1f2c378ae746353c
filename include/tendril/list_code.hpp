// How a list of neighbours x_0 <= x_1 <= ... of vertex v is written, in one of seven codes, and how one of them is read:
//
//   fixed_near, fixed_far    x_i at a fixed width: as a difference from v, biased to be >= 0 (near), or as it is (far)
//   runs_near, runs_far      y_i = x_i - i is the same for all of a run of consecutive ids. One bit an edge says where y
//                            changes; the y that differ stand behind, at a fixed width as above. Neighbour i is
//                            y[rank(i)] + i: a count of bits and one read. In lists of more than 224 edges the bits stand
//                            in sectors of 32 bytes behind the number of changes before them.
//   elias_fano               l lower bits of x_i - x_0 at a fixed width, the upper ones in unary: x_i's mark is at bit
//                            i + (x_i - x_0 >> l) (Elias, J. ACM 21, 1974; Fano, 1971; Vigna, WSDM'13). Lists of more
//                            than 128 edges are cut into blocks of 128, each with its own l and first neighbour.
//   vbyte                    gaps of 1 to 4 bytes behind their lengths of 2 bits (Stream VByte: Lemire, Kurz and Rupp, IPL
//                            130, 2018) in blocks of 32 gaps, which begin with a neighbour as it is; lists of more than a
//                            block begin with the blocks' places. It is the code of ScaleGPS, for comparison: reading a
//                            neighbour goes over the gaps of its block.
//   runs_elias_fano          y as of runs, the first as a difference from v, the others by Elias-Fano: list_runs_ef.hpp
//
// All but the last read a neighbour in O(1). Numbers stand bit by bit from the lowest of each word of 32. What is read is
// bounded for any content, once `place/soundness` has found that places fit. Includes little, so that a program compiled
// at run time can include it too. The writer: src/place/list_writer.hpp.

#pragma once

#include <cstdint>

#include <tendril/list_bits.hpp>
#include <tendril/list_directory.hpp>
#include <tendril/types.hpp>

namespace tendril {

/// The upper 3 bits of a list_header.
enum class list_code : std::uint8_t { fixed_near, fixed_far, runs_near, runs_far, elias_fano, vbyte, runs_elias_fano };

namespace list_codes {

inline constexpr std::uint32_t sector_edges = 224;  // of runs
inline constexpr std::uint32_t sector_words = 8;    // with the changes before it
inline constexpr std::uint32_t block_words = 2;     // its first neighbour; the width of lower bits and its place
inline constexpr std::uint32_t place_bits = 27;     // of the latter, counted in words from the blocks' own
inline constexpr std::uint32_t group_edges = 32;    // of vbyte
inline constexpr std::uint32_t first_run_bits = 6;  // of runs and Elias-Fano, before the first neighbour
/// What lies behind the last list can be read, whatever it holds.
inline constexpr std::uint32_t words_beyond = 16;

[[nodiscard]] TENDRIL_HD bool is(list_place const& place, list_code code)
{
  return place.header().code() == static_cast<std::uint32_t>(code);
}

/// What is added to a number at a fixed width.
[[nodiscard]] TENDRIL_HD std::uint32_t bias_of(bool near, vertex_id v, std::uint32_t width)
{
  return near ? v - (1U << (width - 1U)) : 0U;
}

/// Where the marks of an edge of runs are counted, and the numbers of its list begin.
struct run_marks {
  std::uint64_t values;  ///< A bit.
  std::uint64_t first;   ///< The bit from which on changes are counted; in sectors, of the number of those before.
  std::uint32_t in;      ///< The edge, in its sector or the list.
  bool in_sectors;
};

[[nodiscard]] TENDRIL_HD run_marks marks_of(list_place const& place, std::uint32_t i)
{
  if (place.degree <= sector_edges) { return {8 * place.byte() + place.degree, 8 * place.byte(), i, false}; }
  std::uint64_t const sectors = word_from(place.byte());
  std::uint32_t const s = i / sector_edges;
  std::uint64_t const num_sectors = (place.degree + sector_edges - 1) / sector_edges;
  return {32 * (sectors + num_sectors * sector_words), 32 * (sectors + std::uint64_t{s} * sector_words),
          i - s * sector_edges, true};
}

/// How many changes there are up to the edge; `head` is the quad that the first bit is in.
template <class Load>
[[nodiscard]] TENDRIL_HD std::uint32_t rank_of(std::uint32_t const* words, run_marks const& marks,
                                               word_quad const& head, Load load)
{
  auto const at = static_cast<std::uint32_t>(marks.first & 127U);
  std::uint32_t const before = marks.in_sectors ? static_cast<std::uint32_t>(words_from(head, at >> 5U, 0)) : 0U;
  return before + count_marks(words, marks.first >> 7U, head, marks.in_sectors ? at + 32U : at, marks.in, load);
}

/// The bit where the y of edge i of runs begins.
template <class Load>
[[nodiscard]] TENDRIL_HD std::uint64_t run_bit(std::uint32_t const* words, list_place const& place, std::uint32_t i,
                                               Load load)
{
  run_marks const marks = marks_of(place, i);
  std::uint32_t rank = 0;
  if constexpr (loads_quads<Load>) {
    rank = rank_of(words, marks, quad_at(words, marks.first >> 7U, load), load);
  } else {
    if (marks.in_sectors) { rank = load(words + (marks.first >> 5U)); }
    rank += count_marks(words, marks.in_sectors ? marks.first + 32U : marks.first, marks.in);
  }
  return marks.values + std::uint64_t{rank - 1U} * place.header().width();
}

/// The same; called.
template <class Load>
[[nodiscard]] TENDRIL_HD_CALLED std::uint64_t find_run_bit(std::uint32_t const* words, list_place place,
                                                           std::uint32_t i, Load load)
{
  return run_bit(words, place, i, load);
}

/// Neighbours of two edges of a list, or bits where their numbers begin.
template <class T>
struct pair_of {
  T first, second;
};

/// The bits of two edges of runs: what is read of both is under way together. Called.
template <class Load>
[[nodiscard]] TENDRIL_HD_CALLED pair_of<std::uint64_t> find_run_bits(std::uint32_t const* words, list_place place,
                                                                     std::uint32_t i, std::uint32_t j, Load load)
{
  run_marks const first = marks_of(place, i);
  run_marks const second = marks_of(place, j);
  word_quad const head = quad_at(words, first.first >> 7U, load);
  word_quad const other = quad_at(words, second.first >> 7U, load);
  std::uint32_t const width = place.header().width();
  return {first.values + std::uint64_t{rank_of(words, first, head, load) - 1U} * width,
          second.values + std::uint64_t{rank_of(words, second, other, load) - 1U} * width};
}

/// Up to 128 edges of an Elias-Fano list: all of a short one, or a block of a long one.
struct elias_fano_part {
  std::uint32_t first;         ///< Neighbour.
  std::uint32_t width;         ///< Of lower bits.
  std::uint32_t size;          ///< Edges.
  std::uint64_t lower, upper;  ///< The bits where they begin.
};

/// The part that edge i is in.
template <class Load>
[[nodiscard]] TENDRIL_HD elias_fano_part part_of(std::uint32_t const* words, list_place const& place, std::uint32_t i,
                                                 Load load)
{
  if (place.degree <= block_edges) {
    std::uint64_t const bit = 8 * place.byte();
    std::uint32_t const width = place.header().width() - 1U;
    std::uint64_t const lower = bit + 32;
    return {bits_at(words, bit, 32, load), width, place.degree, lower, lower + std::uint64_t{place.degree} * width};
  }
  std::uint64_t const base = word_from(place.byte());
  std::uint32_t const b = i / block_edges;
  std::uint64_t const block = base + std::uint64_t{b} * block_words;
  std::uint32_t first = 0, width_and_place = 0;
  if constexpr (loads_quads<Load>) {
    auto const k = static_cast<std::uint32_t>(block & 3U);
    std::uint32_t behind = 0;
    if (k == 3) { behind = load(words + block + 1); }
    std::uint64_t const both = words_from(quad_at(words, block >> 2U, load), k, behind);
    first = static_cast<std::uint32_t>(both);
    width_and_place = static_cast<std::uint32_t>(both >> 32U);
  } else {
    first = load(words + block);
    width_and_place = load(words + block + 1);
  }
  std::uint32_t const width = width_and_place >> place_bits;
  std::uint32_t const left = place.degree - b * block_edges;
  std::uint32_t const size = left < block_edges ? left : block_edges;
  std::uint64_t const begin = base + (width_and_place & ((1U << place_bits) - 1U));
  return {first, width, size, 32 * begin, 32 * (begin + (size * width + 31U) / 32U)};
}

/// Neighbour i of an Elias-Fano list.
template <class Load>
[[nodiscard]] TENDRIL_HD_CALLED std::uint32_t elias_fano_neighbor(std::uint32_t const* words, list_place place,
                                                                  std::uint32_t i, Load load)
{
  elias_fano_part const part = part_of(words, place, i, load);
  std::uint32_t const in = place.degree <= block_edges ? i : i % block_edges;
  std::uint32_t const low = bits_at(words, part.lower + std::uint64_t{in} * part.width, part.width, load);
  std::uint32_t position = 0;
  if constexpr (loads_quads<Load>) {
    position = find_mark_by_quads(words, part.upper, in, load);
  } else {
    position = find_mark(words, part.upper, in, part.size);
  }
  return part.first + (((position - in) << part.width) | low);
}

/// The byte where group g of a vbyte list begins.
template <class Load>
[[nodiscard]] TENDRIL_HD std::uint64_t group_byte(std::uint32_t const* words, list_place const& place, std::uint32_t g,
                                                  Load load)
{
  if (place.degree <= group_edges) { return place.byte(); }
  std::uint64_t const base = word_from(place.byte());
  return 4 * base + load(words + base + g);
}

/// Neighbour i of a vbyte list.
[[nodiscard]] TENDRIL_HD_CALLED std::uint32_t vbyte_neighbor(std::uint32_t const* words, list_place place,
                                                             std::uint32_t i)
{
  constexpr plain_load load;
  std::uint32_t const g = i / group_edges;
  std::uint32_t const left = place.degree - g * group_edges;
  std::uint32_t const size = left < group_edges ? left : group_edges;
  std::uint64_t const lengths = group_byte(words, place, g, load);
  std::uint64_t byte = lengths + (size + 3U) / 4U;
  std::uint32_t sum = 0;
  for (std::uint32_t k = 0; k <= i % group_edges; ++k) {
    std::uint32_t const bytes = (byte_at(words, lengths + k / 4U, load) >> (2U * (k % 4U)) & 3U) + 1U;
    sum += bits_at(words, 8 * byte, 8U * bytes, load);
    byte += bytes;
  }
  return sum;
}

/// How marks and what is behind them are read, which are never copies of rows.
#ifdef __CUDA_ARCH__
using mark_load = quad_load;
#else
using mark_load = plain_load;
#endif

/// Reads runs and Elias-Fano: <tendril/list_runs_ef.hpp>.
template <class Load>
struct run_elias_fano_code;

/// Neighbour i < place.degree of the list at `place`. Where lanes of a warp read lists of fixed width and of runs, one load
/// reads the numbers of both.
template <class Load, class Marks = mark_load>
[[nodiscard]] TENDRIL_HD std::uint32_t neighbor_at(std::uint32_t const* words, list_place const& place, std::uint32_t i,
                                                   Load load, Marks marks = {})
{
  auto const code = static_cast<list_code>(place.header().code());
  if (code > list_code::runs_far) {
    if (code == list_code::elias_fano) { return elias_fano_neighbor(words, place, i, marks); }
    return code == list_code::vbyte ? vbyte_neighbor(words, place, i)
                                    : run_elias_fano_code<Load>::neighbor(words, place, i);
  }
  std::uint32_t const width = place.header().width();
  bool const in_runs = code > list_code::fixed_far;
  std::uint64_t bit = 8 * place.byte() + std::uint64_t{i} * width;
  std::uint32_t more = bias_of((place.header().code() & 1U) == 0, place.vertex, width);
  if (in_runs) {
    bit = find_run_bit(words, place, i, marks);
    more += i;
  }
  return bits_at(words, bit, width, load) + more;
}

/// Neighbours i and j, as neighbor_at gives them.
template <class Load, class Marks = mark_load>
[[nodiscard]] TENDRIL_HD pair_of<vertex_id> neighbors_at(std::uint32_t const* words, list_place const& place,
                                                         std::uint32_t i, std::uint32_t j, Load load, Marks marks = {})
{
  auto const code = static_cast<list_code>(place.header().code());
  if (code > list_code::runs_far) {
    return {neighbor_at(words, place, i, load, marks), neighbor_at(words, place, j, load, marks)};
  }
  std::uint32_t const width = place.header().width();
  bool const in_runs = code > list_code::fixed_far;
  pair_of<std::uint64_t> bits{8 * place.byte() + std::uint64_t{i} * width, 8 * place.byte() + std::uint64_t{j} * width};
  if (in_runs) { bits = find_run_bits(words, place, i, j, marks); }
  std::uint32_t const first = bits_at(words, bits.first, width, load);
  std::uint32_t const second = bits_at(words, bits.second, width, load);
  std::uint32_t const bias = bias_of((place.header().code() & 1U) == 0, place.vertex, width);
  return {first + bias + (in_runs ? i : 0U), second + bias + (in_runs ? j : 0U)};
}

}  // namespace list_codes
}  // namespace tendril

#include <tendril/list_runs_ef.hpp>
