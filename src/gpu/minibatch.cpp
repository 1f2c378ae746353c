// Mini-batches on a GPU.

#include <tendril/error.hpp>
#include <tendril/minibatch.hpp>

#include "plan/minibatch_state.hpp"

namespace tendril {

minibatch_sampler::minibatch_sampler(hetero_graph, minibatch_params, gpu_exec const&, minibatch_executor)
{
  throw device_error("mini-batches are not made on GPUs");
}

minibatch neighbor_sample(graph const& graph, std::span<vertex_id const> seeds, minibatch_params const& params,
                          gpu_exec const& exec, std::uint64_t batch)
{
  return minibatch_sampler(hetero_graph(graph), params, exec).sample({{seeds}}, batch);
}

}  // namespace tendril
