// Random graphs. Edge k draws from counter k alone, so threads and their order don't matter.

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <tendril/generate.hpp>

#include "core/random.hpp"            // draw_block, bounded64
#include "store/expects.hpp"          // TENDRIL_EXPECTS
#include "store/generate_finish.hpp"  // drawn_edges, finish
#include "store/parallel.hpp"         // parallel_ranges

namespace tendril {
namespace {

using store::parallel_ranges;

constexpr std::int64_t edge_grain = std::int64_t{1} << 16U;
constexpr int edge_batch = 256;  // what is drawn together stays in the first cache

/// A bijection on the ids below 2^scale: rounds of an odd multiplication, an addition and a folding of high bits onto
/// low ones.
class scrambler {
 public:
  scrambler(int scale, std::uint64_t seed) : mask_((std::uint64_t{1} << static_cast<unsigned>(scale)) - 1)
  {
    fold_ = static_cast<unsigned>(scale + 1) / 2;
    auto const key = core::make_key(seed, core::domain::generator_scramble);
    for (std::uint32_t r = 0; r < factors_.size(); ++r) {
      auto const block = core::draw_block(key, r, 0, 0);
      factors_[r] = block.low() | 1U;
      terms_[r] = block.high();
    }
  }

  [[nodiscard]] vertex_id operator()(std::uint64_t id) const
  {
    for (std::size_t r = 0; r < factors_.size(); ++r) {
      id = (id * factors_[r] + terms_[r]) & mask_;
      id ^= id >> fold_;
    }
    return static_cast<vertex_id>(id);
  }

 private:
  std::uint64_t mask_;
  unsigned fold_;
  std::array<std::uint64_t, 4> factors_{};
  std::array<std::uint64_t, 4> terms_{};
};

/// Picks a quadrant a level. 16 random bits decide almost always; where they equal the first 16 of a threshold, 47
/// more are drawn, so probabilities are exact to 2^-63.
class quadrants {
 public:
  quadrants(double a, double b, double c)
  {
    std::array<double, 3> const sums{a, a + b, a + b + c};
    for (std::size_t i = 0; i < 3; ++i) {
      thresholds_[i] = static_cast<std::uint64_t>(std::min(sums[i], 1.0) * 0x1p63);
      first_bits_[i] = static_cast<std::uint32_t>(thresholds_[i] >> 47U);
    }
  }

  /// The ends of the edges [first, first + size), `scale` bits each, high bit first. Level by level over all of them,
  /// so that the compiler makes vector instructions of it.
  void draw(rng_key key, std::uint64_t first, int size, int scale, std::uint32_t* sources, std::uint32_t* targets) const
  {
    std::uint32_t words[4][edge_batch];
    std::uint32_t undecided[edge_batch] = {};
    std::fill(sources, sources + size, 0U);
    std::fill(targets, targets + size, 0U);
    for (int level = 0; level < scale; ++level) {
      int const part = level % levels_per_block;
      if (part == 0) {
        for (int i = 0; i < size; ++i) {
          auto const block =
              core::draw_block(key, first + static_cast<std::uint64_t>(i), static_cast<std::uint32_t>(level), 0);
          for (int w = 0; w < 4; ++w) { words[w][i] = block.word[w]; }
        }
      }
      auto const* const word = words[part / 2];
      unsigned const shift = part % 2 == 0 ? 0U : 16U;
      std::uint32_t const a = first_bits_[0], b = first_bits_[1], c = first_bits_[2];
      for (int i = 0; i < size; ++i) {
        std::uint32_t const bits = (word[i] >> shift) & 0xffffU;
        std::uint32_t const in_a = bits < a, in_b = bits < b, in_c = bits < c;
        undecided[i] |= std::uint32_t{bits == a} | std::uint32_t{bits == b} | std::uint32_t{bits == c};
        sources[i] = 2 * sources[i] + (1U - in_b);
        targets[i] = 2 * targets[i] + (1U - in_a) - (1U - in_b) + (1U - in_c);
      }
    }
    for (int i = 0; i < size; ++i) {
      if (undecided[i] != 0) {
        draw_exactly(key, first + static_cast<std::uint64_t>(i), scale, sources[i], targets[i]);
      }
    }
  }

 private:
  static constexpr int levels_per_block = 8;

  void draw_exactly(rng_key key, std::uint64_t k, int scale, std::uint32_t& source, std::uint32_t& target) const
  {
    source = target = 0;
    core::random_block block{};
    for (int level = 0; level < scale; ++level) {
      auto const step = static_cast<std::uint32_t>(level);
      int const part = level % levels_per_block;
      if (part == 0) { block = core::draw_block(key, k, step, 0); }
      std::uint64_t const bits = (block.word[part / 2] >> (part % 2 == 0 ? 0U : 16U)) & 0xffffU;
      std::uint64_t value = bits << 47U;
      if (bits == first_bits_[0] || bits == first_bits_[1] || bits == first_bits_[2]) {
        value |= core::draw_block(key, k, step, 1).low() >> 17U;
      }
      auto const quadrant = std::uint32_t{value >= thresholds_[0]} + std::uint32_t{value >= thresholds_[1]} +
                            std::uint32_t{value >= thresholds_[2]};
      source = 2 * source + (quadrant >> 1U);
      target = 2 * target + (quadrant & 1U);
    }
  }

  std::array<std::uint64_t, 3> thresholds_{};
  std::array<std::uint32_t, 3> first_bits_{};  // of 63
};

}  // namespace

graph generate_rmat(rmat_params const& p, build_options const& build, decoration const& extra, cpu_exec const& exec)
{
  TENDRIL_EXPECTS(p.scale >= 1 && p.scale <= 31, "generate_rmat: scale is {}, expected 1 to 31", p.scale);
  TENDRIL_EXPECTS(p.edge_factor >= 0 && p.edge_factor <= 0x1p20,
                  "generate_rmat: edge_factor is {}, expected 0 to 1048576", p.edge_factor);
  TENDRIL_EXPECTS(p.a >= 0 && p.b >= 0 && p.c >= 0 && p.a + p.b + p.c <= 1 + 1e-9,
                  "generate_rmat: a, b, c are {}, {}, {}, expected numbers >= 0 with a sum of at most 1", p.a, p.b,
                  p.c);
  std::int64_t const num_vertices = std::int64_t{1} << static_cast<unsigned>(p.scale);
  auto const num_edges = std::llround(p.edge_factor * static_cast<double>(num_vertices));
  auto edges = store::make_room("generate_rmat", num_vertices, num_edges, build, extra, exec);
  auto const key = core::make_key(p.seed, core::domain::generator_edges);
  quadrants const levels(p.a, p.b, p.c);
  scrambler const scramble(p.scale, p.seed);
  parallel_ranges(exec, num_edges, edge_grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; k += edge_batch) {
      auto const size = static_cast<int>(std::min<std::int64_t>(edge_batch, end - k));
      auto* const sources = edges.sources.data() + k;
      auto* const targets = edges.targets.data() + k;
      levels.draw(key, static_cast<std::uint64_t>(k), size, p.scale, sources, targets);
      if (!p.scramble) { continue; }
      for (int i = 0; i < size; ++i) {
        sources[i] = scramble(sources[i]);
        targets[i] = scramble(targets[i]);
      }
    }
  });
  return store::finish(std::move(edges), num_vertices, build, extra, p.seed, fmt::format("rmat-{}", p.scale),
                       fmt::format("generated: R-MAT, scale {}, edge_factor {}, a {}, b {}, c {}, scramble {}, seed {}",
                                   p.scale, p.edge_factor, p.a, p.b, p.c, p.scramble, p.seed),
                       exec);
}

graph generate_er(er_params const& p, build_options const& build, decoration const& extra, cpu_exec const& exec)
{
  TENDRIL_EXPECTS(p.num_vertices >= 0 && p.num_vertices <= max_num_vertices,
                  "generate_er: num_vertices is {}, expected 0 to {}", p.num_vertices, max_num_vertices);
  TENDRIL_EXPECTS(p.num_edges >= 0, "generate_er: num_edges is {}, expected 0 or more", p.num_edges);
  TENDRIL_EXPECTS(p.num_edges == 0 || p.num_vertices > 0, "generate_er: {} edges, expected none without vertices",
                  p.num_edges);
  auto edges = store::make_room("generate_er", p.num_vertices, p.num_edges, build, extra, exec);
  auto const key = core::make_key(p.seed, core::domain::generator_edges);
  auto const n = static_cast<std::uint64_t>(p.num_vertices);
  parallel_ranges(exec, p.num_edges, edge_grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      auto const block = core::draw_block(key, static_cast<std::uint64_t>(k), 0, 0);
      edges.sources[k] = static_cast<vertex_id>(core::bounded64(block.low(), n));
      edges.targets[k] = static_cast<vertex_id>(core::bounded64(block.high(), n));
    }
  });
  return store::finish(
      std::move(edges), p.num_vertices, build, extra, p.seed, "er",
      fmt::format("generated: Erdős–Rényi G(n, m), n {}, m {}, seed {}", p.num_vertices, p.num_edges, p.seed), exec);
}

}  // namespace tendril
