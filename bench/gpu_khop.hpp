// Trees of k-hop neighbourhoods on a GPU: `tendril bench sample --device cuda`.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// Trees of (25, 10): one root a vertex, as vertices a second and a share of independent gathers; 40,000 roots in
/// milliseconds and 1,024 in microseconds, a whole call each, output allocated and synchronised; and 1,024 roots "in a
/// graph": the kernels alone, replayed from a CUDA graph of 20 repetitions between two events. Every rule. Tables are
/// built before the clock starts.
[[nodiscard]] std::vector<row> run_gpu_khop(options const& o);

}  // namespace tendril::bench
