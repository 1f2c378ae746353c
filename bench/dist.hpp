// What walks on a graph in parts cost beside walks on the whole graph: `tendril bench dist`.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// Walks of 80 steps, DeepWalk and node2vec, on 1, 2 and up to 4 ranks, threads of this process: sharded, and with the
/// whole graph on each rank. With `o.hosts` also what plan_hosts expects of so many hosts, and how far it is from what
/// was measured here.
/// @throws argument_error for options of the plan; what reading the graph throws.
[[nodiscard]] std::vector<row> run_dist(options const& o);

}  // namespace tendril::bench
