// What `tendril walk` makes, whatever the application and the place: a stream of walks, and what files and summaries say
// of them.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/partition.hpp>
#include <tendril/plan.hpp>
#include <tendril/sharded_walk.hpp>
#include <tendril/transport.hpp>
#include <tendril/walk_parts.hpp>
#include <tendril/walk_stream.hpp>

#include "common.hpp"
#include "walk_job.hpp"

namespace tendril::cli {

/// A job, or a part of one, that is ready to run.
struct prepared_walks {
  std::int64_t num_walks = 0;
  walk_range range;            ///< Which walks of the job these are.
  std::int64_t job_walks = 0;  ///< Of the whole job.
  std::int64_t row = 0;        ///< Vertices of a walk's row.
  std::int64_t length = 0;     ///< Steps of a whole walk.

  std::string description;            ///< For people: "deepwalk, 80 steps (uniform)".
  json params;                        ///< For programs, and for metadata of files.
  std::optional<sampling_plan> plan;  ///< Where there was something to plan.
  std::map<std::string, std::string> metadata;

  graph there;  ///< Where walks are made.

  walk_stream_job stream;  ///< All these walks; without a sink.

  /// Streams walks where the job is to run: `stream`, once it has a sink.
  std::function<walk_stream_report(walk_stream_job const& stream)> run;
};

/// Walks that go from vertex to vertex: all applications but multidim; on the GPU that the job names, or on the CPU.
/// @param part  Only these walks of the job are made; tables are built where they pay for them.
/// @param g     In host memory.
/// @throws argument_error for options that don't fit the application or the graph; device_error.
[[nodiscard]] prepared_walks prepare_plain_walks(walk_job const& job, job_part part, graph const& g,
                                                 cpu_exec const& exec);

/// The same on a graph in parts, of which this rank has one: `run` is a call of all ranks, each of which makes a part of the
/// walks. @param facts  Of the whole graph. @param report  Filled by `run`.
[[nodiscard]] prepared_walks prepare_sharded_walks(walk_job const& job, graph_part part, graph_facts const& facts,
                                                   transport& ranks, sharded_walk_report& report, cpu_exec const& exec);

/// Multi-dimensional walks. @throws as prepare_plain_walks.
[[nodiscard]] prepared_walks prepare_multidim_walks(walk_job const& job, job_part part, graph const& g,
                                                    cpu_exec const& exec);

}  // namespace tendril::cli
