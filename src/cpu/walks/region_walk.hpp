#pragma once

#include <cstdint>
#include <vector>

#include "cpu/walks/job.hpp"
#include "graph/regions.hpp"

namespace tendril::cpu {

/// Walks on a graph in a mapped file that memory does not hold: walkers wait at regions of it, the region where most of them
/// wait comes next, and each goes on until it comes to a vertex of another. While walkers are in one region, the next is
/// read. Walkers who are too few for a region that is read whole have their pages read where they are.
/// (GraphWalker: Wang et al., ATC'20; FlashMob: Yang et al., SOSP'21.)
class region_walk {
 public:
  /// @param regions  Two of them are in memory at a time.
  region_walk(walk_job const& job, graph_regions const& regions, cpu_exec const& exec);

  /// Makes the walks of a batch, as the executors that know no regions. Bytes beside the batch: waiting_bytes a walk.
  void run(walk_batch const& batch);

  static constexpr std::int64_t waiting_bytes = sizeof(walker_position) + 2 * sizeof(std::uint32_t);

  [[nodiscard]] std::int64_t read_bytes() const { return read_bytes_; }  ///< So far.

 private:
  static constexpr std::int64_t nowhere = -1;

  void let_in(walk_batch const& batch);
  [[nodiscard]] std::int64_t busiest_but(std::int64_t region) const;
  [[nodiscard]] bool pays_to_read(std::int64_t region) const;
  void go_on(walk_batch const& batch, std::int64_t region);
  void wait_at(std::int64_t region, std::uint32_t walker)
  {
    waiting_[static_cast<std::size_t>(region)].push_back(walker);
  }
  [[nodiscard]] std::vector<std::uint32_t>& waiting_at(std::int64_t region)
  {
    return waiting_[static_cast<std::size_t>(region)];
  }

  walk_job const& job_;
  graph_regions const& regions_;
  cpu_exec exec_;
  std::vector<walker_position> at_;                  // [walks of the batch]
  std::vector<std::vector<std::uint32_t>> waiting_;  // of each region
  std::int64_t done_ = 0;                            // walks of the batch
  std::int64_t read_bytes_ = 0;
};

}  // namespace tendril::cpu
