// Which lists a placed graph should keep on the GPU: `tendril bench policies`.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// Of each graph, in the form packed, and of walks, k-hop trees and mini-batches: the share of the reads of lists that stay
/// on the GPU if a quarter and half of the lists' bytes do, by the policies `visits` and `degree`, and by degree with
/// ScaleGPS's warm-up. The reads are those of a second part of the job, 8 times as large as that which `visits` counts, with
/// other random numbers. Needs no GPU, and depends on the graph alone.
/// @throws what reading and generating throw.
[[nodiscard]] std::vector<row> run_policies(options const& o);

}  // namespace tendril::bench
