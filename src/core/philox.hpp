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

/// The block of one counter under one key. Any thread may call it; it has no state.
TENDRIL_HD random_block philox4x32_10(random_block counter, rng_key key)
{
  constexpr std::uint32_t multiplier_0 = 0xD2511F53U;
  constexpr std::uint32_t multiplier_1 = 0xCD9E8D57U;
  constexpr std::uint32_t weyl_0 = 0x9E3779B9U;
  constexpr std::uint32_t weyl_1 = 0xBB67AE85U;
  std::uint32_t c0 = counter.word[0], c1 = counter.word[1], c2 = counter.word[2], c3 = counter.word[3];
#ifdef __CUDACC__
#pragma unroll
#else
#pragma GCC unroll 10
#endif
  for (int round = 0; round < 10; ++round) {
    std::uint64_t const product_0 = std::uint64_t{multiplier_0} * c0;
    std::uint64_t const product_1 = std::uint64_t{multiplier_1} * c2;
    c0 = static_cast<std::uint32_t>(product_1 >> 32U) ^ c1 ^ key.lo;
    c1 = static_cast<std::uint32_t>(product_1);
    c2 = static_cast<std::uint32_t>(product_0 >> 32U) ^ c3 ^ key.hi;
    c3 = static_cast<std::uint32_t>(product_0);
    key.lo += weyl_0;
    key.hi += weyl_1;
  }
  return {{c0, c1, c2, c3}};
}

}  // namespace tendril::core
