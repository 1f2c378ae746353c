#pragma once

#include <map>
#include <set>
#include <vector>

#include <tendril/graph.hpp>
#include <tendril/partition.hpp>
#include <tendril/transport.hpp>

#include "bench/measure.hpp"

namespace tendril::bench {

/// Adds mini-batches, k-hop trees and rows of features on ranks that have a part each, with one thread each, beside those of
/// one thread with everything.
/// @param processes  Of mpirun, or null.
/// @param parts      By the number of ranks; all outlive the session.
void add_dist_samples(session& s, graph const& g, std::map<int, std::vector<graph_part>> const& parts,
                      std::set<int> const& ranks, transport* processes);

}  // namespace tendril::bench
