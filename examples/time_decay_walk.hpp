// A walk on a graph whose edge weights are times (it has weights): it goes on along edges that are not older than the
// one it came by, the sooner the likelier. As in continuous-time dynamic network embeddings (Nguyen et al., BigNet'18),
// with a decay that needs no exponential, so that CPU and GPU agree to the bit.

#pragma once

#include <tendril/dynamic_walk.hpp>

struct time_decay_walk {
  float tau;  ///< After a gap of tau an edge weighs half as much as one that follows at once. Positive.

  [[nodiscard]] TENDRIL_HD float weight(tendril::walk_state const& s, tendril::walk_edge const& e) const
  {
    if (s.previous_edge < 0) { return 1; }  // any time will do to begin with
    float const gap = e.weight() - s.graph.weights[s.previous_edge];
    return gap < 0 ? 0.0F : 1 / (1 + gap / tau);
  }

  [[nodiscard]] TENDRIL_HD float bound(tendril::walk_state const&) const { return 1; }
};
