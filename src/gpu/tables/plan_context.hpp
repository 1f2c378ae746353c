// What planners know of a graph on a GPU.

#pragma once

#include <memory>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

#include "plan/table_bill.hpp"

namespace tendril::gpu {

/// The planner's view of a graph and the GPU that holds it. Keeps references to graph and exec. @param asked  The caller's
/// limit.
[[nodiscard]] plan::plan_context context_of(graph const& graph, table_limit asked, gpu_exec const& exec);

/// Which labels (types) occur, gathered once a graph. Synchronises then.
[[nodiscard]] std::shared_ptr<std::vector<char> const> labels_of(graph const& graph, plan::grouping by,
                                                                 gpu_exec const& exec);

}  // namespace tendril::gpu
