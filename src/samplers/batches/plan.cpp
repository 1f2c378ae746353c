#include "samplers/batches/plan.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "plan/planner.hpp"
#include "samplers/batches/checks.hpp"

namespace tendril::samplers {
namespace {

constexpr std::int64_t many = std::int64_t{1} << 40U;  // vertices that a sampler will expand

sampling_plan with_reason(char const* reason)
{
  sampling_plan out;
  out.reasons.emplace_back(reason);
  return out;
}

/// What is left of a caller's limit.
table_limit less(table_limit limit, std::int64_t bytes)
{
  if (!limit) { return limit; }
  return std::max<std::int64_t>(0, *limit - bytes);
}

/// Adds the plan of an edge type. @param of  "edge type 3: ", or nothing.
void add(sampling_plan& whole, sampling_plan const& part, std::string const& of)
{
  if (part.rule != sampling_rule::uniform) { whole.rule = part.rule; }
  whole.layout = std::max(whole.layout, part.layout);
  whole.weight_sums = whole.weight_sums || part.weight_sums;
  whole.table_bytes += part.table_bytes;
  whole.table_bytes_built += part.table_bytes_built;
  whole.table_bytes_refused = std::max(whole.table_bytes_refused, part.table_bytes_refused);
  for (auto const& reason : part.reasons) { whole.reasons.push_back(of + reason); }
}

}  // namespace

sampling_plan plan_edges(plan::plan_context const& where, edge_choice choice, bool replace)
{
  switch (choice) {
    case edge_choice::last: return with_reason("uniform: the last edges, without a draw");
    case edge_choice::labor: return with_reason("uniform: an edge is taken by its neighbour's random number (LABOR-0)");
    case edge_choice::uniform:
    case edge_choice::race:
    case edge_choice::alias: break;
  }
  bool const weighted = choice != edge_choice::uniform;
  return plan::make_khop_plan(where, {.fanouts = {1}, .replace = replace, .weighted = weighted}, many,
                              plan::alias_form::buckets);
}

batches_plan plan_batches(hetero_graph const& graph, minibatch_params const& params,
                          std::function<plan::plan_context(tendril::graph const&, table_limit)> const& context_of)
{
  batches_plan out;
  auto const& types = graph.edge_types();
  for (std::size_t t = 0; t < types.size(); ++t) {
    plan::plan_context const where = context_of(types[t].edges, less(params.table_bytes, out.whole.table_bytes));
    out.edges.push_back(plan_edges(where, choice_of(types[t], params), params.replace));
    add(out.whole, out.edges.back(), types.size() == 1 ? "" : fmt::format("edge type {}: ", t));
  }
  return out;
}

}  // namespace tendril::samplers
