// Where walks go: a file that this process writes alone, or one that all ranks write.

#pragma once

#include <cstdint>
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

  void append(walk_rows const& rows, cpu_exec const& exec) { writer_->append(rows.vertices, rows.lengths, exec); }
  void append(ragged_rows const& rows, cpu_exec const& exec) { writer_->append(rows.offsets, rows.vertices, exec); }

  /// Completes the file; of ranks, after all have called it.
  virtual void commit(cpu_exec const&) { writer_->commit(); }

 protected:
  std::optional<walk_writer> writer_;
};

/// A file of this process's walks alone. @param part  Which part of a job they are, if they are one.
[[nodiscard]] std::unique_ptr<walk_output> alone(std::string const& path, walk_file_info info,
                                                 std::optional<job_part> part);

/// One file of all ranks, which lies where all of them can write. Rows of .npy and .safetensors are written to their places;
/// text and ragged walks, whose places nobody knows, into a file a rank, which rank 0 joins.
/// @param info  Of the whole file. @param mine  The walks of this rank.
[[nodiscard]] std::unique_ptr<walk_output> together(std::string const& path, walk_file_info const& info,
                                                    walk_range mine, transport& ranks);

}  // namespace tendril::cli
