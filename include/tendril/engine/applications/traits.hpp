// An application's properties, as numbers: everything the library must know about a struct. Host and device.

#pragma once

#include <cstdint>

#include <tendril/application_concept.hpp>

namespace tendril::engine {

/// The properties that an application declares and that its type implies.
struct application_traits {
  bool collective = false;
  bool until_done = false;
  bool adds_edges = false;
  bool scans_neighbors = false;
  bool own_transits = false;    ///< Has step_transits().
  bool ends_steps = false;      ///< Has end_step().
  bool replaces_roots = false;  ///< May write its roots.
  bool reads_transit_only = false;
  std::int64_t state_bytes = 0;
};

/// An application's values for step `step`; num_transits -1 stands for the default.
struct step_request {
  std::int64_t sample_size;
  std::int64_t num_transits;
  bool unique;
};

template <class A>
[[nodiscard]] TENDRIL_HD application_traits traits_of(A const& app)
{
  application_traits traits;
  traits.collective = is_collective<A>;
  traits.until_done = app.steps() == until_done;
  traits.adds_edges = application_has::edges<A>;
  traits.scans_neighbors = application_has::scans<A>;
  traits.own_transits = application_has::step_transits<A> || application_has::random_transits<A>;
  traits.ends_steps = application_has::end_step<A>;
  traits.replaces_roots = traits.own_transits || traits.ends_steps;
  traits.reads_transit_only = application_has::reads_transit_only<A>;
  if constexpr (application_has::state<A>) { traits.state_bytes = sizeof(typename A::state); }
  return traits;
}

template <class A>
[[nodiscard]] TENDRIL_HD step_request request_of(A const& app, int step)
{
  step_request out{static_cast<std::int64_t>(app.sample_size(step)), -1, false};
  if constexpr (application_has::num_transits<A>) { out.num_transits = app.num_transits(step); }
  if constexpr (application_has::unique<A>) { out.unique = app.unique(step); }
  return out;
}

}  // namespace tendril::engine
