// What `tendril walk` makes, whatever the application and the place: walks batch by batch, and what files and summaries
// say of them.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/plan.hpp>
#include <tendril/types.hpp>

#include "common.hpp"
#include "walk_job.hpp"

namespace tendril::cli {

/// What running a job took. Its parts go on at the same time.
struct walk_outcome {
  std::int64_t steps = 0;
  double sample_seconds = 0;
  double copy_seconds = 0;  ///< From the GPU to the host; 0 on the CPU.
  double write_seconds = 0;
};

/// Takes the next walks: vertices [n, row], lengths [n]. Called on another thread than the one that runs the job.
using walk_sink = std::function<void(std::span<vertex_id const> vertices, std::span<std::int32_t const> lengths)>;

/// Told how many walks are done, on the thread that runs the job.
using walk_watch = std::function<void(std::int64_t done)>;

/// A job that is ready to run.
struct walk_batches {
  std::int64_t num_walks = 0;
  std::int64_t row = 0;     ///< Vertices of a walk's row.
  std::int64_t length = 0;  ///< Steps of a whole walk.

  std::string description;            ///< For people: "deepwalk, 80 steps (uniform)".
  json params;                        ///< For programs, and for metadata of files.
  std::optional<sampling_plan> plan;  ///< Where there was something to plan.
  std::map<std::string, std::string> metadata;

  /// Makes all walks and hands them to `sink`, in order; while some are taken, others are made. `watch` may be empty.
  std::function<walk_outcome(walk_sink const& sink, walk_watch const& watch)> run;
};

/// Walks that go from vertex to vertex: all applications but multidim; on the GPU that the job names, or on the CPU.
/// @param g  In host memory.
/// @throws argument_error for options that don't fit the application or the graph; device_error.
[[nodiscard]] walk_batches plain_walks(walk_job const& job, graph const& g, cpu_exec const& exec);

/// Multi-dimensional walks. @throws as plain_walks.
[[nodiscard]] walk_batches multidim_walks_of(walk_job const& job, graph const& g, cpu_exec const& exec);

}  // namespace tendril::cli
