// The ranks of an MPI job, where mpirun started this process as one of several: they act as one command.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parser_fwd.hpp"

#include <tendril/exec.hpp>
#include <tendril/transport.hpp>
#include <tendril/types.hpp>

namespace tendril::cli {

/// Joins the job, if there is one. Rank 0 alone prints. @throws rank_error without MPI in this build.
void join_job();

/// Leaves it: waits for the others, or ends those that don't answer.
void leave_job();

/// Null outside of a job.
[[nodiscard]] transport* job_ranks();

/// The number of this rank among those of its machine, from 0 on; 0 outside of a job.
[[nodiscard]] int rank_on_this_machine();

/// Whether this process prints: outside of a job, and on rank 0.
[[nodiscard]] bool is_first_rank();

/// Whether an error is for this process to tell; "rank 2 of 4: " goes before it, unless it is `about` a rank and names it
/// itself. Tells the other ranks. @param of_argument  Whether it is about a wrong option: all ranks then end with that code.
[[nodiscard]] bool tells_of(std::string& message, std::optional<int> about, bool of_argument);

/// @throws argument_error for a verb that ranks can't share, and for standard input and output.
void expect_verb_of_ranks(CLI::App const& application);

/// Something that all ranks must agree on.
struct agreement {
  std::string what;  ///< "the graph"; like the value without the character 0.
  std::string value;
};

/// A call of all ranks. @throws rank_error naming the first rank that differs from rank 0, and in what.
void expect_agreement(transport& ranks, std::vector<agreement> const& all);

/// A call of all ranks that share a verb, before its work: every option must have the same value on all ranks, but for
/// those that never change a file. An option of a new name must agree. The paths of inputs may differ: the content of
/// the files is compared once it is read.
/// @throws rank_error that names the rank and the option.
void expect_same_options(CLI::App const& application);

/// The content of the file that an option names, for expect_agreement: by a hash.
[[nodiscard]] agreement content_of(std::string_view option, std::span<vertex_id const> vertices);
[[nodiscard]] agreement content_of(std::string_view option, std::span<float const> values);
[[nodiscard]] agreement content_of(std::string_view option, std::string_view text);

/// A call of all ranks: compares the vertices of the file that an option names. Nothing outside of a job.
/// @throws rank_error.
void expect_same_vertices(std::string const& option, std::span<vertex_id const> vertices);

/// An executor whose progress also tells other ranks that this one is alive. @param ranks  Null outside of a job.
[[nodiscard]] cpu_exec beating(cpu_exec exec, transport* ranks);

/// work(), which has no progress and makes no calls of ranks, while others are told that this rank is alive.
/// @param ranks  Null outside of a job.
void work_beating(transport* ranks, std::function<void()> const& work);

/// Adds seconds, counts, … up over all ranks: the sum, or the largest.
[[nodiscard]] std::int64_t sum_over(transport* ranks, std::string_view what, std::int64_t value);
[[nodiscard]] double longest_of(transport* ranks, std::string_view what, double seconds);

/// What ranks sent each other, as a line for people; empty outside of a job.
[[nodiscard]] std::string ranks_line(transport const* ranks, bool sharded, std::int64_t sent_bytes);

}  // namespace tendril::cli
