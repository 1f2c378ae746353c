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
inline constexpr int most_upper_pairs = most_upper_bits / 64;  // of words behind the first that they touch
inline constexpr std::uint32_t group_edges = 32;               // of vbyte
inline constexpr std::uint32_t first_run_bits = 6;             // of runs and Elias-Fano, before the first neighbour
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

/// The number of `width` bits, 0 to 32, from `bit` on.
template <class Load>
[[nodiscard]] TENDRIL_HD std::uint32_t bits_at(std::uint32_t const* words, std::uint64_t bit, std::uint32_t width,
                                               Load load)
{
  std::uint32_t const* const word = words + (bit >> 5U);
  std::uint64_t const both = load(word) | (std::uint64_t{load(word + 1)} << 32U);
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

/// The bit where the y of edge i of runs begins.
[[nodiscard]] TENDRIL_HD std::uint64_t run_bit(std::uint32_t const* words, list_place const& place, std::uint32_t i)
{
  std::uint32_t const width = place.header().width();
  std::uint64_t values = 8 * place.byte() + place.degree;  // the bit where they begin
  std::uint64_t first = 8 * place.byte();                  // the bit from which on changes are counted
  std::uint32_t rank = 0;
  std::uint32_t in = i;
  if (place.degree > sector_edges) {
    std::uint64_t const sectors = word_from(place.byte());
    std::uint32_t const s = i / sector_edges;
    std::uint64_t const sector = sectors + std::uint64_t{s} * sector_words;
    values = 32 * (sectors + std::uint64_t{(place.degree + sector_edges - 1) / sector_edges} * sector_words);
    rank = words[sector];
    first = 32 * (sector + 1);
    in = i - s * sector_edges;
  }
  rank += count_marks(words, first, in);
  return values + std::uint64_t{rank - 1U} * width;
}

/// Neighbour i of runs.
[[nodiscard]] TENDRIL_HD_CALLED std::uint32_t run_neighbor(std::uint32_t const* words, list_place place,
                                                           std::uint32_t i, bool near)
{
  std::uint32_t const width = place.header().width();
  std::uint32_t const y = bits_at(words, run_bit(words, place, i), width, plain_load{});
  return y + bias_of(near, place.vertex, width) + i;
}

/// Up to 128 edges of an Elias-Fano list: all of a short one, or a block of a long one.
struct elias_fano_part {
  std::uint32_t first;         ///< Neighbour.
  std::uint32_t width;         ///< Of lower bits.
  std::uint64_t lower, upper;  ///< The bits where they begin.
};

/// The part that edge i is in.
[[nodiscard]] TENDRIL_HD elias_fano_part part_of(std::uint32_t const* words, list_place const& place, std::uint32_t i)
{
  if (place.degree <= block_edges) {
    std::uint64_t const bit = 8 * place.byte();
    std::uint32_t const width = place.header().width() - 1U;
    std::uint64_t const lower = bit + 32;
    return {bits_at(words, bit, 32, plain_load{}), width, lower, lower + std::uint64_t{place.degree} * width};
  }
  std::uint64_t const base = word_from(place.byte());
  std::uint32_t const b = i / block_edges;
  std::uint64_t const block = base + std::uint64_t{b} * block_words;
  std::uint32_t const width_and_place = words[block + 1];
  std::uint32_t const width = width_and_place >> place_bits;
  std::uint32_t const left = place.degree - b * block_edges;
  std::uint32_t const size = left < block_edges ? left : block_edges;
  std::uint64_t const begin = base + (width_and_place & ((1U << place_bits) - 1U));
  return {words[block], width, 32 * begin, 32 * (begin + (size * width + 31U) / 32U)};
}

/// How many bits from `upper` on lie before mark `in`, 0 to 127.
[[nodiscard]] TENDRIL_HD std::uint32_t find_mark(std::uint32_t const* words, std::uint64_t upper, std::uint32_t in)
{
  std::uint64_t pair = upper >> 6U;
  auto const at = static_cast<std::uint32_t>(upper & 63U);
  std::uint64_t bits = word_pair(words, pair) >> at << at;
  std::uint64_t next = word_pair(words, pair + 1);  // ahead of its use: most searches end in the first two
  std::uint32_t before = 0U - at;
  TENDRIL_NOT_UNROLLED
  for (int k = 0; k < most_upper_pairs; ++k) {
    std::uint32_t const ones = count_ones(bits);
    if (in < ones) { break; }
    in -= ones;
    before += 64U;
    bits = next;
    next = word_pair(words, ++pair + 1);
  }
  return before + nth_one(bits, in);
}

/// Neighbour i of an Elias-Fano list.
[[nodiscard]] TENDRIL_HD_CALLED std::uint32_t elias_fano_neighbor(std::uint32_t const* words, list_place place,
                                                                  std::uint32_t i)
{
  elias_fano_part const part = part_of(words, place, i);
  std::uint32_t const in = place.degree <= block_edges ? i : i % block_edges;
  std::uint32_t const low = bits_at(words, part.lower + std::uint64_t{in} * part.width, part.width, plain_load{});
  std::uint32_t const position = find_mark(words, part.upper, in);
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

/// Reads runs and Elias-Fano: <tendril/list_runs_ef.hpp>.
template <class Load>
struct run_elias_fano_code;

/// Neighbour i < place.degree of the list at `place`.
template <class Load>
[[nodiscard]] TENDRIL_HD std::uint32_t neighbor_at(std::uint32_t const* words, list_place const& place, std::uint32_t i,
                                                   Load load)
{
  auto const code = static_cast<list_code>(place.header().code());
  if (code <= list_code::fixed_far) {
    std::uint32_t const width = place.header().width();
    return bits_at(words, 8 * place.byte() + std::uint64_t{i} * width, width, load) +
           bias_of(code == list_code::fixed_near, place.vertex, width);
  }
  if (code <= list_code::runs_far) { return run_neighbor(words, place, i, code == list_code::runs_near); }
  if (code == list_code::elias_fano) { return elias_fano_neighbor(words, place, i); }
  if (code == list_code::vbyte) { return vbyte_neighbor(words, place, i); }
  return run_elias_fano_code<Load>::neighbor(words, place, i);
}

}  // namespace list_codes
}  // namespace tendril

#include <tendril/list_runs_ef.hpp>
