// Bulk walks on placed graphs: the lists that lie in host memory pass through the GPU in regions, each for the walks that
// wait for it. Which region when: src/place/regions.hpp.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <tendril/walk.hpp>

#include "gpu/walks/job.hpp"
#include "gpu/walks/plan.hpp"
#include "place/regions.hpp"

namespace tendril::gpu {

/// How walks use regions. Never changes a walk.
struct region_tuning {
  std::int64_t region_bytes = 0;  ///< 0: as place::region_bytes says.
  std::int64_t least_walks =
      -1;  ///< A batch of fewer walks reads lists in host memory one by one; -1: by the reckoning.
  place::region_choice choice = {};
  int load_blocks = 24;  ///< Thread blocks that copy regions: as many as fill the bus. bench/placed-walks
  /// Buffers on the GPU hold this share of the lists in host memory, where a quarter of the free memory has room for it;
  /// three regions in any case. bench/placed-walks
  double buffer_share = 1.0 / 3;
};

/// What walks by regions did.
struct region_use {
  std::int64_t walks = 0;  ///< That were made by regions.
  std::int64_t loads = 0;  ///< Of regions.
  std::int64_t bytes = 0;  ///< Of these.

  region_use& operator+=(region_use const& other)
  {
    walks += other.walks;
    loads += other.loads;
    bytes += other.bytes;
    return *this;
  }
};

/// The regions of one graph for one kind of walks, and what decides whether a batch uses them.
struct walk_regions {
  std::span<std::uint64_t const> cuts;  ///< placed_lists::cuts
  region_tuning tuning;
  double reads = 0;  ///< Of lists in host memory, a walk.
  std::int64_t least_walks = 0;

  static constexpr std::int64_t state_bytes = 9;  ///< GPU memory that is kept of each walk of a batch.

  [[nodiscard]] bool pay(std::int64_t num_walks) const { return num_walks >= least_walks; }
  [[nodiscard]] std::int64_t all_bytes() const { return static_cast<std::int64_t>(cuts.back() - cuts.front()); }
  [[nodiscard]] place::regions cut_for(std::int64_t num_walks) const;
  /// GPU memory of the buffers that the regions of a cut pass through, of so much that is free; 0 if it has no room for three.
  [[nodiscard]] std::int64_t buffer_bytes(place::regions const& cut, std::int64_t free) const;
  /// The time in which the regions pass, if the buffers have room.
  [[nodiscard]] double passing_seconds() const;
};

/// The regions for walks of a plan: null where no list lies in host memory, for walks that read the list of another vertex
/// than the one that they stand on, and for those that choose by tables in the place of lists. Weights are read where they
/// lie.
[[nodiscard]] std::shared_ptr<walk_regions const> make_walk_regions(graph const& graph, walk_params const& params,
                                                                    walk_plan const& plan, region_tuning const& tuning);

/// A sentence for the plan of so many walks.
[[nodiscard]] std::string reason_for(walk_regions const& regions, std::int64_t expected_walks);

/// Makes a batch. Synchronises after each region.
/// @param cut           walk_regions::cut_for() such a batch.
/// @param buffer_bytes  walk_regions::buffer_bytes() of it, not 0.
/// @throws memory_error; device_error.
[[nodiscard]] region_use region_walk(walk_job const& job, region_tuning const& tuning, place::regions const& cut,
                                     std::int64_t buffer_bytes, walk_batch const& batch, walk_shape const& shape,
                                     gpu_exec const& exec);

/// walker::run_into by a tuning of the caller's. Never changes a walk.
region_use run_by_regions(walker const& walk, std::span<vertex_id const> starts, std::int64_t first_walk,
                          vertex_id* vertices, std::int32_t* lengths, gpu_exec const& exec, walk_order order,
                          region_tuning const& tuning);

/// walker::run_into, row by row; adds what regions did to `use`.
void run_counted(walker const& walk, std::span<vertex_id const> starts, std::int64_t first_walk, vertex_id* vertices,
                 std::int32_t* lengths, gpu_exec const& exec, region_use& use);

/// The regions that large batches of a walker use; null where there are none.
[[nodiscard]] walk_regions const* regions_of(walker const& walk, gpu_exec const& exec);

}  // namespace tendril::gpu
