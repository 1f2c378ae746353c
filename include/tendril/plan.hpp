#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tendril/names.hpp>

namespace tendril {

/// The method that chooses one neighbour. The rule is part of the definition of a sample: it follows only from the
/// graph and the application, or from the caller; it never depends on the machine or on the size of the job.
enum class sampling_rule {
  automatic,  ///< The planner chooses.
  uniform,    ///< A bounded random integer.
  scan,       ///< One pass over the neighbourhood: exponential race, or counting for labels.
  reject,     ///< Uniform proposals, accepted in proportion to weight / largest weight of the neighbourhood.
  alias,      ///< Walker's alias table over fixed-point weights.
  its,        ///< Inverse transform over fixed-point prefix sums.
};

template <>
inline constexpr std::array<named<sampling_rule>, 6> enum_names<sampling_rule>{{{sampling_rule::automatic, "auto"},
                                                                                {sampling_rule::uniform, "uniform"},
                                                                                {sampling_rule::scan, "scan"},
                                                                                {sampling_rule::reject, "reject"},
                                                                                {sampling_rule::alias, "alias"},
                                                                                {sampling_rule::its, "its"}}};

/// The source of the numbers that the chosen rule needs. It affects speed and memory, and never changes a sample.
enum class table_layout {
  none,    ///< The graph's own arrays.
  online,  ///< Computed from the neighbourhood at each step; no table.
  table,   ///< A table of the whole graph, built in advance and kept with the graph.
};

template <>
inline constexpr std::array<named<table_layout>, 3> enum_names<table_layout>{
    {{table_layout::none, "none"}, {table_layout::online, "online"}, {table_layout::table, "table"}}};

/// The most bytes of tables that a plan may take, if the caller limits them. A limit never changes a rule, and so no
/// sample. Nothing: on a graph in CSR form what fits into memory; on a compressed graph what compression saved, so that
/// neighbours and tables together take no more than CSR. Of a table that a rule cannot do without the plan takes the
/// smallest form, whatever the limit.
using table_limit = std::optional<std::int64_t>;

/// The plan of a job: what will run, and why.
struct sampling_plan {
  sampling_rule rule = sampling_rule::uniform;
  table_layout layout = table_layout::none;
  bool grouped_by_label = false;  ///< Uses an adjacency grouped by edge label or target type.
  bool weight_sums = false;       ///< Reads sums of weights that are kept for every 64th edge: layout online instead
                                  ///< of another table; else for trials.
  std::int64_t table_bytes = 0;   ///< Bytes of the tables that this plan needs.
  std::int64_t table_bytes_built = 0;    ///< Bytes of those tables that earlier calls on this graph have already built.
  std::int64_t table_bytes_refused = 0;  ///< Of the largest table that is beyond the limit; 0 without one.
  double expected_trials = 1;        ///< Mean trials of a step; plan_walk estimates it by walks from a sample of edges.
  std::vector<std::string> reasons;  ///< One sentence per decision.
};

}  // namespace tendril
