// Random graphs. Edge k draws from counter k alone, so threads and their order don't matter. GPU twin:
// src/gpu/graph/generate.cu.

#include <algorithm>

#include <tendril/generate.hpp>

#include "base/parallel.hpp"    // parallel_ranges
#include "core/rmat.hpp"        // quadrants, scrambler
#include "generate/finish.hpp"  // drawn_edges, finish
#include "generate/params.hpp"  // expect_params, metadata_of

namespace tendril {
namespace {

constexpr int edge_batch = 256;  // what is drawn together stays in the first cache

/// Draws a batch of edges level by level, so that the compiler makes vector instructions of it: the same edges as
/// core::quadrants::draw gives one by one.
class quadrant_batch {
 public:
  explicit quadrant_batch(core::quadrants const& rule) : rule_(rule) {}

  /// The ends of the edges [first, first + size), `scale` bits each, high bit first.
  void draw(rng_key key, std::uint64_t first, int size, int scale, std::uint32_t* sources, std::uint32_t* targets) const
  {
    std::uint32_t words[4][edge_batch];
    std::uint32_t undecided[edge_batch] = {};
    std::fill(sources, sources + size, 0U);
    std::fill(targets, targets + size, 0U);
    for (int level = 0; level < scale; ++level) {
      int const part = level % core::quadrants::levels_per_block;
      if (part == 0) {
        for (int i = 0; i < size; ++i) {
          auto const block =
              core::draw_block(key, first + static_cast<std::uint64_t>(i), static_cast<std::uint32_t>(level), 0);
          for (int w = 0; w < 4; ++w) { words[w][i] = block.word[w]; }
        }
      }
      auto const* const word = words[part / 2];
      unsigned const shift = part % 2 == 0 ? 0U : 16U;
      std::uint32_t const a = rule_.first_bits[0], b = rule_.first_bits[1], c = rule_.first_bits[2];
      for (int i = 0; i < size; ++i) {
        std::uint32_t const bits = (word[i] >> shift) & 0xffffU;
        std::uint32_t const in_a = bits < a, in_b = bits < b, in_c = bits < c;
        undecided[i] |= std::uint32_t{bits == a} | std::uint32_t{bits == b} | std::uint32_t{bits == c};
        sources[i] = 2 * sources[i] + (1U - in_b);
        targets[i] = 2 * targets[i] + (1U - in_a) - (1U - in_b) + (1U - in_c);
      }
    }
    for (int i = 0; i < size; ++i) {
      if (undecided[i] == 0) { continue; }
      auto const edge = rule_.draw(key, first + static_cast<std::uint64_t>(i), scale);
      sources[i] = edge.source;
      targets[i] = edge.target;
    }
  }

 private:
  core::quadrants const& rule_;
};

}  // namespace

graph generate_rmat(rmat_params const& p, build_options const& build, edge_attributes const& extra,
                    cpu_exec const& exec)
{
  generate::expect_params(p);
  std::int64_t const num_vertices = std::int64_t{1} << static_cast<unsigned>(p.scale);
  auto const num_edges = generate::num_drawn_edges(p);
  auto edges = generate::make_room("generate_rmat", num_vertices, num_edges, build, extra, exec);
  auto const key = core::make_key(p.seed, core::domain::generator_edges);
  auto const rule = core::quadrants::of(p.a, p.b, p.c);
  quadrant_batch const levels(rule);
  auto const scramble = core::scrambler::of(p.scale, p.seed);
  base::parallel_ranges(exec, num_edges, generate::edges_a_range, [&](std::int64_t begin, std::int64_t end) {
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
  return generate::finish(std::move(edges), num_vertices, build, extra, p.seed, generate::metadata_of(p), exec);
}

graph generate_er(er_params const& p, build_options const& build, edge_attributes const& extra, cpu_exec const& exec)
{
  generate::expect_params(p);
  auto edges = generate::make_room("generate_er", p.num_vertices, p.num_edges, build, extra, exec);
  auto const key = core::make_key(p.seed, core::domain::generator_edges);
  auto const n = static_cast<std::uint64_t>(p.num_vertices);
  base::parallel_ranges(exec, p.num_edges, generate::edges_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      auto const block = core::draw_block(key, static_cast<std::uint64_t>(k), 0, 0);
      edges.sources[k] = static_cast<vertex_id>(core::bounded64(block.low(), n));
      edges.targets[k] = static_cast<vertex_id>(core::bounded64(block.high(), n));
    }
  });
  return generate::finish(std::move(edges), p.num_vertices, build, extra, p.seed, generate::metadata_of(p), exec);
}

}  // namespace tendril
