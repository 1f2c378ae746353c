// Picks for mini-batches on a GPU in a build without CUDA: it says so.

#include <tendril/error.hpp>

#include "bench/gpu_minibatch_picks.hpp"

namespace tendril::bench {

std::vector<row> run_gpu_minibatch_picks(options const&)
{
  throw device_error("bench: this build of Tendril has no CUDA");
}

}  // namespace tendril::bench
