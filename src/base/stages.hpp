// A production line: items pass through stages, each stage on a thread of its own, so that all of them work at once; where
// the system gives fewer threads, one after the other.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tendril::base {

/// What a stage does to an item, by its number.
using stage = std::function<void(std::int64_t item)>;

/// Passes the items 0, 1, … through all stages. A stage takes them in order, one at a time; stage s takes item i after
/// stage s - 1 is done with it, and the first stage takes item i after the last one is done with item i - depth: item i
/// can use the memory of item i - depth.
///
/// What a stage or `watch` throws ends the call: every stage finishes the item at hand and takes no other, then the
/// first exception comes out. No thread outlives the call.
///
/// @param stages  One or more.
/// @param depth  Items on the way at a time, 1 or more; as many as stages keep all of these busy.
/// @param watch  Called from the calling thread alone, ten times a second and at the end of everything, with the number
///               of items that are through; may be empty.
/// @return       Seconds that each stage worked, waiting not counted.
std::vector<double> run_stages(std::int64_t num_items, std::int64_t depth, std::span<stage const> stages,
                               std::function<void(std::int64_t done)> const& watch);

/// The same, where stages use memory of their own: each takes item i after the last stage is done with item i - depth, by its
/// own depth.
/// @param depths  [stages] 1 or more.
std::vector<double> run_stages(std::int64_t num_items, std::span<std::int64_t const> depths,
                               std::span<stage const> stages, std::function<void(std::int64_t done)> const& watch);

}  // namespace tendril::base
