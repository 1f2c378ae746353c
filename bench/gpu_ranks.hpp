// Ranks with a GPU each, on which a part of the graph lies.

#pragma once

#include <vector>

#include <tendril/graph.hpp>

#include "bench/bench.hpp"

namespace tendril::bench {

/// Suite dist on several GPUs, sharded: ranks are threads of this process, which talk as processes would. Walks are delivered to the
/// GPU of the rank that asked for them.
/// @param g  In host memory.
[[nodiscard]] std::vector<row> run_gpu_ranks(options const& o, graph const& g);

}  // namespace tendril::bench
