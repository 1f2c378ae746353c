// Compiled together with the text of a walk, in addition to engine/custom_struct.hpp. Host and device.

#pragma once

#include <type_traits>

#include <tendril/engine/custom_struct.hpp>
#include <tendril/walk_concept.hpp>

namespace tendril::engine {

/// Replaces a struct that is not a walk: the errors of such a struct would hide the decisive message.
struct no_walk {
  TENDRIL_HD float weight(walk_state const&, walk_edge const&) const { return 1; }
  TENDRIL_HD float bound(walk_state const&) const { return 1; }
};

/// The compiled walk, by the race and by rejection.
template <class W>
using scanning_walk = std::conditional_t<dynamic_walk<W>, W, no_walk>;
template <class W>
using rejecting_walk = std::conditional_t<dynamic_walk<W> && walk_has::bound<W>, W, no_walk>;

}  // namespace tendril::engine
