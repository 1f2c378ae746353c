// How bits of compressed lists are read (<tendril/list_code.hpp>): numbers of any width, the number of marks before a place,
// and the place of a mark. On a CPU by words of 64 bits; on a GPU by 16 bytes, which cost it what 4 do. Includes little, so
// that a program compiled at run time can include it too.

#pragma once

#include <cstdint>

#include <tendril/row.hpp>  // plain_load
#include <tendril/types.hpp>

namespace tendril::list_codes {

inline constexpr std::uint32_t block_edges = 128;  // of Elias-Fano
inline constexpr std::uint32_t most_upper_bits = 3 * block_edges;
inline constexpr std::uint32_t most_upper_words = most_upper_bits / 64;   // of 64 bits behind the first that they touch
inline constexpr std::uint32_t most_upper_quads = most_upper_bits / 128;  // of words behind the first that they touch

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

/// 64 bits from a byte on.
[[nodiscard]] TENDRIL_HD std::uint64_t bits_from(std::uint32_t const* words, std::uint64_t byte)
{
#ifdef __CUDA_ARCH__
  std::uint64_t const word = byte >> 2U;
  auto const shift = static_cast<std::uint32_t>(8U * (byte & 3U));
  std::uint64_t const low = words[word] | std::uint64_t{words[word + 1]} << 32U;
  return shift == 0 ? low : low >> shift | std::uint64_t{words[word + 2]} << (64U - shift);
#else
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, reinterpret_cast<unsigned char const*>(words) + byte, sizeof bits);
  return bits;
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

/// How many ones the bits [first, first + i] have; i is below 224. Where they end can't be foretold, so there is no loop; of
/// words behind the last one the last one is read, which is in the cache.
[[nodiscard]] TENDRIL_HD std::uint32_t count_marks(std::uint32_t const* words, std::uint64_t first, std::uint32_t i)
{
  std::uint64_t const byte = first >> 3U;
  auto const at = static_cast<std::uint32_t>(first & 7U);
  std::uint32_t const last = at + i;
  std::uint64_t const bits = bits_from(words, byte) >> at << at;
  if (last < 64U) { return count_ones(bits << (63U - last)); }
  std::uint32_t rank = count_ones(bits);
  for (std::uint32_t k = 1; k < 4; ++k) {
    std::uint32_t const own = last / 64U < k ? last / 64U : k;
    std::uint64_t const word = bits_from(words, byte + 8 * own);
    std::uint32_t const begin = 64U * k;
    std::uint64_t const kept = last - begin < 63U ? word << (63U - (last - begin)) : word;
    rank += last < begin ? 0U : count_ones(kept);
  }
  return rank;
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

/// How many bits from `upper` on lie before mark `in`, 0 to 127, of `size`. Few marks lie in three words, as widths are
/// chosen. In which of them can't be foretold, so there is no loop over these.
[[nodiscard]] TENDRIL_HD std::uint32_t find_mark(std::uint32_t const* words, std::uint64_t upper, std::uint32_t in,
                                                 std::uint32_t size)
{
  std::uint64_t const byte = upper >> 3U;
  auto const at = static_cast<std::uint32_t>(upper & 7U);
  std::uint64_t bits = bits_from(words, byte) >> at << at;
  std::uint32_t const last_word = (at + 3 * size) / 64U;
  if (last_word < 3) {
    std::uint64_t const second = bits_from(words, byte + 8 * (last_word < 1 ? last_word : 1U));
    std::uint64_t const third = bits_from(words, byte + 8 * last_word);
    std::uint32_t const ones = count_ones(bits);
    std::uint32_t const both = ones + count_ones(second);
    bool const in_second = in >= ones;
    bool const in_third = in >= both;
    std::uint32_t const word = (in_second ? 1U : 0U) + (in_third ? 1U : 0U);
    if (word <= last_word && in < both + count_ones(third)) {
      std::uint64_t const found = in_third ? third : in_second ? second : bits;
      return 64U * word + nth_one(found, in - (in_third ? both : in_second ? ones : 0U)) - at;
    }
  }
  std::uint32_t before = 0U - at;
  for (std::uint32_t k = 1; k <= most_upper_words; ++k) {
    std::uint32_t const ones = count_ones(bits);
    if (in < ones) { break; }
    in -= ones;
    before += 64U;
    bits = bits_from(words, byte + 8 * k);
  }
  return before + nth_one(bits, in);
}

/// The same by quads.
template <class Load>
[[nodiscard]] TENDRIL_HD std::uint32_t find_mark_by_quads(std::uint32_t const* words, std::uint64_t upper,
                                                          std::uint32_t in, Load load)
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

}  // namespace tendril::list_codes
