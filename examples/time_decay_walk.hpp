// A walk on a graph whose edge weights are times (it has weights): it goes on along edges that are not older than the
// one it came by, the sooner the likelier. As in continuous-time dynamic network embeddings (Nguyen et al., BigNet'18),
// with a decay that needs no exponential, so that CPU and GPU agree to the bit.

#pragma once

#include <tendril/dynamic_walk.hpp>

struct time_decay_walk {
  float tau;  ///< After a gap of tau an edge weighs half as much as one that follows at once. Positive.

  [[nodiscard]] TENDRIL_HD float weight(auto const& s, auto const& e) const
  {
    if (s.previous == tendril::no_vertex) { return 1; }  // any time will do to begin with
    float const gap = e.weight() - s.previous_weight();
    return gap < 0 ? 0.0F : 1 / (1 + gap / tau);
  }

  [[nodiscard]] TENDRIL_HD float bound(auto const&) const { return 1; }
};
