#include "gpu/trees/planned_hop.hpp"

#include <algorithm>

#include <tendril/gpu.hpp>

#include "gpu/tables/derived_table.hpp"
#include "gpu/tables/plan_context.hpp"
#include "plan/planner.hpp"

namespace tendril::gpu {
namespace {

// Above it the fan-out says little about how many picks there are, and scratch memory depends on them.
constexpr std::int64_t large_fanout = 2048;

plan::alias_form form_of(bool with_edges) { return with_edges ? plan::alias_form::buckets : plan::alias_form::records; }

}  // namespace

sampling_plan make_khop_plan(graph const& graph, khop_params const& params, std::int64_t num_roots, bool with_edges,
                             gpu_exec const& exec)
{
  return plan::make_khop_plan(context_of(graph, params.table_bytes, exec), params, num_roots, form_of(with_edges));
}

khop_tables make_khop_tables(graph const& graph, sampling_plan const& plan, bool with_edges, gpu_exec const& exec)
{
  khop_tables out;
  graph_view const view = graph.view();
  auto const table = [&](auto const& which, auto const& build) { return derived_table(graph, which, exec, build); };
  if (plan.weight_sums) {
    out.sums = table(plan::weight_sums_table(), [&] { return make_weight_sums(view, exec); });
  }
  if (plan.layout != table_layout::table) { return out; }
  if (plan.rule == sampling_rule::its) {
    out.prefix_sums = table(plan::prefix_sums_table(), [&] { return make_prefix_sums(view, exec); });
  } else if (form_of(with_edges) == plan::alias_form::buckets) {
    out.buckets = table(plan::alias_buckets_table(), [&] { return make_alias_buckets(view, exec); });
  } else {
    out.alias = table(plan::alias_records_table(), [&] { return make_alias_records(view, exec); });
  }
  return out;
}

std::uint32_t most_picks(graph const& graph, std::int64_t fanout, gpu_exec const& exec)
{
  if (fanout <= large_fanout) { return static_cast<std::uint32_t>(fanout); }
  return static_cast<std::uint32_t>(std::min(fanout, known_largest_degree(graph, exec)));
}

void launch_hop(khop_job const& job, khop_params const& params, sampling_rule rule, khop_tables const& tables,
                buffer<std::byte>& scratch, gpu_exec const& exec)
{
  if (!params.weighted) {
    uniform_hop(job, exec);
  } else if (!params.replace) {
    std::int64_t const bytes = race_scratch_bytes(job.parents.size, job.most_picks);
    if (scratch.size() < bytes) { scratch = buffer<std::byte>(bytes, memory_of(exec)); }
    race_hop(job, scratch.data(), {}, exec);
  } else if (tables.sums) {
    summed_hop(job, *tables.sums, rule, exec);
  } else if (tables.prefix_sums) {
    its_hop(job, tables.prefix_sums->data(), exec);
  } else if (tables.buckets) {
    alias_hop(job, tables.buckets->data(), exec);
  } else {
    alias_hop(job, tables.alias->data(), exec);
  }
}

}  // namespace tendril::gpu
