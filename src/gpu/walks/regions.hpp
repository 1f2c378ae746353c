// Bulk walks on placed graphs: the lists that lie in host memory pass through the GPU in regions, each for the walks that
// wait for it. Which region when: src/place/regions.hpp.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <tendril/walk.hpp>

#include "gpu/walks/job.hpp"
#include "gpu/walks/plan.hpp"
#include "place/regions.hpp"

namespace tendril::gpu {

/// How walks use regions. Never changes a walk.
struct region_tuning {
  std::int64_t region_bytes = 0;  ///< 0: as place::cut_regions chooses.
  std::int64_t least_walks =
      -1;  ///< A batch of fewer walks reads lists in host memory one by one; -1: by the reckoning.
  place::region_choice choice = {};
  int load_blocks = 24;  ///< Thread blocks that copy regions: as many as fill the bus. bench/placed-walks
};

/// The regions of one graph, and what decides whether a batch uses them.
struct walk_regions {
  place::regions cut;
  buffer<std::uint64_t> begins;  ///< cut.begins, on the GPU.
  region_tuning tuning;
  std::int64_t least_walks = 0;

  [[nodiscard]] bool pay(std::int64_t num_walks) const { return num_walks >= least_walks; }
  /// GPU memory of a batch: two regions, and what is kept of each walk.
  [[nodiscard]] std::int64_t batch_bytes(std::int64_t num_walks) const;
};

/// The regions for walks of a plan: null where no list lies in host memory, and for walks that read more than the list of
/// the vertex that they stand on.
[[nodiscard]] std::shared_ptr<walk_regions const> make_walk_regions(graph const& graph, walk_params const& params,
                                                                    walk_plan const& plan, region_tuning const& tuning,
                                                                    gpu_exec const& exec);

/// A sentence for the plan.
[[nodiscard]] std::string reason_for(walk_regions const& regions);

/// Makes a batch. Synchronises after each region. @throws memory_error; device_error.
void region_walk(walk_job const& job, walk_regions const& regions, walk_batch const& batch, walk_shape const& shape,
                 gpu_exec const& exec);

/// walker::run_into by a tuning of the caller's. Never changes a walk.
void run_by_regions(walker const& walk, std::span<vertex_id const> starts, std::int64_t first_walk, vertex_id* vertices,
                    std::int32_t* lengths, gpu_exec const& exec, walk_order order, region_tuning const& tuning);

}  // namespace tendril::gpu
