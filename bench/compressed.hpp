// Compressed graphs: how fast they are made, and sampled.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// Of each graph, on the CPU or a GPU: the rate at which it is made or read, once; of a graph in CSR form the rates to each
/// form and back, and the bits an edge; walks, k-hop trees and a mini-batch. Everything in one process, so that a graph of
/// web:… need never be written.
/// @throws what reading and generating throw.
[[nodiscard]] std::vector<row> run_compressed(options const& o);

}  // namespace tendril::bench
