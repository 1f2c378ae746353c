#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <tendril/exec.hpp>
#include <tendril/write_walks.hpp>

namespace tendril {

/// One of the `count` contiguous parts of a job's walks. The sizes of the parts differ by one walk at most; the larger
/// parts come first.
struct job_part {
  std::int64_t index = 0;  ///< In [0, count).
  std::int64_t count = 1;  ///< At least 1.
};

/// Parses "I/N". @throws argument_error "'3/3', expected I/N with I from 0 to N - 1".
[[nodiscard]] job_part parse_job_part(std::string_view text);

/// "1/3".
[[nodiscard]] std::string to_string(job_part part);

/// Walks [first, first + size) of a job.
struct walk_range {
  std::int64_t first = 0;
  std::int64_t size = 0;
};

/// The walks of one part. A part is empty if there are more parts than walks.
/// @param num_walks  Of the job, >= 0.
[[nodiscard]] walk_range walks_of(job_part part, std::int64_t num_walks);

/// What join_walks wrote.
struct joined_walks {
  std::int64_t num_parts = 0;
  std::int64_t num_walks = 0;
};

/// Joins files that each hold a part of a job's walks, in the order given, into the file that one run of the whole job
/// writes, byte for byte. The file appears when it is complete. Memory doesn't grow with the parts: each is read once to
/// compare it with the first, and once to copy it.
///
/// Metadata of .safetensors tell more than .npy and .txt: the parts must come from the same job, their logical ids must
/// follow each other, and where they carry the entry `part` ("1/3") all parts must be there, in order. The joined file
/// has no such entry.
///
/// @param parts  Files of one format, as `walk_writer` writes them.
/// @param path   Its extension names the same format.
/// @param exec   Text is checked on its threads; `on_progress` gets bytes.
/// @throws argument_error  no part, or an unknown extension; format_error "part: what, expected what as in first part";
///                         io_error.
joined_walks join_walks(std::span<std::string const> parts, std::string const& path, cpu_exec const& exec = {});

/// Appends the walks of a ragged file to those of another: of a part, say, to those of a file that several processes write.
/// @throws argument_error for a file of rows, and what `to` refuses; format_error for a file that is damaged; io_error.
void append_ragged_walks(std::string const& part, walk_writer& to, cpu_exec const& exec = {});

}  // namespace tendril
