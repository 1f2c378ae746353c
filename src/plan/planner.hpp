// Statistics in, a plan out: which rule and which tables suit this graph and application.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <tendril/plan.hpp>
#include <tendril/sample.hpp>
#include <tendril/walk.hpp>

#include "core/random.hpp"  // domain
#include "plan/table_bill.hpp"

namespace tendril::plan {

/// The tables of one plan; null where the plan doesn't use them. They stay with the graph.
struct walk_tables {
  std::shared_ptr<weight_statistics const> statistics;
  std::shared_ptr<label_groups const> groups;
  std::shared_ptr<buffer<vertex_record> const> vertices;
  std::shared_ptr<buffer<edge_record> const> edges;
  std::shared_ptr<buffer<alias_record> const> alias;
  std::shared_ptr<buffer<std::uint64_t> const> prefix_sums;
  std::shared_ptr<weight_sums const> sums;
};

/// Those of k-hop trees and mini-batches; at most one is there.
struct pick_tables {
  std::shared_ptr<buffer<core::alias_bucket> const> alias;
  std::shared_ptr<buffer<std::uint64_t> const> prefix_sums;
  std::shared_ptr<weight_sums const> sums;
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

/// Whether a step of a planned walk may take more than one trial.
[[nodiscard]] bool takes_trials(sampling_plan const& plan, walk_params const& params);

/// The grouping that a metapath walk uses.
[[nodiscard]] grouping metapath_grouping(walk_params const& params);

/// The domain of a walk's choices.
[[nodiscard]] core::domain domain_of(walk_params const& params);

/// Steps of a whole job, with walks that stop early counted by their mean length.
[[nodiscard]] double expected_steps(walk_params const& params, std::int64_t walks);

/// The planner's view of a graph and the CPU. Keeps references to graph and exec. @param asked  The caller's limit.
[[nodiscard]] plan_context context_of(graph const& graph, table_limit asked, cpu_exec const& exec);

/// The plan of a walk in the making: what all executors decide alike. An executor adds the tables that only its walks
/// read.
class walk_planning {
 public:
  /// @param plan  The result; starts out empty.
  walk_planning(plan_context const& where, walk_params const& params, std::int64_t expected_walks, sampling_plan& plan);

  /// Chooses the rule, with the reason: from graph and parameters alone, so that it is the same on every machine. Then
  /// takes the neighbours grouped by label if the walk is along a metapath. @return whether the rule may use tables.
  /// @throws memory_error  a table that can't be missed.
  [[nodiscard]] bool choose_rule();

  /// Takes the table that the rule reads weights from, if it reads any, and so chooses the layout.
  /// @throws memory_error  a table that can't be missed.
  void choose_weight_table();

  /// Takes the sums of weights by which steps are decided whose trials ran out, and which tell the weight of the edge back of
  /// node2vec, besides the table of the rule.
  /// @throws memory_error  a table that can't be missed.
  void choose_sums_of_trials();

  [[nodiscard]] graph const& input() const { return where_.input; }
  [[nodiscard]] walk_params const& params() const { return params_; }
  [[nodiscard]] table_costs const& costs() const { return where_.costs; }
  [[nodiscard]] table_bill& bill() { return bill_; }
  [[nodiscard]] sampling_plan& plan() { return plan_; }
  [[nodiscard]] double steps() const { return steps_; }
  [[nodiscard]] double num_edges() const { return static_cast<double>(where_.input.num_edges()); }
  /// How the rows of tables are cut, and their number.
  [[nodiscard]] row_cut cut() const { return cut_of(plan_, params_); }
  [[nodiscard]] std::int64_t num_rows() const { return num_rows_; }

  /// How the rows of the tables of a plan are cut.
  [[nodiscard]] static row_cut cut_of(sampling_plan const& plan, walk_params const& params);

 private:
  [[nodiscard]] sampling_rule chosen_rule();

  plan_context const& where_;
  walk_params const& params_;
  sampling_plan& plan_;
  table_bill bill_;
  double steps_;
  std::int64_t num_rows_;
};

/// Plans a walk on the CPU. The rule follows from graph and parameters alone; `expected_walks` and free memory decide the
/// layout.
[[nodiscard]] sampling_plan make_walk_plan(graph const& graph, walk_params const& params, std::int64_t expected_walks,
                                           cpu_exec const& exec);

/// Builds what the plan needs and the graph doesn't have yet.
[[nodiscard]] walk_tables make_walk_tables(graph const& graph, walk_params const& params, sampling_plan const& plan,
                                           cpu_exec const& exec);

/// Which alias table weighted picks read, where they read one.
enum class alias_form {
  records,  ///< With the vertices to choose between.
  buckets,  ///< With positions in rows, which tell edges, too.
};

/// Plans k-hop sampling: rule and layout likewise. @throws memory_error  a table that can't be missed.
[[nodiscard]] sampling_plan make_khop_plan(plan_context const& where, khop_params const& params, std::int64_t num_roots,
                                           alias_form form);
/// On the CPU.
[[nodiscard]] sampling_plan make_khop_plan(graph const& graph, khop_params const& params, std::int64_t num_roots,
                                           cpu_exec const& exec);

/// Builds what a plan of trees, or of a type of edges in mini-batches, needs and the graph doesn't have yet.
[[nodiscard]] pick_tables make_pick_tables(graph const& graph, sampling_plan const& plan, cpu_exec const& exec);

/// Weight statistics, gathered once a graph.
[[nodiscard]] std::shared_ptr<weight_statistics const> statistics_of(graph const& graph, cpu_exec const& exec);

/// labels_in_use, gathered once a graph.
[[nodiscard]] std::shared_ptr<std::vector<char> const> labels_of(graph const& graph, grouping by, cpu_exec const& exec);

}  // namespace tendril::plan
