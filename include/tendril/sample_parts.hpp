#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <tendril/exec.hpp>

namespace tendril {

/// What join_samples wrote.
struct joined_samples {
  std::int64_t num_parts = 0;
  std::int64_t num_arrays = 0;
};

/// Whether the name or the metadata of a file say that it is one of `tendril sample`: a .npz, or a .safetensors whose format
/// is "tendril-samples". @throws io_error, format_error for a .safetensors that can't be read.
[[nodiscard]] bool is_sample_file(std::string const& path);

/// Joins files that each hold a part of a job's samples, in the order given, into the file that one run of the whole job
/// writes, byte for byte: rows follow each other, offsets go on where those of the part before end, and arrays that belong to
/// no sample, such as `cluster_of`, must be the same in all parts. The file appears when it is complete. Memory doesn't grow
/// with the parts, but for the mapped pages of one array of a .npz, whose check sum is read at once: each part is read once to
/// compare it with the first, and once to copy it.
///
/// Metadata of .safetensors tell more than a .npz: the parts must come from the same job, their logical ids must follow each
/// other, and where they carry the entry `part` ("1/3") all parts must be there, in order. The joined file has no such entry.
///
/// @param parts  Files of one format, as `tendril sample` writes them.
/// @param path   Its extension names the same format.
/// @param exec   `on_progress` gets bytes.
/// @throws argument_error  no part, or an extension other than .npz and .safetensors; format_error "part: what, expected what
///                         as in first part"; io_error.
joined_samples join_samples(std::span<std::string const> parts, std::string const& path, cpu_exec const& exec = {});

}  // namespace tendril
