#pragma once

#include <cstdint>
#include <vector>

#include "cpu/walks/job.hpp"
#include "graph/region_pair.hpp"

namespace tendril::cpu {

/// Walks on a graph in a mapped file that memory does not hold: walkers wait at regions of it, the region where most of them
/// wait comes next, and each goes on until it comes to a vertex of another. While walkers are in one region, the next is
/// read. Walkers who are too few for a region that is read whole have their pages read where they are.
/// (GraphWalker: Wang et al., ATC'20; FlashMob: Yang et al., SOSP'21.)
class region_walk {
 public:
  /// @param graph_bytes  Of two regions, which are in memory at a time.
  region_walk(graph const& input, std::int64_t graph_bytes);

  /// Makes the walks of a batch, as the executors that know no regions. Bytes beside the batch: waiting_bytes a walk.
  void run(walk_job const& job, walk_batch const& batch, cpu_exec const& exec);

  static constexpr std::int64_t waiting_bytes = sizeof(walker_position) + 2 * sizeof(std::uint32_t);

  [[nodiscard]] std::int64_t read_bytes() const { return pair_.read_bytes(); }  ///< So far.

 private:
  static constexpr std::int64_t nowhere = -1;

  void let_in(walk_job const& job, walk_batch const& batch);
  [[nodiscard]] std::int64_t busiest_but(std::int64_t region) const;
  [[nodiscard]] std::vector<vertex_id> vertices_at(std::int64_t region) const;
  void go_on(walk_job const& job, graph_view const& graph, walk_batch const& batch, std::int64_t region,
             cpu_exec const& exec);
  void wait_at(std::int64_t region, std::uint32_t walker)
  {
    waiting_[static_cast<std::size_t>(region)].push_back(walker);
  }
  [[nodiscard]] std::vector<std::uint32_t>& waiting_at(std::int64_t region)
  {
    return waiting_[static_cast<std::size_t>(region)];
  }

  region_pair pair_;
  std::vector<walker_position> at_;                  // [walks of the batch]
  std::vector<std::vector<std::uint32_t>> waiting_;  // of each region
  std::int64_t done_ = 0;                            // walks of the batch
};

}  // namespace tendril::cpu
