// The launches of a group of mini-batches, hop by hop.

#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/batches/jobs.hpp"
#include "gpu/batches/labor.hpp"

namespace tendril::gpu {

/// Enqueues the picks of a hop through an edge type, but for LABOR's.
/// @param race  Scratch memory of races: race_scratch_bytes(most_vertices, fanout).
void enqueue_picks(edge_plan const& type, bool replace, expansion const& what, void* race, gpu_exec const& on);

class run_launches {
 public:
  explicit run_launches(run_memory& memory) : memory_(memory) {}

  /// Enqueues the upload of the block and everything up to the report on the stream of `on`. Waits for each launch
  /// whose picks are counted. Once.
  /// @throws too_many_picks where such a launch has more; memory_error.
  void enqueue(gpu_exec const& on);

  // The same in pieces, where other ranks make picks: begin; for each hop list_frontiers, sample or what stands for it, end_hop;
  // end.

  /// The upload of the block, and the numbers of the seeds.
  void begin(gpu_exec const& on);
  /// Lists the vertices that the hop expands: of many batches each one's new vertices are stored separately.
  void list_frontiers(std::size_t hop, gpu_exec const& on);
  void sample(std::size_t hop, std::size_t t, gpu_exec const& on);
  /// Finds memory for counted picks, and what follows them. The stream has been waited for since the last upload.
  /// @throws too_many_picks; memory_error.
  void make_room(std::size_t hop, std::size_t t, size_bound const& picks, gpu_exec const& on);
  /// Numbers what the picks of a hop, of which there are at most job.most_slots, have put into the table, and writes edges.
  void number(number_job& job, std::int64_t most_vertices, gpu_exec const& on);
  void end_hop() { bounds_.end_hop(); }
  /// Reverse edges, and the report.
  void end(gpu_exec const& on);

  [[nodiscard]] run_jobs const& jobs() const { return jobs_; }

 private:
  void number_all_seeds(gpu_exec const& on);
  void take_counted(std::size_t hop, std::size_t t, number_job& job, expansion& what, gpu_exec const& on);
  [[nodiscard]] labor_job labor_of(std::size_t hop, std::size_t t) const;
  void place_labor_picks(labor_job const& labor, expansion const& what, std::int64_t most, gpu_exec const& on);
  void take_tiles(number_job& job, gpu_exec const& on);

  run_memory& memory_;
  run_jobs jobs_{memory_};
  batch_plan const& plan_ = memory_.plan;
  batch_space& space_ = memory_.space;
  batch_input const& input_ = memory_.input;
  call_block const& block_ = memory_.block;
  count_columns const& columns_ = block_.columns();
  batch_bounds& bounds_ = memory_.sizes.bounds;
  bool late_ = false;  // behind a launch whose picks were counted: tiles were not foreseen
};

}  // namespace tendril::gpu
