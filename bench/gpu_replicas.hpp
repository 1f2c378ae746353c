// Several GPUs, each with a copy of the graph or all with one, against one of them.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// Suite dist on GPUs: the same job on the first GPU, on two, four, … and on all that were named; and on all of them with one
/// graph laid out over their memory; and with a part of it on each (gpu_ranks.hpp). The share of a row is its
/// rate as a multiple of one GPU's. With `o.hosts` a plan for more GPUs instead (gpu_rank_plan.hpp).
[[nodiscard]] std::vector<row> run_gpu_replicas(options const& options);

}  // namespace tendril::bench
