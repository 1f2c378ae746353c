// How results are shown and kept.

#pragma once

#include <string>
#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// Adds the ratio of two jobs' figures as a row of its own, with the goal that it was given.
void append_ratio(std::vector<row>& rows, std::string const& job, std::string const& base, double goal);

/// An aligned table on standard output.
void print_table(std::vector<row> const& rows);

/// {"machine", "commit", "date", "rows"}; appears under its name when it is complete. The commit is that of the
/// TENDRIL_COMMIT environment variable or of the git checkout the program runs in, else "unknown".
/// @param gpu_name  The GPU that was measured; empty: none.
/// @throws io_error.
void write_result_file(std::string const& path, std::vector<row> const& rows, int threads,
                       std::string const& gpu_name = {});

}  // namespace tendril::bench
