// Walks on more GPUs than there are, each with a part of the graph: measured on few, planned for many.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// What `--simulate` says on several GPUs: walks on parts on 1, 2, 4, … GPUs, how far the model (dist_model.hpp) is from them, and
/// what it expects of as many GPUs as `o.hosts` names. Prints what it takes for granted.
/// @throws argument_error for one GPU, and for options of the plan; what making the graph throws.
[[nodiscard]] std::vector<row> run_gpu_rank_plan(options const& o);

}  // namespace tendril::bench
