// Walks on a GPU: `tendril bench walks --device cuda` and `tendril bench published --device cuda`.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// Ceilings, and every kind of walk as steps a second and as a share of its ceiling: 10^6 walkers, 80 steps, on each of
/// the graphs that `o.graph` names (separated by commas). Tables are built before the clock starts; everything else that
/// a call does is counted, its synchronisation too.
[[nodiscard]] std::vector<row> run_gpu_walks(options const& o);

/// The table that FlowWalker's paper measures (VLDB'24): weighted DeepWalk of 80 steps, PPR 0.2, node2vec of 80 steps and
/// MetaPath of 5, a query from every vertex, on graphs of the size and skew of its data sets; in seconds, planned and
/// with every weight evaluated at every step.
[[nodiscard]] std::vector<row> run_published(options const& o);

}  // namespace tendril::bench
