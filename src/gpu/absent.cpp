// The GPU's functions in a build without CUDA: each says so.

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/gpu.hpp>
#include <tendril/multidim.hpp>

namespace tendril {
namespace {

[[noreturn]] void refuse()
{
  throw device_error("no GPU: this build of Tendril has no CUDA (configure with -DTENDRIL_CUDA=ON)");
}

}  // namespace

int num_gpus() noexcept { return 0; }
gpu_info describe_gpu(int) { refuse(); }
memory_resource& gpu_memory(int, cuda_stream) { refuse(); }
memory_resource& memory_of(gpu_exec const&) { refuse(); }
std::int64_t free_gpu_bytes(int) { refuse(); }
void synchronize(gpu_exec const&) { refuse(); }
graph to_gpu(graph const&, gpu_exec const&) { refuse(); }

graph build_graph(coo_view const&, build_options const&, gpu_exec const&) { refuse(); }
graph generate_rmat(rmat_params const&, build_options const&, decoration const&, gpu_exec const&) { refuse(); }
graph generate_er(er_params const&, build_options const&, decoration const&, gpu_exec const&) { refuse(); }
graph generate_powerlaw(powerlaw_params const&, build_options const&, decoration const&, gpu_exec const&) { refuse(); }

multidim_walks multidim_walk(graph const&, std::span<vertex_id const>, std::int64_t, multidim_params const&,
                             gpu_exec const&, std::int64_t)
{
  refuse();
}

graph to_host(graph const& input, gpu_exec const&)
{
  if (input.device() < 0) { return input; }
  refuse();
}

}  // namespace tendril
