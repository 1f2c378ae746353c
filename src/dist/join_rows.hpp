// The parts of a graph, put together again.

#pragma once

#include <vector>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/partition.hpp>

namespace tendril::dist {

/// The rows of all parts, one part behind the other, in the form that the parts have.
/// @param parts  Sound; one after the other is given up.
[[nodiscard]] graph_arrays join_rows(std::vector<graph_arrays> parts, partition_info const& info, cpu_exec const& exec);

}  // namespace tendril::dist
