// Subgraph samplers on a GPU: `tendril bench subgraphs --device cuda`.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// On each of the graphs that `o.graph` names (separated by commas), in milliseconds a call, to the end of its work:
/// ClusterGCN with 161,575 samples of two clusters of 16 consecutive vertices (NextDoor's setting), also as list entries a
/// second against a sequential read of them; an epoch of 20 of 1,500 clusters a sample; ShaDow of 1,024 and of 40,000
/// seeds; 50 samples of each of GraphSAINT's samplers, and their coefficients.
[[nodiscard]] std::vector<row> run_gpu_subgraphs(options const& o);

}  // namespace tendril::bench
