// Gathers of features on a GPU in a build without CUDA: it says so.

#include <tendril/error.hpp>

#include "bench/gpu_features.hpp"

namespace tendril::bench {

std::vector<row> run_gpu_features(options const&) { throw device_error("bench: this build of Tendril has no CUDA"); }

}  // namespace tendril::bench
