#include "gpu/placed/arrays.hpp"

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "base/memory_room.hpp"  // available_bytes

namespace tendril::gpu {
namespace {

std::string megabytes(std::int64_t bytes) { return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6); }

}  // namespace

std::int64_t budget_beside(std::int64_t directory, std::int64_t limit, std::int64_t free, budget_names const& names,
                           int device)
{
  std::int64_t const all = limit > 0 ? limit : free / 10 * 9;
  if (all < directory) {
    throw memory_error(fmt::format("{}: {} bytes of GPU memory, expected at least {} for the graph's {}", names.limit,
                                   all, directory, names.directory));
  }
  if (directory > free) {
    throw memory_error(fmt::format("GPU {}: {} free, expected at least the {} of the graph's {}", device,
                                   megabytes(free), megabytes(directory), names.directory));
  }
  return all - directory;
}

void expect_room(std::int64_t on_gpu, std::int64_t free, std::int64_t on_host, budget_names const& names, int device)
{
  if (on_gpu > free) {
    throw memory_error(fmt::format("{}: {} of the graph would lie on GPU {}, which has {} free", names.limit,
                                   megabytes(on_gpu), device, megabytes(free)));
  }
  std::int64_t const available = base::available_bytes();
  if (on_host > available) {
    throw memory_error(fmt::format("out of memory: {} of the graph would lie in host memory, which has {} left",
                                   megabytes(on_host), megabytes(available)));
  }
}

}  // namespace tendril::gpu
