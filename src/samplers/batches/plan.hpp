// Which tables mini-batches read: what all executors decide alike. Weighted choices with replacement are those of k-hop
// trees (src/plan/planner.hpp), once for each edge type.

#pragma once

#include <functional>
#include <vector>

#include <tendril/minibatch.hpp>

#include "plan/table_bill.hpp"  // plan_context
#include "samplers/batches/checks.hpp"

namespace tendril::samplers {

/// The plan of a sampler of mini-batches, and those of its edge types.
struct batches_plan {
  sampling_plan whole;
  std::vector<sampling_plan> edges;
};

/// The plan of one edge type. @throws memory_error  a table that can't be missed.
[[nodiscard]] sampling_plan plan_edges(plan::plan_context const& where, edge_choice choice, bool replace);

/// Plans for a sampler that will make many batches. @param context_of  The planner's view of the graph of an edge type,
/// whose tables may take so much. @throws memory_error  a table that can't be missed.
[[nodiscard]] batches_plan plan_batches(
    hetero_graph const& graph, minibatch_params const& params,
    std::function<plan::plan_context(tendril::graph const&, table_limit)> const& context_of);

}  // namespace tendril::samplers
