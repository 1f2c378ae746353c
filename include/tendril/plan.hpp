#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tendril {

/// How one neighbour is chosen. The rule is part of what defines a sample: it follows from the graph and the
/// application alone, or from the caller, never from the machine or from the size of the job.
enum class sampling_rule {
  automatic,  ///< Let the planner choose.
  uniform,    ///< A bounded random integer.
  scan,       ///< One pass over the neighbourhood: exponential race, or counting for labels.
  reject,     ///< Uniform proposals accepted in proportion to the weight, against the neighbourhood's largest.
  alias,      ///< Walker's alias table over fixed-point weights.
  its,        ///< Inverse transform over fixed-point prefix sums.
};

/// Where the chosen rule gets its numbers from. A matter of speed and memory: never changes a sample.
enum class table_layout {
  none,    ///< From the graph's own arrays.
  online,  ///< Computed at each step from the neighbourhood; no table.
  table,   ///< From a table of the whole graph, built ahead and kept with the graph.
};

[[nodiscard]] std::string_view to_string(sampling_rule rule) noexcept;
[[nodiscard]] std::string_view to_string(table_layout layout) noexcept;

/// @throws argument_error for a name that is none of auto, uniform, scan, reject, alias, its.
[[nodiscard]] sampling_rule parse_sampling_rule(std::string_view name);

/// What will run, and why.
struct sampling_plan {
  sampling_rule rule = sampling_rule::uniform;
  table_layout layout = table_layout::none;
  bool grouped_by_label = false;       ///< Uses an adjacency that is grouped by edge label or target type.
  std::int64_t table_bytes = 0;        ///< Bytes of the tables this plan needs.
  std::int64_t table_bytes_built = 0;  ///< Of these, already built by earlier calls on this graph.
  double expected_trials = 1;          ///< Mean proposals a step for rejection, over a uniformly random edge's end.
  std::vector<std::string> reasons;    ///< One sentence a decision.
};

}  // namespace tendril
