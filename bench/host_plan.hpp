// A plan for more hosts than there are, from what was measured on few: how they would share the graph, and the rows that say what
// plan_hosts (dist_model.hpp) expects of them.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/partition.hpp>

#include "bench/bench.hpp"
#include "bench/dist_model.hpp"

namespace tendril::bench {

/// @throws argument_error for hosts, bandwidth or latency that no plan can be made of.
void expect_plan(options const& o);

/// How `hosts` hosts share a graph in host memory: by the bounds of its folder, if it has as many parts, else as `degree` cuts it.
[[nodiscard]] host_cut cut_for(graph const& whole, std::optional<partition_info> const& folder, std::int64_t hosts,
                               cpu_exec const& exec);

/// Walks to plan for, measured on one host.
struct planned_walk {
  std::string name;
  std::function<walk_costs(std::int64_t hosts)> costs;  ///< Of each of so many hosts.
};

/// A row for each walk and number of hosts, over the bandwidth and latency of the options.
/// @param cuts   Of each number of hosts. @param host  What a host is called: "host", or "GPU".
void append_plan(std::vector<row>& rows, std::string const& graph_name, std::vector<planned_walk> const& walks,
                 std::vector<host_cut> const& cuts, std::string const& host, options const& o);

/// A row that compares what the model says with what was measured, both in `unit`.
[[nodiscard]] row checked_row(std::string job, std::string const& graph_name, double model, double measured,
                              char const* unit, int repeats);

}  // namespace tendril::bench
