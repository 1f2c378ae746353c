// How fast the CPU builds the tables of weighted sampling: `tendril bench tables`.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// Edges a second and core of each table of `o.graph` (with weights U[1, 5) where it is an R-MAT graph): edges over the time
/// that the process had a core, so that other work on the machine counts little. In memory that is there; one job also
/// takes new memory from the system, which clears it.
/// @throws argument_error if a file has no weights; what making the graph throws.
[[nodiscard]] std::vector<row> run_tables(options const& o);

}  // namespace tendril::bench
