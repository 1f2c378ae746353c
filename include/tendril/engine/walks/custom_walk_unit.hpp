// What a walk that comes as text is compiled with besides engine/custom_struct.hpp. Host and device.

#pragma once

#include <type_traits>

#include <tendril/engine/custom_struct.hpp>
#include <tendril/walk_concept.hpp>

namespace tendril::engine {

/// Runs where a walk that is none would: its errors would bury the one that counts.
struct no_walk {
  TENDRIL_HD float weight(walk_state const&, walk_edge const&) const { return 1; }
  TENDRIL_HD float bound(walk_state const&) const { return 1; }
};

/// The walk that is compiled, by the race and by rejection.
template <class W>
using scanning_walk = std::conditional_t<dynamic_walk<W>, W, no_walk>;
template <class W>
using rejecting_walk = std::conditional_t<dynamic_walk<W> && walk_has::bound<W>, W, no_walk>;

}  // namespace tendril::engine
