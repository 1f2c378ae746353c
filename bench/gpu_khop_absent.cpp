// k-hop trees on a GPU in a build without CUDA: it says so.

#include <tendril/error.hpp>

#include "bench/gpu_khop.hpp"

namespace tendril::bench {

std::vector<row> run_gpu_khop(options const&) { throw device_error("bench: this build of Tendril has no CUDA"); }

}  // namespace tendril::bench
