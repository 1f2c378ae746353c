#pragma once

// Dynamic walks to test the engines with. Host and device.

#include <cstdint>

#include <tendril/dynamic_walk.hpp>

namespace tendril::test {

/// A weight that depends on everything: where the walk is, where it was, how far, and the edge. In [1, 8].
struct moody_walk {
  [[nodiscard]] TENDRIL_HD float weight(auto const& s, auto const& e) const
  {
    std::uint32_t const before = s.previous == no_vertex ? 3 : s.previous;
    return static_cast<float>(1 + (e.target() * 5 + before + static_cast<std::uint32_t>(s.step) + e.position()) % 8);
  }
};

/// The same with everything that an engine can make use of; no walk may change by it but for the rule.
struct bounded_moody_walk : moody_walk {
  [[nodiscard]] TENDRIL_HD float bound(auto const&) const { return 8; }
  [[nodiscard]] TENDRIL_HD float floor(auto const&) const { return 1; }
};

struct unfloored_moody_walk : moody_walk {
  [[nodiscard]] TENDRIL_HD float bound(auto const&) const { return 8; }
};

struct edge_bounded_moody_walk : moody_walk {
  [[nodiscard]] TENDRIL_HD float bound(auto const& s, auto const& e) const
  {
    return weight(s, e) * (e.position() % 3 == 0 ? 1.0F : 2.5F);
  }
};

/// The graph's weights, against the largest of the vertex: weights over 12 orders of magnitude tire out trials.
struct weighted_walk {
  [[nodiscard]] TENDRIL_HD float weight(auto const&, auto const& e) const { return e.weight(); }
  [[nodiscard]] TENDRIL_HD float bound(auto const& s) const { return s.graph.has_weights() ? s.largest_weight : 1.0F; }
};

/// Ends on vertices that are multiples of 5, once it has moved; doesn't set out from multiples of 7; follows previous
/// edges' positions.
struct ending_walk {
  [[nodiscard]] TENDRIL_HD float weight(auto const& s, auto const& e) const
  {
    return e.index() == s.previous_edge + 1 ? 4.0F : 1.0F;
  }
  [[nodiscard]] TENDRIL_HD bool stop(auto const& s) const { return s.step > 0 && s.vertex % 5 == 0; }
  [[nodiscard]] TENDRIL_HD bool may_start(auto const& s) const { return s.start % 7 != 0; }
};

/// Weighs an edge wrongly when walk `walk` sees it at step `step`: `at` of the candidates from `from` on.
struct wrong_walk {
  std::uint64_t walk;
  std::int32_t step;
  std::uint32_t from;
  float value;

  [[nodiscard]] TENDRIL_HD float weight(auto const& s, auto const& e) const
  {
    return s.walk >= walk && s.step == step && e.position() >= from ? value : 1.0F;
  }
};

/// The same through rejection, where `value` may also exceed the bound.
struct wrong_bounded_walk : wrong_walk {
  float limit;
  [[nodiscard]] TENDRIL_HD float bound(auto const&) const { return limit; }
};

/// The same through the race's bound of an edge.
struct wrong_edge_bounded_walk : wrong_walk {
  [[nodiscard]] TENDRIL_HD float bound(auto const&, auto const&) const { return 2; }
};

}  // namespace tendril::test
