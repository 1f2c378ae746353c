// What the prefixes of Stream VByte are worth: `tendril bench prefixes`, on CPUs and GPUs.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// k-hop trees (25, 10) with replacement of 40,000 roots on the form vbyte of each graph of `o.graph`, in ms (ScaleGPS,
/// table 4.4): by the prefixes, one in 32 edges, and without them. Without prefixes a list is decoded from its beginning,
/// each group of 32 where the one before it ends, up to the last neighbour that is picked; a GPU has a warp for each
/// vertex, which decodes a group at a time. The lists are the same. Trees of the first roots are compared, unmeasured.
/// @throws error if they differ; what making the graph throws.
[[nodiscard]] std::vector<row> run_prefixes(options const& o);

}  // namespace tendril::bench
