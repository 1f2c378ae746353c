// The samplers of dynamic walks side by side: `tendril bench samplers --device cuda`.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// Weights a second, every weight read at every step, by the race and by the samplers that it is measured against
/// (FlowWalker's two reservoirs, exponential jumps), on graphs whose lists all have one length; as a share of reading
/// the weights once. `o.graph` is not used.
[[nodiscard]] std::vector<row> run_samplers(options const& o);

}  // namespace tendril::bench
