// How large a file can become: `ulimit -f` and the free space of its file system.

#pragma once

#include <cstdint>
#include <string>

namespace tendril::base {

/// The largest size of a file in bytes that `ulimit -f` allows this process; 2^63 - 1 without such a limit. A write beyond
/// it raises the signal SIGXFSZ, which ends a process that doesn't expect it: so writers compare sizes before.
[[nodiscard]] std::int64_t file_size_limit();

/// Refuses a file that would pass `limit`. @throws io_error "PATH: cannot write: ...".
void expect_file_size(std::string const& path, std::int64_t size, std::int64_t limit);

/// Refuses a file that its file system has no room for. File systems that compress may hold more than they have free, and
/// some do not say what they have free: these refuse nothing.
/// @param file  Descriptor of the file, a regular one.
/// @param size  That it will have at least; what is written of it already needs no more room.
/// @throws io_error "PATH: cannot write: 3.0 TiB, expected at most the 12.3 GiB that are free".
void expect_file_room(std::string const& path, int file, std::int64_t size);

}  // namespace tendril::base
