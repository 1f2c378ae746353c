// Compressed graphs beside CSR: `tendril bench forms`, on CPUs and GPUs.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// Compresses each graph that `o.graph` names (separated by commas) in memory to each form, and measures the bits an edge,
/// and walks, k-hop trees and mini-batches without tables of edges, as rates and as shares of the rate of CSR in the same
/// round. `o.only`: jobs whose name holds it, beside those on CSR.
[[nodiscard]] std::vector<row> run_forms(options const& o);

}  // namespace tendril::bench
