#include "gpu/tables/plan_context.hpp"

#include <iterator>  // ssize

#include <tendril/gpu.hpp>

#include "gpu/tables/derived_table.hpp"

namespace tendril::gpu {

plan::plan_context context_of(graph const& graph, table_limit asked, gpu_exec const& exec)
{
  return {.input = graph,
          .costs = plan::gpu_costs,
          .needs_tables = true,
          .limit = plan::table_budget::of(graph, asked),
          .memory = "the GPU's free memory",
          .free_bytes = [device = exec.device] { return free_gpu_bytes(device); },
          .statistics = [&graph, &exec] { return known_statistics(graph, exec); },
          .num_labels = [&graph, &exec](plan::grouping by) { return std::ssize(*labels_of(graph, by, exec)); }};
}

std::shared_ptr<std::vector<char> const> labels_of(graph const& graph, plan::grouping by, gpu_exec const& exec)
{
  return graph.derived().get(plan::labels_in_use_table(by), [&] { return labels_in_use(graph.view(), by, exec); });
}

}  // namespace tendril::gpu
