// Statistics in, a plan out: which rule and which tables suit this graph and application.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <tendril/plan.hpp>
#include <tendril/sample.hpp>
#include <tendril/walk.hpp>

#include "core/random.hpp"  // domain
#include "plan/tables.hpp"

namespace tendril::plan {

/// What the form of a graph allows. It never changes a rule, and so no sample.
struct form_traits {
  bool allows_edge_tables = true;  ///< Tables of 8 to 32 bytes an edge, which would undo what a smaller form saves.
};

[[nodiscard]] form_traits traits_of(graph_form form);

/// The tables of one plan; null where the plan doesn't use them. They stay with the graph.
struct walk_tables {
  std::shared_ptr<weight_statistics const> statistics;
  std::shared_ptr<label_groups const> groups;
  std::shared_ptr<buffer<vertex_record> const> vertices;
  std::shared_ptr<buffer<edge_record> const> edges;
  std::shared_ptr<buffer<alias_record> const> alias;
  std::shared_ptr<buffer<std::uint64_t> const> prefix_sums;
};

struct khop_tables {
  std::shared_ptr<buffer<core::alias_bucket> const> alias;
  std::shared_ptr<buffer<std::uint64_t> const> prefix_sums;
};

/// The parameters that a plan is made for: a graph without edges has nothing to weigh, and needs no weights for it.
template <class Params>
[[nodiscard]] Params without_idle_weights(graph const& graph, Params params)
{
  if (params.weighted && graph.num_edges() == 0) {
    params.weighted = false;
    params.rule = sampling_rule::automatic;
  }
  return params;
}

/// Whether the walk's choice depends on the vertex before.
[[nodiscard]] bool is_second_order(walk_params const& params);

/// The grouping that a metapath walk uses.
[[nodiscard]] grouping metapath_grouping(walk_params const& params);

/// The domain of a walk's choices.
[[nodiscard]] core::domain domain_of(walk_params const& params);

/// Steps of a whole job, with walks that stop early counted by their mean length.
[[nodiscard]] double expected_steps(walk_params const& params, std::int64_t walks);

/// The rule of a walk, with the reason added to `plan`: the same on every machine. `statistics` is called where it
/// matters.
/// @throws argument_error  a rule that the application can't use.
[[nodiscard]] sampling_rule choose_walk_rule(sampling_plan& plan, walk_params const& params,
                                             std::function<weight_statistics const&()> const& statistics);

/// Plans a walk. The rule follows from graph and parameters alone; `expected_walks` and free memory decide the layout.
/// @throws argument_error  weights missing; a rule that the application can't use.
[[nodiscard]] sampling_plan make_walk_plan(graph const& graph, walk_params const& params, std::int64_t expected_walks,
                                           cpu_exec const& exec);

/// The same for a graph whose form allows what `form` says.
[[nodiscard]] sampling_plan make_walk_plan(graph const& graph, form_traits const& form, walk_params const& params,
                                           std::int64_t expected_walks, cpu_exec const& exec);

/// Builds what the plan needs and the graph doesn't have yet.
[[nodiscard]] walk_tables make_walk_tables(graph const& graph, walk_params const& params, sampling_plan const& plan,
                                           cpu_exec const& exec);

/// The rule of k-hop trees, with the reason added to `plan`: from the parameters alone.
/// @throws argument_error  a rule that the trees can't use.
void choose_khop_rule(sampling_plan& plan, khop_params const& params);

/// Plans k-hop sampling, likewise.
[[nodiscard]] sampling_plan make_khop_plan(graph const& graph, khop_params const& params, std::int64_t num_roots,
                                           cpu_exec const& exec);
[[nodiscard]] sampling_plan make_khop_plan(graph const& graph, form_traits const& form, khop_params const& params,
                                           std::int64_t num_roots, cpu_exec const& exec);
[[nodiscard]] khop_tables make_khop_tables(graph const& graph, sampling_plan const& plan, cpu_exec const& exec);

/// Weight statistics, gathered once a graph.
[[nodiscard]] std::shared_ptr<weight_statistics const> statistics_of(graph const& graph, cpu_exec const& exec);

/// labels_in_use, gathered once a graph.
[[nodiscard]] std::shared_ptr<std::vector<char> const> labels_of(graph const& graph, grouping by, cpu_exec const& exec);

}  // namespace tendril::plan
