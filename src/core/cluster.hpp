// Which vertices make a cluster, and which clusters a batch (ClusterGCN: Chiang et al., KDD'19). A random order is that of
// 64 random bits an item, equal ones in the order of the items. Executors: src/cpu/subgraphs/cluster.cpp, src/gpu/subgraphs/cluster.cu.

#pragma once

#include <cstdint>

#include "core/draws.hpp"  // clustering_key, epoch_key, order_bits

namespace tendril::core {

/// The cluster of the vertex at `rank` of an order of all vertices. `rank` < num_vertices; both numbers below 2^32.
TENDRIL_HD vertex_id cluster_at(std::uint64_t rank, std::uint64_t num_clusters, std::uint64_t num_vertices)
{
  return static_cast<vertex_id>(rank * num_clusters / num_vertices);
}

/// How epochs are cut into samples.
struct epoch_cuts {
  std::int64_t num_clusters;
  std::int64_t clusters_a_sample;
  std::int64_t samples_an_epoch;

  [[nodiscard]] TENDRIL_HD std::int64_t epoch_of(std::int64_t sample) const { return sample / samples_an_epoch; }

  /// Where the clusters of a logical sample begin in the orders of the epochs from `first_epoch` on, one behind the other.
  /// They end where those of the next sample begin.
  [[nodiscard]] TENDRIL_HD std::int64_t begin_of(std::int64_t sample, std::int64_t first_epoch) const
  {
    std::int64_t const epoch = epoch_of(sample);
    return (epoch - first_epoch) * num_clusters + (sample - epoch * samples_an_epoch) * clusters_a_sample;
  }
};

}  // namespace tendril::core
