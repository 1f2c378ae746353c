// Rows of a table over the memory of several GPUs.

#pragma once

#include <vector>

#include "bench/bench.hpp"
#include "bench/report.hpp"

namespace tendril::bench {

/// All GPUs of `o` gather at once from one table over their memory, with a row for each vertex: without copies, and with copies
/// of the rows that most edges lead to on each. @param g  CSR, in host memory.
[[nodiscard]] std::vector<row> run_gpu_one_table(options const& o, graph const& g);

}  // namespace tendril::bench
