// Walks on a graph over several GPUs whose walkers move: a call on one GPU, which all of them work for.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <tendril/several_gpus.hpp>
#include <tendril/walk.hpp>

#include "gpu/walks/job.hpp"

namespace tendril::gpu {

/// How walkers move. Never changes a walk.
struct moving_tuning {
  int ranks_a_gpu = 1;          ///< More than one are for tests: places on one GPU between which walkers move.
  int lanes = 2;                ///< Batches under way at once: while walkers of one travel, those of the other step.
  std::int64_t walks_each = 0;  ///< Walks of a batch and rank; 0: as many as an eighth of the free memory has room for.
  std::int64_t least_walks = std::int64_t{1} << 16U;  ///< A call for fewer a rank reads over the link instead.
};

/// Enqueues one step of `job` in the shape given: what launches whole batches, too.
using superstep_launch = void (*)(walk_job const& job, walk_batch const& batch, walk_shape const& shape);

/// A planned walk whose walkers move.
class moving_walk {
 public:
  /// @param job     Its graph and its tables are those of the calling GPU; each GPU gets its own.
  /// @param tables  Over the memory of all GPUs: those of whole.over_all.
  /// @param may_die Whether a walk can meet a vertex that it can't leave.
  moving_walk(std::shared_ptr<spread_graph const> whole, walk_job const& job, walk_tables const& tables,
              sampling_plan const& plan, walk_params const& params, bool may_die, superstep_launch launch);
  ~moving_walk();
  moving_walk(moving_walk const&) = delete;
  moving_walk& operator=(moving_walk const&) = delete;

  [[nodiscard]] std::int64_t least_call() const;  ///< Walks of a call that should use it.
  [[nodiscard]] std::int64_t large_call() const;  ///< Walks of a call that keep all GPUs busy.

  /// The tables that this GPU reads by itself, where walkers stay.
  [[nodiscard]] walk_tables const& tables_of(int device) const;

  /// Makes walks from starts in the memory of the GPU of `exec`, which are vertices, to the same memory: vertices
  /// [n, length + 1], lengths [n] or null. Synchronises. One call at a time: others wait.
  /// @throws memory_error; device_error.
  void run(std::span<vertex_id const> starts, std::int64_t first_walk, vertex_id* vertices, std::int32_t* lengths,
           gpu_exec const& exec, moving_tuning const& tuning = {}) const;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

/// Whether walkers of such a plan can move: where one draw decides a step, and rows don't both end by chance and repeat dead
/// ends.
[[nodiscard]] bool can_move(sampling_plan const& plan, walk_params const& params);

/// A sentence for the plan of walks on a graph over several GPUs. @param moving  Null: walkers stay.
[[nodiscard]] std::string reason_for(moving_walk const* moving);

/// walker::run_into by a tuning of the caller's, for a graph over several GPUs. Never changes a walk.
void run_moving(walker const& walk, std::span<vertex_id const> starts, std::int64_t first_walk, vertex_id* vertices,
                std::int32_t* lengths, gpu_exec const& exec, moving_tuning const& tuning);

/// What moves the walkers of large calls; null where they stay.
[[nodiscard]] moving_walk const* moving_of(walker const& walk, gpu_exec const& exec);

}  // namespace tendril::gpu
