// Walks on the GPU that read whole neighbourhoods: those by the rule `scan`, of which only weighted metapaths may have a
// table, and metapaths by other rules where neighbours are not grouped by label.

#pragma once

#include <tendril/engine/walks/step.hpp>
#include <tendril/engine/walks/tuning.hpp>

#include "core/walk_apps.hpp"
#include "gpu/walks/job.hpp"

namespace tendril::gpu {

/// Enqueues one batch. Allocates O(resident warps) from the GPU's pool, in stream order; doesn't synchronise.
/// `batch.next_walk` is not used. @throws device_error; memory_error.
void scan_walk(walk_job const& job, walk_batch const& batch, walk_shape const& shape,
               engine::dynamic_tuning const& tuning = {});

/// Enqueues one batch along a metapath by any rule but scan, reading the labels of a whole row at each step: for plans
/// without neighbours grouped by label. Allocates O(1) from the GPU's pool, in stream order; doesn't synchronise.
/// `batch.next_walk` is not used. @throws device_error; memory_error.
void label_walk(walk_job const& job, walk_batch const& batch, walk_shape const& shape,
                engine::dynamic_tuning const& tuning = {});

/// The samplers of gpu/picks/comparison_samplers.cuh, which the race is measured against.
enum class comparison { direct_reservoir, zigzag_reservoir, exponential_jumps };

/// Enqueues one batch of weighted walks by another sampler: the distribution of scan_walk, other walks. For benchmarks.
/// @throws argument_error if the walk is not weighted; device_error; memory_error.
void comparison_walk(comparison sampler, walk_job const& job, walk_batch const& batch, walk_shape const& shape,
                     engine::dynamic_tuning const& tuning = {});

// What both are made of: a planned walk as the engine of dynamic walks takes it.

inline engine::dynamic_setup<graph_view> scan_setup(walk_job const& job, walk_batch const& batch,
                                                    walk_shape const& shape)
{
  engine::dynamic_setup<graph_view> setup;
  setup.graph = job.graph;
  setup.step_key = job.step_key;
  setup.step_keys = core::key_schedule::of(job.step_key);
  setup.ends = job.ends;
  setup.may_end = shape.may_stop || shape.may_restart;
  setup.length = batch.length;
  setup.repeat_dead_ends = batch.repeat_dead_ends;
  return setup;
}

inline engine::dynamic_batch scan_batch(walk_batch const& batch, walk_shape const& shape)
{
  std::int64_t const positions = batch.length + std::int64_t{1};
  return {batch.starts,
          batch.size,
          batch.first_walk,
          batch.vertices,
          shape.step_major ? 1 : positions,
          shape.step_major ? batch.stride : 1,
          batch.lengths,
          &batch.status->bad_start};
}

inline core::walk_choice scan_choice(walk_job const& job)
{
  core::walk_choice choice{job.weighted,        job.second_order,  job.metapath.of_vertices, job.bias,
                           job.metapath.schema, job.metapath.size, job.metapath.first_type};
  if (job.tables != nullptr && job.tables->lists) { choice.lists = job.tables->lists->view(); }
  return choice;
}

}  // namespace tendril::gpu
