// Which random number belongs to which decision. docs/reproducibility.md states the same scheme in prose.

#pragma once

#include <cstdint>

#include "core/philox.hpp"

namespace tendril::core {

/// One constant an algorithm, folded into the key, so that no two algorithms share random numbers. The values are
/// part of the contract: they never change, and new ones are added at the end.
enum class domain : std::uint32_t {
  first_order_walk = 1,
  second_order_walk = 2,
  metapath_walk = 3,
  walk_end = 4,  ///< Stop and restart decisions of every walk.
  khop = 5,
  minibatch = 6,
  start_vertices = 7,
  multidim_walk = 8,
  dynamic_walk = 9,
  application = 10,  ///< Sampling applications of the general API.
  layer = 11,        ///< Layer-wise importance sampling: FastGCN, LADIES, MVS.
  cluster = 12,      ///< Random clusters, and which of them make a batch.
  saint = 13,        ///< GraphSAINT's samplers.
  shadow = 14,       ///< ShaDow's neighbourhoods.
  labor = 15,        ///< LABOR's random number of each vertex.
  generator_edges = 16,
  generator_degrees = 17,
  generator_scramble = 18,
  generator_weights = 19,
  generator_labels = 20,
  generator_node_types = 21,
  negatives = 22,      ///< Negative links.
  vertex_order = 23,   ///< Orders of vertices by label propagation.
  generator_web = 24,  ///< Web-like graphs (core/web_graph.hpp).
  hgt = 25,            ///< HGSampling.
};

/// The key of an algorithm under a user's seed. `fold` tells apart streams of one algorithm (batch numbers).
TENDRIL_HD rng_key make_key(std::uint64_t seed, domain which, std::uint64_t fold = 0)
{
  random_block const counter{{static_cast<std::uint32_t>(fold), static_cast<std::uint32_t>(fold >> 32U),
                              static_cast<std::uint32_t>(which), 0x444E4554U}};  // "TEND"
  random_block const out =
      philox4x32_10(counter, rng_key{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)});
  return {out.word[0], out.word[1]};
}

/// The counter of draw `draw` that logical item `item` makes at its step `step`.
TENDRIL_HD random_block draw_counter(std::uint64_t item, std::uint32_t step, std::uint32_t draw)
{
  return {{static_cast<std::uint32_t>(item), static_cast<std::uint32_t>(item >> 32U), step, draw}};
}

/// The 128 bits of that draw.
TENDRIL_HD random_block draw_block(rng_key key, std::uint64_t item, std::uint32_t step, std::uint32_t draw)
{
  return philox4x32_10(draw_counter(item, step, draw), key);
}
TENDRIL_HD random_block draw_block(key_schedule const& key, std::uint64_t item, std::uint32_t step, std::uint32_t draw)
{
  return philox4x32_10(draw_counter(item, step, draw), key);
}

/// Where many draws of 64 bits are made (slots of a fan-out), two share a block: draw i is half i mod 2 of block
/// `first_draw` + i / 2. Races draw their halves apart (core/race.hpp).
TENDRIL_HD std::uint64_t draw_bits(rng_key key, std::uint64_t item, std::uint32_t step, std::uint32_t first_draw,
                                   std::uint32_t i)
{
  random_block const block = draw_block(key, item, step, first_draw + i / 2);
  return i % 2 == 0 ? block.low() : block.high();
}

/// Races of a walk start here, far above any number of rejection trials.
inline constexpr std::uint32_t race_draws = 0x80000000U;

/// The high half of a 64 x 64 bit product.
TENDRIL_HD std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b)
{
#ifdef __CUDA_ARCH__
  return __umul64hi(a, b);
#else
  __extension__ using uint128 = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<uint128>(a) * b) >> 64U);
#endif
}

/// An integer in [0, size) from 64 random bits; the bias is below size / 2^64 (Lemire, TOMACS 2019, without the
/// correction, which 64 bits make needless). `size` > 0.
TENDRIL_HD std::uint32_t bounded(std::uint64_t bits, std::uint32_t size)
{
  return static_cast<std::uint32_t>(multiply_high(bits, size));
}

/// The same for sizes beyond 32 bits.
TENDRIL_HD std::uint64_t bounded64(std::uint64_t bits, std::uint64_t size) { return multiply_high(bits, size); }

/// A number in [0, 1), a multiple of 2^-53, from 64 random bits.
TENDRIL_HD double unit_interval(std::uint64_t bits) { return static_cast<double>(bits >> 11U) * 0x1p-53; }

/// A probability as a threshold for 64 random bits: exact for multiples of 2^-64, and for 0 and 1.
struct probability {
  std::uint64_t threshold = 0;
  bool certain = false;

  [[nodiscard]] TENDRIL_HD bool hit(std::uint64_t bits) const { return certain || bits < threshold; }

  /// `p` in [0, 1].
  [[nodiscard]] static TENDRIL_HD probability of(double p)
  {
    return p >= 1 ? probability{0, true} : probability{static_cast<std::uint64_t>(p * 0x1p64), false};
  }
};

}  // namespace tendril::core
