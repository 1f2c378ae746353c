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

#include <tendril/list_directory.hpp>
#include <tendril/row.hpp>  // plain_load
#include <tendril/types.hpp>

namespace tendril {

/// The upper 3 bits of a list_header.
enum class list_code : std::uint8_t { fixed_near, fixed_far, runs_near, runs_far, elias_fano, vbyte, runs_elias_fano };

namespace list_codes {

inline constexpr std::uint32_t sector_edges = 224;  // of runs
inline constexpr std::uint32_t sector_words = 8;    // with the changes before it
inline constexpr std::uint32_t block_edges = 128;   // of Elias-Fano
inline constexpr std::uint32_t block_words = 2;     // its first neighbour; the width of lower bits and its place
inline constexpr std::uint32_t place_bits = 27;     // of the latter, counted in words from the blocks' own
inline constexpr std::uint32_t most_upper_bits = 3 * block_edges;
inline constexpr int most_upper_pairs = most_upper_bits / 64;             // of words behind the first that they touch
inline constexpr std::uint32_t most_upper_quads = most_upper_bits / 128;  // of words, the same
inline constexpr std::uint32_t group_edges = 32;                          // of vbyte
inline constexpr std::uint32_t first_run_bits = 6;  // of runs and Elias-Fano, before the first neighbour
/// What lies behind the last list can be read, whatever it holds.
inline constexpr std::uint32_t words_beyond = 16;

TENDRIL_HD std::uint32_t count_ones(std::uint32_t word)
{
#ifdef __CUDA_ARCH__
  return static_cast<std::uint32_t>(__popc(word));
#else
  return static_cast<std::uint32_t>(__builtin_popcount(word));
#endif
}

TENDRIL_HD std::uint32_t count_ones(std::uint64_t bits)
{
#ifdef __CUDA_ARCH__
  return static_cast<std::uint32_t>(__popcll(bits));
#else
  return static_cast<std::uint32_t>(__builtin_popcountll(bits));
#endif
}

/// Where the lowest one of a word is, which has one.
TENDRIL_HD std::uint32_t lowest_one(std::uint32_t word)
{
#ifdef __CUDA_ARCH__
  return static_cast<std::uint32_t>(__ffs(static_cast<int>(word)) - 1);
#else
  return static_cast<std::uint32_t>(__builtin_ctz(word));
#endif
}

/// Where the lowest `n + 1`-th one of a word is, which has that many. Counts the ones of pairs of bits, of nibbles, bytes
/// and halves side by side, and goes down the same tree: a GPU's counting of bits takes longer.
TENDRIL_HD std::uint32_t nth_one(std::uint32_t word, std::uint32_t n)
{
  std::uint32_t const pairs = word - (word >> 1U & 0x55555555U);
  std::uint32_t const nibbles = (pairs & 0x33333333U) + (pairs >> 2U & 0x33333333U);
  std::uint32_t const bytes = (nibbles + (nibbles >> 4U)) & 0x0f0f0f0fU;
  std::uint32_t at = 0;
  auto const pass = [&](std::uint32_t below, std::uint32_t width) {
    bool const right = n >= below;
    n -= right ? below : 0U;
    at += right ? width : 0U;
  };
  pass((bytes + (bytes >> 8U)) & 0x1fU, 16);
  pass(bytes >> at & 0xfU, 8);
  pass(nibbles >> at & 0xfU, 4);
  pass(pairs >> at & 3U, 2);
  pass(word >> at & 1U, 1);
  return at;
}

/// The same of 64 bits.
TENDRIL_HD std::uint32_t nth_one(std::uint64_t bits, std::uint32_t n)
{
#if defined(__BMI2__) && !defined(__CUDACC__)
  return static_cast<std::uint32_t>(__builtin_ctzll(__builtin_ia32_pdep_di(std::uint64_t{1} << n, bits)));
#else
  auto const low = static_cast<std::uint32_t>(bits);
  std::uint32_t const below = count_ones(low);
  bool const right = n >= below;
  return (right ? 32U : 0U) + nth_one(right ? static_cast<std::uint32_t>(bits >> 32U) : low, n - (right ? below : 0U));
#endif
}

/// Words 2 * `pair` and the next one, in one load.
[[nodiscard]] TENDRIL_HD std::uint64_t word_pair(std::uint32_t const* words, std::uint64_t pair)
{
#ifdef __CUDA_ARCH__
  return reinterpret_cast<std::uint64_t const*>(words)[pair];  // aligned: list_directory
#else
  std::uint64_t both = 0;
  __builtin_memcpy(&both, words + 2 * pair, sizeof both);
  return both;
#endif
}

/// Four words of a graph's lists, in one load.
struct alignas(16) word_quad {
  std::uint32_t word_0, word_1, word_2, word_3;
};

/// Whether a load reads the lists of a graph, which are aligned to 16 bytes in the memory of a GPU: one of 16 bytes costs
/// a GPU what one of 4 does. Copies of rows in shared memory are not aligned.
template <class Load>
concept loads_quads = Load::quads;

/// Reads lists by quads. Any other load of 4 and 16 bytes may say so, too.
struct quad_load {
  static constexpr bool quads = true;
  template <class T>
  [[nodiscard]] TENDRIL_HD T operator()(T const* address) const
  {
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(T) == sizeof(word_quad)) {
      uint4 const words = __ldg(reinterpret_cast<uint4 const*>(address));
      return {words.x, words.y, words.z, words.w};
    } else {
      return __ldg(address);
    }
#else
    return *address;
#endif
  }
};

template <class Load>
[[nodiscard]] TENDRIL_HD word_quad quad_at(std::uint32_t const* words, std::uint64_t quad, Load load)
{
  return load(reinterpret_cast<word_quad const*>(words) + quad);
}

/// Word `k` and the one behind it, of which word 4 is `behind`.
[[nodiscard]] TENDRIL_HD std::uint64_t words_from(word_quad const& quad, std::uint32_t k, std::uint32_t behind)
{
  std::uint32_t const low = k < 2 ? (k == 0 ? quad.word_0 : quad.word_1) : (k == 2 ? quad.word_2 : quad.word_3);
  std::uint32_t const high = k < 2 ? (k == 0 ? quad.word_1 : quad.word_2) : (k == 2 ? quad.word_3 : behind);
  return low | (std::uint64_t{high} << 32U);
}

/// The number of `width` bits, 0 to 32, from `bit` on.
template <class Load>
[[nodiscard]] TENDRIL_HD std::uint32_t bits_at(std::uint32_t const* words, std::uint64_t bit, std::uint32_t width,
                                               Load load)
{
  std::uint64_t both = 0;
  if constexpr (loads_quads<Load>) {
    std::uint64_t const quad = bit >> 7U;
    auto const at = static_cast<std::uint32_t>(bit & 127U);
    std::uint32_t behind = 0;
    if (at + width > 128U) { behind = load(words + 4 * (quad + 1)); }
    both = words_from(quad_at(words, quad, load), at >> 5U, behind);
  } else {
    std::uint32_t const* const word = words + (bit >> 5U);
    both = load(word) | (std::uint64_t{load(word + 1)} << 32U);
  }
  return static_cast<std::uint32_t>(both >> (bit & 31U)) & static_cast<std::uint32_t>((std::uint64_t{1} << width) - 1U);
}

template <class Load>
[[nodiscard]] TENDRIL_HD std::uint32_t byte_at(std::uint32_t const* words, std::uint64_t byte, Load load)
{
  return load(words + (byte >> 2U)) >> (8U * (byte & 3U)) & 0xffU;
}

[[nodiscard]] TENDRIL_HD bool is(list_place const& place, list_code code)
{
  return place.header().code() == static_cast<std::uint32_t>(code);
}

/// What is added to a number at a fixed width.
[[nodiscard]] TENDRIL_HD std::uint32_t bias_of(bool near, vertex_id v, std::uint32_t width)
{
  return near ? v - (1U << (width - 1U)) : 0U;
}

/// The first word of what is aligned to words.
[[nodiscard]] TENDRIL_HD std::uint64_t word_from(std::uint64_t byte) { return (byte + 3) >> 2U; }

/// How many of a word's bits from its bit 0 on are below bit `n` of what it is word `k` of: 0 to 32.
[[nodiscard]] TENDRIL_HD std::uint32_t bits_below(std::uint32_t n, std::uint32_t k)
{
  std::uint32_t const begin = 32U * k;
  return n <= begin ? 0U : n - begin < 32U ? n - begin : 32U;
}

/// Word k of a quad without the bits below bit `begin` of the quad, 0 to 128.
[[nodiscard]] TENDRIL_HD std::uint32_t word_from_bit(std::uint32_t word, std::uint32_t begin, std::uint32_t k)
{
  return static_cast<std::uint32_t>(~std::uint64_t{0} << bits_below(begin, k)) & word;
}
/// The same without those from bit `end` on.
[[nodiscard]] TENDRIL_HD std::uint32_t word_to_bit(std::uint32_t word, std::uint32_t end, std::uint32_t k)
{
  return static_cast<std::uint32_t>((std::uint64_t{1} << bits_below(end, k)) - 1U) & word;
}
[[nodiscard]] TENDRIL_HD word_quad quad_from_bit(word_quad const& quad, std::uint32_t begin)
{
  return {word_from_bit(quad.word_0, begin, 0), word_from_bit(quad.word_1, begin, 1),
          word_from_bit(quad.word_2, begin, 2), word_from_bit(quad.word_3, begin, 3)};
}
[[nodiscard]] TENDRIL_HD std::uint32_t count_ones_to(word_quad const& quad, std::uint32_t end)
{
  return count_ones(word_to_bit(quad.word_0, end, 0)) + count_ones(word_to_bit(quad.word_1, end, 1)) +
         count_ones(word_to_bit(quad.word_2, end, 2)) + count_ones(word_to_bit(quad.word_3, end, 3));
}

/// How many ones the bits [first, first + i] have.
[[nodiscard]] TENDRIL_HD std::uint32_t count_marks(std::uint32_t const* words, std::uint64_t first, std::uint32_t i)
{
  std::uint64_t pair = first >> 6U;
  auto const at = static_cast<std::uint32_t>(first & 63U);
  std::uint64_t bits = word_pair(words, pair) >> at << at;
  std::uint32_t rank = 0;
  std::uint32_t last = at + i;
  TENDRIL_NOT_UNROLLED
  for (; last > 63U; last -= 64U) {
    rank += count_ones(bits);
    bits = word_pair(words, ++pair);
  }
  return rank + count_ones(bits << (63U - last));
}

/// The same by quads, of which the first has been read. @param at  Where the bits begin in it, 0 to 128.
template <class Load>
[[nodiscard]] TENDRIL_HD std::uint32_t count_marks(std::uint32_t const* words, std::uint64_t quad,
                                                   word_quad const& first, std::uint32_t at, std::uint32_t i, Load load)
{
  word_quad bits = quad_from_bit(first, at);
  std::uint32_t rank = 0;
  std::uint32_t end = at + i + 1U;
  TENDRIL_NOT_UNROLLED
  for (; end > 128U; end -= 128U) {
    rank += count_ones_to(bits, 128);
    bits = quad_at(words, ++quad, load);
  }
  return rank + count_ones_to(bits, end);
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
    return {bits_at(words, bit, 32, load), width, lower, lower + std::uint64_t{place.degree} * width};
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
  return {first, width, 32 * begin, 32 * (begin + (size * width + 31U) / 32U)};
}

/// How many bits from `upper` on lie before mark `in`, 0 to 127.
[[nodiscard]] TENDRIL_HD std::uint32_t find_mark(std::uint32_t const* words, std::uint64_t upper, std::uint32_t in)
{
  std::uint64_t pair = upper >> 6U;
  auto const at = static_cast<std::uint32_t>(upper & 63U);
  std::uint64_t bits = word_pair(words, pair) >> at << at;
  std::uint32_t before = 0U - at;
  TENDRIL_NOT_UNROLLED
  for (int k = 0; k < most_upper_pairs; ++k) {
    std::uint32_t const ones = count_ones(bits);
    if (in < ones) { break; }
    in -= ones;
    before += 64U;
    bits = word_pair(words, ++pair);
  }
  return before + nth_one(bits, in);
}

/// The same by quads.
template <class Load>
[[nodiscard]] TENDRIL_HD std::uint32_t find_mark(std::uint32_t const* words, std::uint64_t upper, std::uint32_t in,
                                                 Load load)
{
  std::uint64_t quad = upper >> 7U;
  auto const at = static_cast<std::uint32_t>(upper & 127U);
  // A mark is behind `in` others and, as widths are chosen, behind as many zeros and more: quads that lie before that are
  // loaded ahead of their use.
  std::uint32_t const ahead = (at + 2 * in) >> 7U;
  word_quad bits = quad_at(words, quad, load);
  word_quad next{};
  if (ahead > 0) { next = quad_at(words, quad + 1, load); }
  bits = quad_from_bit(bits, at);
  std::uint32_t before = 0U - at;
  std::uint32_t left = in;
  std::uint32_t ones_0 = 0, ones_1 = 0, ones_2 = 0;
  TENDRIL_NOT_UNROLLED
  for (std::uint32_t k = 0;; ++k) {
    ones_0 = count_ones(bits.word_0);
    ones_1 = ones_0 + count_ones(bits.word_1);
    ones_2 = ones_1 + count_ones(bits.word_2);
    std::uint32_t const ones = ones_2 + count_ones(bits.word_3);
    if (left < ones || k == most_upper_quads) { break; }
    left -= ones;
    before += 128U;
    ++quad;
    bits = k < ahead ? next : quad_at(words, quad, load);
    if (k + 1 < ahead) { next = quad_at(words, quad + 1, load); }
  }
  bool const in_upper_half = left >= ones_1;
  std::uint32_t const low = in_upper_half ? bits.word_2 : bits.word_0;
  std::uint32_t const high = in_upper_half ? bits.word_3 : bits.word_1;
  std::uint32_t const ones_before = in_upper_half ? ones_1 : 0U;
  std::uint32_t const ones_to_high = in_upper_half ? ones_2 : ones_0;
  bool const in_high = left >= ones_to_high;
  return before + (in_upper_half ? 64U : 0U) + (in_high ? 32U : 0U) +
         nth_one(in_high ? high : low, left - (in_high ? ones_to_high : ones_before));
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
    position = find_mark(words, part.upper, in, load);
  } else {
    position = find_mark(words, part.upper, in);
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
  if (in_runs) { bit = find_run_bit(words, place, i, marks); }
  bool const near = (place.header().code() & 1U) == 0;
  return bits_at(words, bit, width, load) + bias_of(near, place.vertex, width) + (in_runs ? i : 0U);
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
