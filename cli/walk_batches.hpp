// What `tendril walk` makes, whatever the application: walks batch by batch, and what files and summaries say of them.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/plan.hpp>

#include "common.hpp"
#include "walk_job.hpp"

namespace tendril::cli {

/// Consecutive walks, in memory that the next batch but one uses again.
struct walk_batch {
  buffer<vertex_id> vertices;    ///< [capacity, row]
  buffer<std::int32_t> lengths;  ///< [capacity]
};

/// A job that is ready to run.
struct walk_batches {
  std::int64_t num_walks = 0;
  std::int64_t row = 0;       ///< Vertices of a walk's row.
  std::int64_t length = 0;    ///< Steps of a whole walk.
  std::int64_t capacity = 0;  ///< Walks of a batch.

  std::string description;            ///< For people: "deepwalk, 80 steps (uniform)".
  json params;                        ///< For programs, and for metadata of files.
  std::optional<sampling_plan> plan;  ///< Where there was something to plan.
  std::map<std::string, std::string> metadata;

  /// Makes the walks [first, first + size) of the job, size <= capacity.
  std::function<void(std::int64_t first, std::int64_t size, walk_batch& batch, cpu_exec const& exec)> make;
};

/// Walks that go from vertex to vertex: all applications but multidim.
/// @throws argument_error for options that don't fit the application or the graph.
[[nodiscard]] walk_batches plain_walks(walk_job const& job, graph const& g, cpu_exec const& exec);

/// Multi-dimensional walks. @throws as plain_walks.
[[nodiscard]] walk_batches multidim_walks_of(walk_job const& job, graph const& g, cpu_exec const& exec);

}  // namespace tendril::cli
