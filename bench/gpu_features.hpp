// How fast a GPU gathers rows of features: `tendril bench features --device cuda`.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// Random rows of a table in the GPU's memory against a copy there, and of tables of 1 to 40 GB in page-locked host memory
/// (as far as half of the memory goes) against a copy over the bus: by the GPU, by the CPU, by both at once, and by the way
/// that was measured to be the best. Whole calls with unchecked ids, as rows a second times their bytes.
[[nodiscard]] std::vector<row> run_gpu_features(options const& o);

}  // namespace tendril::bench
