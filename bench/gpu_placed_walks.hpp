// Walks on graphs that lie partly on a GPU, by executor: `tendril bench placed-walks --device cuda`.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// Walks of 80 steps, 10^6 to 10^8 at a time, on a graph of whose lists a share lies on the GPU, for each of `options::gpu_share`: with
/// reads of single lists over the bus, and with regions of lists that pass through the GPU, of several sizes. Also how fast
/// lists pass, by the number of thread blocks that copy.
[[nodiscard]] std::vector<row> run_gpu_placed_walks(options const& o);

}  // namespace tendril::bench
