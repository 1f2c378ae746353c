// More sampling applications that tests of all executors run: each uses another part of the abstraction.

#pragma once

#include <tendril/application.hpp>
#include <tendril/engine/applications/apps.hpp>

namespace tendril::apps {

/// k-hop neighbourhoods where no vertex is added to a sample twice at a step.
struct unique_khop : khop {
  [[nodiscard]] TENDRIL_HD bool unique(int) const { return true; }
};

/// Layer sampling without repeats within a step.
struct unique_layer : layer {
  [[nodiscard]] TENDRIL_HD bool unique(int) const { return true; }
};

/// Cluster sampling as NextDoor has it: nothing is added; the edges among the roots are recorded.
struct among_roots {
  static constexpr bool adds_edges = true;
  [[nodiscard]] TENDRIL_HD int steps() const { return 1; }
  [[nodiscard]] TENDRIL_HD std::int64_t sample_size(int) const { return 1; }
  [[nodiscard]] TENDRIL_HD vertex_id next(auto& sample, transit_list const& transits, auto const&, int,
                                          random_stream&) const
  {
    for (std::int64_t i = 0; i < sample.num_roots(); ++i) {
      if (sample.graph.has_edge(transits[0], sample.root(i))) { sample.add_edge(transits[0], sample.root(i)); }
    }
    return no_vertex;
  }
};

/// Keeps what end_step() tells it: the smallest vertex so far becomes the only root.
struct smallest_root {
  struct state {
    vertex_id least;
    bool set;
  };
  [[nodiscard]] TENDRIL_HD int steps() const { return 3; }
  [[nodiscard]] TENDRIL_HD std::int64_t sample_size(int) const { return 3; }
  [[nodiscard]] TENDRIL_HD std::int64_t num_transits(int) const { return 1; }
  [[nodiscard]] TENDRIL_HD vertex_id step_transits(int, auto const& sample, std::int64_t) const
  {
    return sample.root(0);
  }
  [[nodiscard]] TENDRIL_HD vertex_id next(auto&, transit_list const&, auto const& edges, int, random_stream& rng) const
  {
    return edges.empty() ? no_vertex : edges[rng.bounded(edges.size())];
  }
  TENDRIL_HD void end_step(auto& sample, int) const
  {
    auto& own = state_of<state>(sample);
    for (std::int64_t k = 0; k < sample.num_prev(1); ++k) {
      vertex_id const v = sample.prev_vertex(1, k);
      if (v != no_vertex && (!own.set || v < own.least)) { own = {v, true}; }
    }
    if (own.set) { sample.replace_root(0, own.least); }
  }
};

}  // namespace tendril::apps
