// Vertices sorted by degree.

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <mutex>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/types.hpp>

#include "base/parallel.hpp"        // parallel_ranges
#include "build/sort_vertices.hpp"  // all_vertices, sort_stably

namespace tendril::build {

enum class direction : std::uint8_t { rising, falling };

/// All vertices by degree(v), equal ones by id.
template <class Degree>
buffer<vertex_id> sorted_by_degree(std::int64_t num_vertices, direction which, Degree const& degree,
                                   cpu_exec const& exec)
{
  std::mutex mutex;
  std::int64_t largest = 0;
  base::parallel_ranges(exec, num_vertices, std::int64_t{1} << 16U, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t mine = 0;
    for (std::int64_t v = begin; v < end; ++v) { mine = std::max(mine, degree(v)); }
    std::lock_guard const lock(mutex);
    largest = std::max(largest, mine);
  });
  auto out = all_vertices(num_vertices, exec);
  auto const bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(largest)));
  sort_stably(
      out, bits,
      [&](vertex_id v) {
        std::int64_t const d = degree(std::int64_t{v});
        return static_cast<std::uint64_t>(which == direction::rising ? d : largest - d);
      },
      exec);
  return out;
}

}  // namespace tendril::build
