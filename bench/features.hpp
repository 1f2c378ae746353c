// How fast rows of features are gathered on the CPU: `tendril bench features`.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// Bytes a second of gathers of random rows of 128, 512, 1,024 and 4,096 bytes from a table of 1 GiB in memory, into 64 MiB
/// that are there; of a plain loop that does the same, with the same threads; and of their ceiling, a copy of as many
/// bytes in order. Needs no graph.
[[nodiscard]] std::vector<row> run_features(options const& o);

}  // namespace tendril::bench
