#include "build/offsets.hpp"

#include <vector>

#include "base/parallel.hpp"  // parallel_ranges

namespace tendril::build {

void sum_up(std::span<edge_id> degrees, cpu_exec const& exec)
{
  constexpr std::int64_t grain = std::int64_t{1} << 18U;
  auto const size = std::ssize(degrees);
  auto* const values = degrees.data();
  std::vector<edge_id> sums(static_cast<std::size_t>((size + grain - 1) / grain) + 1, 0);
  base::parallel_ranges(exec, size, grain, [&](std::int64_t begin, std::int64_t end) {
    edge_id sum = 0;
    for (std::int64_t v = begin; v < end; ++v) { sum += values[v]; }
    sums[static_cast<std::size_t>(begin / grain) + 1] = sum;
  });
  for (std::size_t r = 0; r + 1 < sums.size(); ++r) { sums[r + 1] += sums[r]; }
  base::parallel_ranges(exec, size, grain, [&](std::int64_t begin, std::int64_t end) {
    edge_id sum = sums[static_cast<std::size_t>(begin / grain)];
    for (std::int64_t v = begin; v < end; ++v) { values[v] = sum += values[v]; }
  });
}

}  // namespace tendril::build
