// Layer-wise sampling on a GPU: `tendril bench layers --device cuda`.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// FastGCN and LADIES as NextDoor measures its own: 10,000 samples of a batch of 64, 5 layers of 64 vertices, with
/// coefficients and edges; MVS with batches of 64; LABOR-0 with a batch of 1,024. In milliseconds a call, and as questions
/// "is it an edge?" a second, one for each pair of vertices of neighbouring layers, as a share of gathers from a table of
/// the size of the hash sets that answer them. Tables are built before the clock starts; everything else is counted, the
/// output's allocation and the synchronisation too.
[[nodiscard]] std::vector<row> run_gpu_layers(options const& o);

}  // namespace tendril::bench
