// The ceilings of a GPU in a build without CUDA: each says so.

#include <tendril/error.hpp>

#include "bench/gpu_ceilings.hpp"

namespace tendril::bench {
namespace {

[[noreturn]] void refuse() { throw device_error("bench: this build of Tendril has no CUDA"); }

}  // namespace

double gpu_sequential_read(std::int64_t, gpu_exec const&) { refuse(); }
double gpu_gathers(std::int64_t, int, gpu_exec const&) { refuse(); }
double gpu_dependent_gathers(graph const&, gpu_exec const&) { refuse(); }

}  // namespace tendril::bench
