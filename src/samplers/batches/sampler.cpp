// The parts of a sampler of mini-batches that don't depend on where it runs.

#include <tendril/minibatch.hpp>

#include "samplers/batches/checks.hpp"
#include "samplers/batches/state.hpp"

namespace tendril {

minibatch_sampler::~minibatch_sampler() = default;
minibatch_sampler::minibatch_sampler(minibatch_sampler&&) noexcept = default;
minibatch_sampler& minibatch_sampler::operator=(minibatch_sampler&&) noexcept = default;

hetero_graph const& minibatch_sampler::input() const noexcept { return state_->input; }
minibatch_params const& minibatch_sampler::params() const noexcept { return state_->params; }

minibatch minibatch_sampler::sample(batch_seeds const& seeds, std::uint64_t batch)
{
  samplers::check_batch_seeds(state_->input, seeds);
  return state_->sample(seeds, batch);
}

std::vector<minibatch> minibatch_sampler::sample_batches(std::int32_t vertex_type, std::span<vertex_id const> seeds,
                                                         std::int64_t batch_size, batch_numbers numbers,
                                                         std::span<std::int64_t const> times)
{
  samplers::check_batches(state_->input, vertex_type, seeds, batch_size, times);
  if (seeds.empty()) { return {}; }
  return state_->sample_batches(vertex_type, seeds, batch_size, numbers, times);
}

}  // namespace tendril
