// Weighted picks without replacement on a GPU, by degree and not: `tendril bench minibatch-picks --device cuda`.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// The ablation of TurboGNN (section IV-B) on a graph of Reddit's size and skew: frontiers of 4,000 to 200,000 vertices,
/// fan-outs 10, 15 and 30, kernels alone, sorting by degree included. Figures are bytes of weights that a frontier has, a
/// second, as a share of a sequential read.
[[nodiscard]] std::vector<row> run_gpu_minibatch_picks(options const& o);

}  // namespace tendril::bench
