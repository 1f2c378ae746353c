// Layer sampling as an application of the general engine, and the shapes of planned steps, for both executors.

#pragma once

#include <limits>
#include <string>
#include <vector>

#include <tendril/engine/applications/apps.hpp>
#include <tendril/engine/applications/support.hpp>
#include <tendril/layer_sampling.hpp>

namespace tendril::samplers {

/// apps::layer, without repeats within a step where that is asked for.
struct layer_application : apps::layer {
  bool distinct = false;
  [[nodiscard]] TENDRIL_HD bool unique(int) const { return distinct; }
};

struct layer_sampling_job {
  layer_application app;
  application_params params;
};

/// @throws argument_error for a parameter out of range.
[[nodiscard]] layer_sampling_job layer_sampling_job_of(layer_params const& params);

/// The steps of a job, without executors.
[[nodiscard]] std::vector<planned_step> planned_shapes(engine::application_job const& job);

/// The steps on the CPU.
[[nodiscard]] std::vector<planned_step> planned_on_cpu(engine::application_job const& job);

/// Roots of so many samples. @throws argument_error where they can't be counted.
[[nodiscard]] std::int64_t count_roots(std::int64_t num_samples, std::int64_t num_roots);

}  // namespace tendril::samplers
