// How often walks come to vertices, and end there, counted by several threads. GPU twin: src/gpu/walks/counts.hpp.

#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include <tendril/exec.hpp>
#include <tendril/types.hpp>
#include <tendril/walk_stream.hpp>

namespace tendril::cpu {

/// One more of vertex v, unless nobody counts. Other threads may count, too.
inline void count_one(std::span<std::int64_t> counts, vertex_id v)
{
  if (counts.empty()) { return; }
  std::atomic_ref(counts[v]).fetch_add(1, std::memory_order_relaxed);
}

/// Counts the vertices of walks, which are rows of `row`.
void count_rows(std::span<vertex_id const> vertices, std::span<std::int32_t const> lengths, std::int64_t row,
                walk_counts const& counts, cpu_exec const& exec);

}  // namespace tendril::cpu
