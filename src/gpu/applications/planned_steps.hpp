// Plans of sampling applications on a GPU, as users see them.

#pragma once

#include <vector>

#include <tendril/engine/applications/support.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/plan_application.hpp>

namespace tendril::gpu {

/// What engine::plan_steps plans, with the sizes of the steps. @throws as it does.
[[nodiscard]] std::vector<planned_step> planned_on_gpu(engine::application_job const& job, graph const& graph,
                                                       application_params const& params, gpu_exec const& exec);

}  // namespace tendril::gpu
