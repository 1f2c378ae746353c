// The ends of an R-MAT edge: a quadrant a level, and a bijection that scrambles vertex ids. Edge k draws from counter k
// alone. Chakrabarti, Zhan, Faloutsos, "R-MAT: a recursive model for graph mining", SDM'04.

#pragma once

#include <cstdint>

#include "core/random.hpp"

namespace tendril::core {

/// The two ends of an edge as it was drawn.
struct drawn_edge {
  vertex_id source;
  vertex_id target;
};

/// A bijection on the ids below 2^scale: rounds of an odd multiplication, an addition and a folding of high bits onto
/// low ones.
struct scrambler {
  static constexpr int num_rounds = 4;

  std::uint64_t mask = 0;
  unsigned fold = 0;
  std::uint64_t factors[num_rounds] = {};
  std::uint64_t terms[num_rounds] = {};

  [[nodiscard]] static scrambler of(int scale, std::uint64_t seed)
  {
    scrambler out;
    out.mask = (std::uint64_t{1} << static_cast<unsigned>(scale)) - 1;
    out.fold = static_cast<unsigned>(scale + 1) / 2;
    rng_key const key = make_key(seed, domain::generator_scramble);
    for (std::uint32_t r = 0; r < num_rounds; ++r) {
      random_block const block = draw_block(key, r, 0, 0);
      out.factors[r] = block.low() | 1U;
      out.terms[r] = block.high();
    }
    return out;
  }

  /// The new id of a vertex. Any thread.
  [[nodiscard]] TENDRIL_HD vertex_id operator()(std::uint64_t id) const
  {
    for (int r = 0; r < num_rounds; ++r) {
      id = (id * factors[r] + terms[r]) & mask;
      id ^= id >> fold;
    }
    return static_cast<vertex_id>(id);
  }
};

/// Picks a quadrant a level. 16 random bits decide almost always; where they equal the first 16 of a threshold, 47
/// more are drawn, so probabilities are exact to 2^-63.
struct quadrants {
  static constexpr int levels_per_block = 8;  ///< Level l of an edge has 16 bits of the block of step l - l % 8.

  std::uint64_t thresholds[3] = {};  ///< Of 63 bits: sums of the probabilities of the quadrants so far.
  std::uint32_t first_bits[3] = {};  ///< Their upper 16.

  [[nodiscard]] static quadrants of(double a, double b, double c)
  {
    double const sums[3] = {a, a + b, a + b + c};
    quadrants out;
    for (int i = 0; i < 3; ++i) {
      out.thresholds[i] = static_cast<std::uint64_t>((sums[i] < 1.0 ? sums[i] : 1.0) * 0x1p63);
      out.first_bits[i] = static_cast<std::uint32_t>(out.thresholds[i] >> 47U);
    }
    return out;
  }

  /// The ends of edge k, `scale` bits each, high bit first. Any thread.
  [[nodiscard]] TENDRIL_HD drawn_edge draw(rng_key key, std::uint64_t k, int scale) const
  {
    drawn_edge edge{0, 0};
    random_block block{};
    for (int level = 0; level < scale; ++level) {
      auto const step = static_cast<std::uint32_t>(level);
      int const part = level % levels_per_block;
      if (part == 0) { block = draw_block(key, k, step, 0); }
      // Part 0 is the lower half of word 0, part 1 its upper half, part 2 the lower half of word 1, …
      std::uint64_t const half = part < 4 ? block.low() : block.high();
      std::uint64_t const bits = (half >> (16U * static_cast<unsigned>(part % 4))) & 0xffffU;
      std::uint64_t value = bits << 47U;
      if (bits == first_bits[0] || bits == first_bits[1] || bits == first_bits[2]) {
        value |= draw_block(key, k, step, 1).low() >> 17U;
      }
      std::uint32_t const quadrant = std::uint32_t{value >= thresholds[0]} + std::uint32_t{value >= thresholds[1]} +
                                     std::uint32_t{value >= thresholds[2]};
      edge.source = 2 * edge.source + (quadrant >> 1U);
      edge.target = 2 * edge.target + (quadrant & 1U);
    }
    return edge;
  }
};

}  // namespace tendril::core
