// Philox4x32-10: a counter-based generator, ten rounds of multiply and xor over a 128-bit counter and a 64-bit key.
// Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11. Known answers: tests/core.

#pragma once

#include <cstdint>

#include <tendril/rng.hpp>  // rng_key

namespace tendril::core {

/// 128 random bits, as four words.
struct random_block {
  std::uint32_t word[4];

  [[nodiscard]] TENDRIL_HD std::uint64_t low() const { return word[0] | (std::uint64_t{word[1]} << 32U); }
  [[nodiscard]] TENDRIL_HD std::uint64_t high() const { return word[2] | (std::uint64_t{word[3]} << 32U); }
};

/// Both halves of a 32 x 32 bit product.
template <class Word>
struct word_product {
  Word high, low;
};

struct multiply_words {
  TENDRIL_HD word_product<std::uint32_t> operator()(std::uint32_t a, std::uint32_t b) const
  {
    std::uint64_t const product = std::uint64_t{a} * b;
    return {static_cast<std::uint32_t>(product >> 32U), static_cast<std::uint32_t>(product)};
  }
};

/// What round `round` of ten xors into the words.
TENDRIL_HD rng_key round_key(rng_key key, int round)
{
  return {key.lo + 0x9E3779B9U * static_cast<std::uint32_t>(round),
          key.hi + 0xBB67AE85U * static_cast<std::uint32_t>(round)};
}

/// The round keys of one key, worked out beforehand: as a kernel's argument they are operands that cost no register.
class key_schedule {
 public:
  [[nodiscard]] static TENDRIL_HD key_schedule of(rng_key key)
  {
    key_schedule out;
    for (int round = 0; round < 10; ++round) { out.keys_[round] = round_key(key, round); }
    return out;
  }
  [[nodiscard]] TENDRIL_HD rng_key of_round(int round) const { return keys_[round]; }

 private:
  rng_key keys_[10];
};

TENDRIL_HD rng_key round_key(key_schedule const& schedule, int round) { return schedule.of_round(round); }

/// The ten rounds over the words of a counter. `Word` is a 32-bit integer, or a vector of words for many counters at
/// once; `Key` is a key or its schedule; `multiply(word, constant)` gives its product's halves.
template <class Word, class Key, class Multiply>
TENDRIL_HD void philox_rounds(Word (&c)[4], Key const& key, Multiply multiply)
{
  constexpr std::uint32_t multiplier_0 = 0xD2511F53U;
  constexpr std::uint32_t multiplier_1 = 0xCD9E8D57U;
#ifdef __CUDACC__
#pragma unroll
#else
#pragma GCC unroll 10
#endif
  for (int round = 0; round < 10; ++round) {
    rng_key const own = round_key(key, round);
    word_product<Word> const product_0 = multiply(c[0], multiplier_0);
    word_product<Word> const product_1 = multiply(c[2], multiplier_1);
    c[0] = product_1.high ^ c[1] ^ own.lo;
    c[1] = product_1.low;
    c[2] = product_0.high ^ c[3] ^ own.hi;
    c[3] = product_0.low;
  }
}

/// The block of one counter under one key. Any thread may call it; it has no state.
TENDRIL_HD random_block philox4x32_10(random_block counter, rng_key key)
{
  philox_rounds(counter.word, key, multiply_words{});
  return counter;
}

/// The same by the key's schedule.
TENDRIL_HD random_block philox4x32_10(random_block counter, key_schedule const& schedule)
{
  philox_rounds(counter.word, schedule, multiply_words{});
  return counter;
}

}  // namespace tendril::core
