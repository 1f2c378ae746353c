// metapath2vec (Dong, Chawla & Swami, KDD'17): a walk over a graph of several vertex types that visits them in the
// order of a schema, such as author, paper, venue, paper. Among the neighbours of the wanted type each edge is as
// likely as its weight says.

#pragma once

#include <tendril/dynamic_walk.hpp>

struct metapath2vec_walk {
  static constexpr int most_types = 8;
  tendril::label_id schema[most_types];  ///< Position t of a walk has type schema[t mod size].
  int size;

  [[nodiscard]] TENDRIL_HD float weight(auto const& s, auto const& e) const
  {
    bool const wanted = s.graph.node_types[e.target()] == schema[(s.step + 1) % size];
    return wanted ? e.weight() : 0.0F;
  }

  [[nodiscard]] TENDRIL_HD bool may_start(auto const& s) const { return s.graph.node_types[s.start] == schema[0]; }
};
