// The comparison of samplers in a build without CUDA: it says so.

#include <tendril/error.hpp>

#include "bench/gpu_samplers.hpp"

namespace tendril::bench {

std::vector<row> run_samplers(options const&) { throw device_error("bench: this build of Tendril has no CUDA"); }

}  // namespace tendril::bench
