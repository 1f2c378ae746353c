// METIS (Karypis and Kumar, "A fast and high quality multilevel scheme for partitioning irregular graphs", SIAM J. Sci.
// Comput. 1998) as a library that may be there at run time. Nothing of it is needed to build.

#pragma once

#include <vector>

#include <tendril/graph.hpp>

namespace tendril::build {

/// The part of each vertex, in [0, num_parts), by METIS' k-way partition: few edges between parts, which have about the
/// same number of vertices. The graph, which is in host memory, is taken as undirected, without loops and parallel edges.
/// @param num_parts  In [1, num_vertices].
/// @throws io_error        the library can't be loaded, or fails;
///         argument_error  more vertices or edges than its ids can number; memory_error.
[[nodiscard]] std::vector<vertex_id> metis_partition(graph const& graph, std::int64_t num_parts, cpu_exec const& exec);

}  // namespace tendril::build
