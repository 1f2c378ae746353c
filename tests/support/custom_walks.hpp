// Walks as text and compiled ahead of time, for the tests of both sides.

#pragma once

#include <string>

#include <tendril/dynamic_walk.hpp>

#include "support/source_text.hpp"

/// Defines a struct, and its text as NAME_text.
#define TENDRIL_TEXT_WALK(NAME, ...) \
  struct NAME __VA_ARGS__;           \
  inline std::string const NAME##_text = "struct " #NAME " " #__VA_ARGS__ ";";

namespace tendril::test {

/// A member function: the smaller the graph's weight the likelier, by an expression for a constant.
inline std::string weight_of(std::string const& constant)
{
  return "float weight(walk_state const&, walk_edge const& e) const { return 1 / (e.weight() + (" + constant + ")); }";
}

// Every function that a walk may have, in structs that draw small weights.

TENDRIL_TEXT_WALK(small_weights_walk, {
  TENDRIL_HD float weight(walk_state const&, walk_edge const& e) const { return 1 / (e.weight() + 1);
}  // namespace tendril::test
})

TENDRIL_TEXT_WALK(edge_bound_walk, {
  TENDRIL_HD float weight(walk_state const& s, walk_edge const& e) const
  {
    return e.target() == s.previous ? 0.0F : 1 / (e.weight() + 1);
}
TENDRIL_HD float bound(walk_state const&, walk_edge const& e) const { return e.index() < 0 ? 0.0F : 1.0F; }
})

TENDRIL_TEXT_WALK(rejecting_walk, {
  float low;
  TENDRIL_HD float weight(walk_state const&, walk_edge const& e) const { return 1 / (e.weight() + low); }
  TENDRIL_HD float bound(walk_state const&) const { return 1 / low; }
  TENDRIL_HD float floor(walk_state const& s) const { return 1 / (s.largest_weight + low); }
  TENDRIL_HD bool stop(walk_state const& s) const { return s.vertex % 7 == 0 && s.step > 9; }
  TENDRIL_HD bool may_start(walk_state const& s) const { return s.start % 5 != 0; }
})

// Everything that a struct may read on the parts of a graph.
TENDRIL_TEXT_WALK(all_of_state_walk, {
  TENDRIL_HD float weight(walk_state const& s, walk_edge const& e) const
  {
    float out = e.weight() * (1 + e.label()) + 0.25F * (e.position() % 3) + (e.index() % 5);
    if (e.target() == s.previous) {
  out *= 0.5F; }
    if (e.target() == s.start) {
  out *= 3; }
    out += s.graph.node_types[e.target()] + (s.step + s.walk) % 2;
    return out + e.row().degree() % 3 + (e.target() < s.graph.num_vertices / 2 ? 1 : 0);
}
TENDRIL_HD bool stop(walk_state const& s) const { return s.vertex % 31 == 7; }
})

TENDRIL_TEXT_WALK(signed_walk, {
  float sign;
  TENDRIL_HD float weight(walk_state const&, walk_edge const& e) const { return sign * e.weight(); }
})

}  // namespace tendril::test
