// The exponential race: of candidates with weights w_i the one with the smallest E_i / w_i wins, E_i independent
// exponentials; the k smallest are k draws without replacement (Efraimidis & Spirakis, IPL 2006, in its
// exponential form). One pass, no memory, and associative: any order of comparisons finds the same winner.

#pragma once

#include <cstdint>

#include "core/float_bits.hpp"
#include "core/random.hpp"

namespace tendril::core {

/// Loses every race: no candidate has this key.
inline constexpr std::uint32_t race_never = 0xffffffffU;

/// An order-preserving integer for E / w: exponent of the quotient in the upper 9 bits, its mantissa in the lower 23.
/// Defined for every positive finite float w, subnormal ones too, without overflow or underflow, since the exponent
/// of w is subtracted as an integer; the mantissas are divided as E * (1 / m), both operations correctly rounded.
TENDRIL_HD std::uint32_t race_key(float exponential_variate, float weight)
{
  if (!(weight > 0)) { return race_never; }
  scaled_integer const w = decompose(weight);
  float const m = bits_to_float(0x3f000000U + w.mantissa);  // in [1, 2): 0x3f800000 | fraction
  float const quotient = exponential_variate * reciprocal(m);
  int const weight_exponent = w.exponent + 23;  // weight = m * 2^weight_exponent, in [-149, 127]
  return float_to_bits(quotient) + (static_cast<std::uint32_t>(66 - weight_exponent) << 23U);
}

/// A candidate of a race as one integer: smaller is better, ties go to the lower index.
TENDRIL_HD std::uint64_t race_entry(std::uint32_t key, std::uint32_t index)
{
  return (std::uint64_t{key} << 32U) | index;
}

inline constexpr std::uint64_t race_nobody = ~std::uint64_t{0};

TENDRIL_HD bool race_has_winner(std::uint64_t entry) { return (entry >> 32U) != race_never; }
TENDRIL_HD std::uint32_t race_index(std::uint64_t entry) { return static_cast<std::uint32_t>(entry); }

/// Runs one race over `size` candidates with weights weight_of(i), drawing from (key, item, step, first_draw + i / 2).
/// @return the winner's entry; race_has_winner is false if no weight is positive.
template <class WeightOf>
TENDRIL_HD std::uint64_t race_one(std::uint32_t size, WeightOf weight_of, rng_key key, std::uint64_t item,
                                  std::uint32_t step, std::uint32_t first_draw)
{
  std::uint64_t best = race_nobody;
  for (std::uint32_t i = 0; i < size; i += 2) {
    random_block const block = draw_block(key, item, step, first_draw + i / 2);
    std::uint64_t const first = race_entry(race_key(exponential(block.low()), weight_of(i)), i);
    best = first < best ? first : best;
    if (i + 1 < size) {
      std::uint64_t const second = race_entry(race_key(exponential(block.high()), weight_of(i + 1)), i + 1);
      best = second < best ? second : best;
    }
  }
  return best;
}

/// The k >= 1 smallest entries of a race, ascending, into `winners` [k]; entries without a winner are race_nobody.
/// Keeps a sorted list: made for fan-outs, where almost every candidate loses against the last of the list.
template <class WeightOf>
TENDRIL_HD void race_k(std::uint32_t size, WeightOf weight_of, std::uint32_t k, std::uint64_t* winners, rng_key key,
                       std::uint64_t item, std::uint32_t step, std::uint32_t first_draw)
{
  for (std::uint32_t j = 0; j < k; ++j) { winners[j] = race_nobody; }
  auto const enter = [&](std::uint64_t entry) {
    if (entry >= winners[k - 1] || !race_has_winner(entry)) { return; }
    std::uint32_t j = k - 1;
    for (; j > 0 && winners[j - 1] > entry; --j) { winners[j] = winners[j - 1]; }
    winners[j] = entry;
  };
  for (std::uint32_t i = 0; i < size; i += 2) {
    random_block const block = draw_block(key, item, step, first_draw + i / 2);
    enter(race_entry(race_key(exponential(block.low()), weight_of(i)), i));
    if (i + 1 < size) { enter(race_entry(race_key(exponential(block.high()), weight_of(i + 1)), i + 1)); }
  }
}

}  // namespace tendril::core
