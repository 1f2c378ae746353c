#include "samplers/applications/layer_sampling.hpp"

#include <algorithm>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril {

void validate(layer_params const& params)
{
  constexpr std::int64_t most = 0x7fffffff;
  TENDRIL_EXPECTS(params.layer_size >= 1 && params.layer_size <= most, "layer_size: {}, expected 1 to {} vertices",
                  params.layer_size, most);
  TENDRIL_EXPECTS(params.max_size >= 1 && params.max_size <= most, "max_size: {}, expected 1 to {} vertices",
                  params.max_size, most);
  TENDRIL_EXPECTS(params.max_steps >= 0, "max_steps: {}, expected 1 or more, or 0 for max_size / layer_size",
                  params.max_steps);
}

namespace samplers {

layer_sampling_job layer_sampling_job_of(layer_params const& params)
{
  validate(params);
  layer_sampling_job job;
  job.app.size = params.layer_size;
  job.app.most = params.max_size;
  job.app.distinct = params.unique;
  job.params.seed = params.seed;
  job.params.executor = params.executor;
  job.params.gpu_memory = params.gpu_memory;
  job.params.max_steps =
      params.max_steps > 0 ? params.max_steps : static_cast<int>((params.max_size - 1) / params.layer_size + 1);
  return job;
}

std::vector<planned_step> planned_shapes(engine::application_job const& job)
{
  std::vector<planned_step> steps(job.shapes.size());
  std::transform(job.shapes.begin(), job.shapes.end(), steps.begin(), [](engine::step_shape const& shape) {
    planned_step step;
    step.num_transits = shape.num_transits;
    step.sample_size = shape.sample_size;
    step.num_slots = shape.num_slots;
    return step;
  });
  return steps;
}

std::vector<planned_step> planned_on_cpu(engine::application_job const& job)
{
  auto steps = planned_shapes(job);
  for (auto& step : steps) { step.reason = "on the CPU a thread grows a sample, step by step"; }
  return steps;
}

std::int64_t count_roots(std::int64_t num_samples, std::int64_t num_roots)
{
  TENDRIL_EXPECTS(num_samples >= 0, "num_samples: {}, expected 0 or more", num_samples);
  TENDRIL_EXPECTS(num_roots < 1 || num_samples <= std::numeric_limits<std::int64_t>::max() / num_roots,
                  "num_samples: {} of {} roots each, expected less than 2^63 roots", num_samples, num_roots);
  return num_samples * num_roots;
}

}  // namespace samplers

}  // namespace tendril
