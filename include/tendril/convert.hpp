#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/io.hpp>

namespace tendril {

struct convert_options {
  read_options read = {};
  std::optional<graph_form> form = {};  ///< Of the neighbours; nothing: as in the input, `csr` after a building step.

  /// What the arrays of a conversion may take. The program itself and the pages of mapped files, which the system takes
  /// back when it needs them, come on top.
  std::int64_t memory_bytes = std::int64_t{1} << 30U;

  bool restart = false;  ///< Begin anew, whatever an earlier call left behind.
};

struct convert_result {
  std::int64_t num_vertices = 0;
  edge_id num_edges = 0;
  std::int64_t num_runs = 0;          ///< Sorted pieces of the input that were merged; 0: its rows came in order.
  std::int64_t num_resumed_runs = 0;  ///< Of these, those that an earlier call wrote.
};

/// Reads a graph and writes it as a native file, in bounded memory: the edges go to sorted runs in temporary files, which
/// are merged and encoded range by range. The rows of a native file without a building step are encoded as they are. The
/// output has the bytes that `read_graph`, `compress` and `write_graph` give, whatever the memory and the threads; it
/// appears when it is complete.
///
/// The temporary files lie in the folder OUTPUT.unfinished. They stay there if the call ends early, by a signal or because
/// memory or the disk is full: the same call then goes on behind the last complete run. They are removed if it succeeds or
/// the input is wrong. Another input (by its size and time) or other options begin anew.
///
/// @param input   An edge list, a Matrix Market, WebGraph or native file.
/// @param output  A .safetensors file.
/// @throws argument_error for other formats, for `memory_bytes` below 1 MiB, and where a part of the job doesn't fit into
///         it; io_error, format_error, memory_error as `read_graph` and `write_graph`.
convert_result convert_graph(std::string const& input, std::string const& output, convert_options const& options = {},
                             cpu_exec const& exec = {});

/// About how many bytes `read_graph` and `compress` take for a file; the file may say anything, so this is a guess.
/// @throws io_error, format_error if its format is not recognised.
[[nodiscard]] std::int64_t estimate_graph_memory(std::string const& input, read_options const& options = {});

/// The memory that a process can still have: what the system has free or can free, within the limit of the control group.
[[nodiscard]] std::int64_t available_memory();

/// Whether `convert_graph` reads a format.
[[nodiscard]] bool converts_in_bounded_memory(graph_format format) noexcept;

}  // namespace tendril
