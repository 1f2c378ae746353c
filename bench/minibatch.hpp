// Mini-batches for GNNs: `tendril bench minibatch`.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// Milliseconds to a finished batch, relabelled, and sampled edges a second: a batch at a time by every executor, and
/// many batches a call. Shares are of gathers from all neighbours, of which an edge needs one.
[[nodiscard]] std::vector<row> run_minibatch(options const& o);

}  // namespace tendril::bench
