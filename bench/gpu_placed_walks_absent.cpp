// Walks on placed graphs in a build without CUDA: it says so.

#include <tendril/error.hpp>

#include "bench/gpu_placed_walks.hpp"

namespace tendril::bench {

std::vector<row> run_gpu_placed_walks(options const&)
{
  throw device_error("bench: this build of Tendril has no CUDA");
}

}  // namespace tendril::bench
