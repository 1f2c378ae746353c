// Which vertices GraphSAINT's samplers draw (Zeng et al., ICLR'20), and its coefficients. A draw belongs to (sample's
// logical id, number of the draw); the sampler is in the key. Executors: src/cpu/subgraphs/saint.cpp, src/gpu/subgraphs/saint.cu.
//
// Edges need no table: a vertex with edges, uniformly, then one of its edges, uniformly, is edge (u, v) with probability
// 1 / (n deg(u)), n being the number of vertices with edges. Where both directions are stored, the undirected edge comes
// with (1 / deg(u) + 1 / deg(v)) / n.

#pragma once

#include <cstdint>

#include <tendril/graph_view.hpp>

#include "core/alias.hpp"  // alias_choose
#include "core/draws.hpp"  // saint_key

namespace tendril::core {

/// The draws of one sampler.
/// `Record` is a bucket of an alias table over all vertices, with members threshold, here and there.
template <class Record, class View>
struct saint_draws {
  View graph;
  saint_kind kind;
  rng_key key;
  std::uint32_t length;      ///< Steps of a walk.
  Record const* records;     ///< [num_vertices], for nodes.
  vertex_id const* sources;  ///< [num_sources] the vertices with edges, for edges; null where that is all of them.
  std::uint32_t num_sources;

  /// Vertices that a draw puts into the sample.
  [[nodiscard]] TENDRIL_HD std::uint32_t vertices_a_draw() const
  {
    return kind == saint_kind::node ? 1 : kind == saint_kind::edge ? 2 : length + 1;
  }

  /// Calls put(i, vertex) for i below vertices_a_draw(). A walk that ends stays where it is; no_vertex where no vertex can
  /// be drawn. The graph has vertices; for edges, edges.
  template <class Put>
  TENDRIL_HD void draw(std::uint64_t sample, std::uint32_t number, Put put) const
  {
    decision_draws<> const draws{key, sample, number};
    if (kind == saint_kind::walk) {
      auto v = static_cast<vertex_id>(bounded64(draws.half(0), static_cast<std::uint64_t>(graph.num_vertices)));
      put(0U, v);
      for (std::uint32_t step = 1; step <= length; ++step) {
        std::uint32_t const degree = graph.degree(v);
        if (degree > 0) { v = graph.neighbor(v, bounded(draws.half(step), degree)); }
        put(step, v);
      }
      return;
    }
    random_block const block = draws.block(0);
    if (kind == saint_kind::node) {
      Record const record = records[bounded(block.low(), static_cast<std::uint32_t>(graph.num_vertices))];
      put(0U, alias_choose(record, block.high()));
      return;
    }
    std::uint32_t const place = bounded(block.low(), num_sources);
    vertex_id const u = sources == nullptr ? place : sources[place];
    put(0U, u);
    put(1U, graph.neighbor(u, bounded(block.high(), graph.degree(u))));
  }
};

/// lambda and alpha: a count over a larger one, correctly rounded from the counts as floats; 0 of 0 is 0.
TENDRIL_HD float saint_ratio(std::int64_t part, std::int64_t whole)
{
  return whole == 0 ? 0.0F : static_cast<float>(part) / static_cast<float>(whole);
}

}  // namespace tendril::core
