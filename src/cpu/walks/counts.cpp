#include "cpu/walks/counts.hpp"

#include <algorithm>

#include "base/parallel.hpp"

namespace tendril::cpu {
namespace {

constexpr std::int64_t walks_a_task = 1024;
constexpr std::size_t ahead = 16;  // an addition that others see waits for its line, and all before it

}  // namespace

void vertex_counter::add_each(std::span<vertex_id const> vertices) const
{
  if (counts_.empty()) { return; }
  std::size_t const n = vertices.size(), far = n - std::min(n, ahead);
  for (std::size_t i = 0; i < far; ++i) {
    __builtin_prefetch(&counts_[vertices[i + ahead]], 1);
    add(vertices[i]);
  }
  for (std::size_t i = far; i < n; ++i) { add(vertices[i]); }
}

void count_rows(std::span<vertex_id const> vertices, std::span<std::int32_t const> lengths, std::int64_t row,
                walk_counts const& counts, cpu_exec const& exec)
{
  bool const shared = base::num_threads(exec) > 1;
  vertex_counter const visits(counts.visits, shared), ends(counts.ends, shared);
  base::parallel_ranges(exec, std::ssize(lengths), walks_a_task, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      auto const steps = static_cast<std::size_t>(lengths[static_cast<std::size_t>(i)]);
      auto const walk = vertices.subspan(static_cast<std::size_t>(i * row), steps + 1);
      visits.add_each(walk);
      ends.add(walk.back());
    }
  });
}

}  // namespace tendril::cpu
