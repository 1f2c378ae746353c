// Sampling applications by each executor of a GPU: `tendril bench applications --device cuda`.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// NextDoor's applications with NextDoor's settings (EuroSys'21, section 8), as structs of the general API: time of a whole
/// call, output allocated, by the sample-parallel executor, the transit-parallel one, and the one that the planner
/// chooses. K-hop neighbourhoods as a rate, as a share of independent gathers. K-hop neighbourhoods and walks on the graph in
/// host memory, of which a quarter may be on the GPU, as a share of copies.
[[nodiscard]] std::vector<row> run_gpu_applications(options const& o);

}  // namespace tendril::bench
