#include "cpu/walks/counts.hpp"

#include "base/parallel.hpp"

namespace tendril::cpu {
namespace {

constexpr std::int64_t walks_a_task = 1024;
constexpr std::int64_t ahead = 16;  // an addition that others see waits for all before it: its line should be there

/// Counts the first `num` vertices of a row.
void count_row(vertex_id const* row, std::int64_t num, std::span<std::int64_t> visits)
{
  for (std::int64_t k = 0; k < num; ++k) {
    if (k + ahead < num) { __builtin_prefetch(&visits[row[k + ahead]], 1); }
    count_one(visits, row[k]);
  }
}

}  // namespace

void count_rows(std::span<vertex_id const> vertices, std::span<std::int32_t const> lengths, std::int64_t row,
                walk_counts const& counts, cpu_exec const& exec)
{
  base::parallel_ranges(exec, std::ssize(lengths), walks_a_task, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      vertex_id const* const walk = vertices.data() + i * row;
      std::int32_t const steps = lengths[static_cast<std::size_t>(i)];
      if (!counts.visits.empty()) { count_row(walk, steps + std::int64_t{1}, counts.visits); }
      count_one(counts.ends, walk[steps]);
    }
  });
}

}  // namespace tendril::cpu
