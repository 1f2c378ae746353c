// Two hops that keep away from hubs: a vertex of the second hop is the quietest, that is the one of the lowest degree,
// of a few that are drawn. Messages from hubs say little, and a GNN pays for them most. "The power of two choices"
// (Mitzenmacher, IEEE TPDS 2001) as a neighbour sampler.

#pragma once

#include <cstdint>

#include <tendril/application.hpp>
#include <tendril/engine/applications/random_stream.hpp>

struct quiet_hops {
  std::int32_t fanouts[2] = {10, 5};
  std::int32_t tries = 2;  ///< Neighbours that are drawn for each vertex of the second hop. 1: uniform.

  [[nodiscard]] TENDRIL_HD int steps() const { return 2; }
  [[nodiscard]] TENDRIL_HD std::int64_t sample_size(int step) const { return fanouts[step]; }

  [[nodiscard]] TENDRIL_HD tendril::vertex_id next(auto& sample, tendril::transit_list const&, auto const& edges,
                                                   int step, tendril::random_stream& rng) const
  {
    if (edges.empty()) { return tendril::no_vertex; }
    tendril::vertex_id pick = edges[rng.bounded(edges.size())];
    for (int i = 1; step == 1 && i < tries; ++i) {
      tendril::vertex_id const other = edges[rng.bounded(edges.size())];
      if (sample.graph.degree(other) < sample.graph.degree(pick)) { pick = other; }
    }
    return pick;
  }
};
