// How a list of neighbours x_0 <= x_1 <= ... of vertex v is written, in one of six codes, and how one of them is read:
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
enum class list_code : std::uint8_t { fixed_near, fixed_far, runs_near, runs_far, elias_fano, vbyte };

namespace list_codes {

inline constexpr std::uint32_t sector_edges = 224;  // of runs
inline constexpr std::uint32_t sector_words = 8;    // with the changes before it
inline constexpr std::uint32_t block_edges = 128;   // of Elias-Fano
inline constexpr std::uint32_t block_words = 2;     // its first neighbour; the width of lower bits and its place
inline constexpr std::uint32_t place_bits = 27;     // of the latter, counted in words from the blocks' own
inline constexpr std::uint32_t most_upper_bits = 3 * block_edges;
inline constexpr std::uint32_t most_upper_words = most_upper_bits / 32 + 1;  // that such bits can touch
inline constexpr std::uint32_t group_edges = 32;                             // of vbyte
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

/// Where the lowest `n + 1`-th one of a word is, which has that many.
TENDRIL_HD std::uint32_t nth_one(std::uint32_t word, std::uint32_t n)
{
  std::uint32_t at = 0;
  for (std::uint32_t half = 16; half > 0; half /= 2) {
    std::uint32_t const below = count_ones(word & ((1U << half) - 1U));
    bool const right = n >= below;
    n -= right ? below : 0;
    at += right ? half : 0;
    word >>= right ? half : 0;
  }
  return at;
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

/// What is added to a number at a fixed width.
[[nodiscard]] TENDRIL_HD std::uint32_t bias_of(bool near, vertex_id v, std::uint32_t width)
{
  return near ? v - (1U << (width - 1U)) : 0U;
}

/// The first word of what is aligned to words.
[[nodiscard]] TENDRIL_HD std::uint64_t word_from(std::uint64_t byte) { return (byte + 3) >> 2U; }

/// Neighbour i of runs.
[[nodiscard]] TENDRIL_HD_CALLED std::uint32_t run_neighbor(std::uint32_t const* words, list_place place,
                                                           std::uint32_t i, bool near)
{
  constexpr plain_load load;
  std::uint32_t const width = place.header().width();
  std::uint64_t values = 8 * place.byte() + place.degree;  // the bit where they begin
  std::uint64_t first = 8 * place.byte();                  // the bit from which on changes are counted
  std::uint32_t rank = 0;
  std::uint32_t in = i;
  if (place.degree > sector_edges) {
    std::uint64_t const sectors = word_from(place.byte());
    std::uint32_t const s = i / sector_edges;
    std::uint32_t const* const sector = words + sectors + std::uint64_t{s} * sector_words;
    values = 32 * (sectors + std::uint64_t{(place.degree + sector_edges - 1) / sector_edges} * sector_words);
    rank = load(sector);
    first = 32 * (sectors + std::uint64_t{s} * sector_words + 1);
    in = i - s * sector_edges;
  }
  std::uint64_t const last = first + in;
  std::uint32_t const* word = words + (first >> 5U);
  std::uint32_t const* const end = words + (last >> 5U);
  std::uint32_t bits = load(word) & (0xffffffffU << (first & 31U));
  while (word != end) {
    rank += count_ones(bits);
    bits = load(++word);
  }
  rank += count_ones(bits << (31U - (last & 31U)));
  std::uint32_t const y = bits_at(words, values + std::uint64_t{rank - 1U} * width, width, load);
  return y + bias_of(near, place.vertex, width) + i;
}

/// Neighbour i of an Elias-Fano list.
[[nodiscard]] TENDRIL_HD_CALLED std::uint32_t elias_fano_neighbor(std::uint32_t const* words, list_place place,
                                                                  std::uint32_t i)
{
  constexpr plain_load load;
  std::uint32_t first = 0;
  std::uint32_t width = 0;
  std::uint64_t lower = 0;
  std::uint64_t upper = 0;
  std::uint32_t in = i;
  if (place.degree <= block_edges) {
    std::uint64_t const bit = 8 * place.byte();
    width = place.header().width() - 1U;
    first = bits_at(words, bit, 32, load);
    lower = bit + 32;
    upper = lower + std::uint64_t{place.degree} * width;
  } else {
    std::uint64_t const base = word_from(place.byte());
    std::uint32_t const b = i / block_edges;
    std::uint32_t const* const block = words + base + std::uint64_t{b} * block_words;
    first = load(block);
    std::uint32_t const width_and_place = load(block + 1);
    width = width_and_place >> place_bits;
    in = i % block_edges;
    std::uint32_t const left = place.degree - b * block_edges;
    std::uint32_t const size = left < block_edges ? left : block_edges;
    std::uint64_t const begin = base + (width_and_place & ((1U << place_bits) - 1U));
    lower = 32 * begin;
    upper = 32 * (begin + (size * width + 31U) / 32U);
  }
  std::uint32_t const* const word = words + (upper >> 5U);
  std::uint32_t bits = load(word) & (0xffffffffU << (upper & 31U));
  std::uint32_t left = in;
  std::uint32_t k = 0;
  for (; k + 1 < most_upper_words; ++k) {
    std::uint32_t const ones = count_ones(bits);
    if (left < ones) { break; }
    left -= ones;
    bits = load(word + k + 1);
  }
  std::uint32_t const position = 32 * k + nth_one(bits, left) - static_cast<std::uint32_t>(upper & 31U);
  std::uint32_t const low = bits_at(words, lower + std::uint64_t{in} * width, width, load);
  return first + (((position - in) << width) | low);
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
  return vbyte_neighbor(words, place, i);
}

}  // namespace list_codes
}  // namespace tendril
