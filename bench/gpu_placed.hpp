// Graphs that lie partly on a GPU: `tendril bench placed --device cuda`.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// Walks of 80 steps, k-hop trees (25, 10) of 40,000 roots and mini-batches of 1,024 seeds (15, 10, 5) on a graph of whose
/// lists a share lies on the GPU, for each share of `options::gpu_share`, made by the GPU alone, and by GPU and CPU
/// together, each as a multiple of what the CPU alone makes of the same graph in the same run. Lists are placed by the
/// visits of the job that is measured; between all and nothing also by degree. Weights are left out.
[[nodiscard]] std::vector<row> run_gpu_placed(options const& o);

}  // namespace tendril::bench
