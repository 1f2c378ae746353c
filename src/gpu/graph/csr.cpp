// How much memory a graph takes to build, and whether there is as much.

#include "gpu/graph/csr.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/gpu.hpp>

namespace tendril::gpu {

double build_csr_bytes(double num_arcs, double num_ids, double bytes_an_edge, bool positions,
                       build_options const& options)
{
  double const sorting = (positions ? 32.2 : 16.2) * num_arcs + (options.compact ? 4.25 : 0.0) * num_ids;
  double const finishing =
      ((positions ? 16.0 : 8.0) + 4.0 + bytes_an_edge) * num_arcs + (options.compact ? 12.0 : 8.0) * num_ids;
  return std::max(sorting, finishing);
}

void expect_gpu_memory(char const* what, double bytes, gpu_exec const& exec)
{
  if (exec.memory != nullptr) { return; }
  synchronize(exec);  // what was freed before counts as free once the stream has come there
  auto const free = static_cast<double>(free_gpu_bytes(exec.device));
  if (bytes > free) {
    throw memory_error(
        fmt::format("{}: the graph takes about {:.1f} GB to build, expected at most the {:.1f} GB free on GPU {}", what,
                    bytes / 1e9, free / 1e9, exec.device));
  }
}

}  // namespace tendril::gpu
