// Where walks go: a file that this process writes alone, or one that all ranks write. It keeps their rows, or counts them.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <tendril/exec.hpp>
#include <tendril/transport.hpp>
#include <tendril/walk_parts.hpp>
#include <tendril/walk_stream.hpp>
#include <tendril/write_walks.hpp>

namespace tendril::cli {

/// "walks.npy" to "walks.part-00002-of-00004.npy".
[[nodiscard]] std::string name_of_part(std::string const& output, job_part part);

class walk_output {
 public:
  virtual ~walk_output() = default;

  /// Has the walks of a job come here. @param exec  For the work of writing; outlives the job.
  virtual void receive(walk_stream_job& job, cpu_exec const& exec) = 0;

  /// Completes the file; of ranks, after all have called it.
  virtual void commit(cpu_exec const& exec) = 0;
};

/// Vertices [first, first + size).
struct vertex_range {
  std::int64_t first = 0, size = 0;
};

/// A file of one count a vertex, of this process's walks or of those of all ranks.
/// @param mine   The vertices of a rank that has a part of the graph, which counts what all walks do there; else each rank counts
///               its own walks on all vertices.
/// @param ranks  Or null.
[[nodiscard]] std::unique_ptr<walk_output> file_of_counts(std::string const& path, walk_count what,
                                                          std::int64_t num_vertices, std::optional<vertex_range> mine,
                                                          std::map<std::string, std::string> const& metadata,
                                                          transport* ranks);

/// A file of this process's walks alone. @param part  Which part of a job they are, if they are one.
[[nodiscard]] std::unique_ptr<walk_output> alone(std::string const& path, walk_file_info info,
                                                 std::optional<job_part> part);

/// One file of all ranks, which lies where all of them can write. Rows of .npy and .safetensors are written to their places;
/// text and ragged walks, whose places nobody knows before, into a file a rank, from which each rank then copies its own to their
/// places. Texts for a pipe are joined by rank 0.
/// @param info  Of the whole file. @param mine  The walks of this rank.
[[nodiscard]] std::unique_ptr<walk_output> together(std::string const& path, walk_file_info const& info,
                                                    walk_range mine, transport& ranks);

}  // namespace tendril::cli
