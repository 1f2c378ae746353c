// Where the vertices of a graph are cut into parts.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tendril::dist {

/// Part p of n things that are dealt out to `num_parts` as evenly as possible: the place of its first one.
[[nodiscard]] constexpr std::int64_t even_bound(std::int64_t n, std::int64_t num_parts, std::int64_t p)
{
  return n / num_parts * p + n % num_parts * p / num_parts;
}

/// Bounds of parts with as equal work as consecutive vertices allow: the largest part is as small as it can be, and
/// within that each bound lies as near to its even share as it can.
/// @param before  before(v) is the work of all vertices below v, for v up to num_vertices; ascending from 0.
/// @return [num_parts + 1]
template <class Before>
[[nodiscard]] std::vector<std::int64_t> even_work_bounds(std::int64_t num_vertices, std::int64_t num_parts,
                                                         Before before)
{
  std::int64_t const total = before(num_vertices);
  // The last vertex in [from, num_vertices] with at most so much work before it.
  auto const reach = [&](std::int64_t from, std::int64_t work) {
    std::int64_t low = from, high = num_vertices;
    while (low < high) {
      std::int64_t const middle = high - (high - low) / 2;
      before(middle) <= work ? low = middle : high = middle - 1;
    }
    return low;
  };
  // Parts filled from the front, each as far as `most` allows, reach the end.
  auto const fits = [&](std::int64_t most) {
    std::int64_t v = 0;
    for (std::int64_t p = 0; p < num_parts && v < num_vertices; ++p) { v = reach(v, before(v) + most); }
    return v == num_vertices;
  };
  std::int64_t most = total / num_parts, enough = total;
  while (most < enough) {
    std::int64_t const middle = most + (enough - most) / 2;
    fits(middle) ? enough = middle : most = middle + 1;
  }

  std::vector<std::int64_t> bounds(static_cast<std::size_t>(num_parts) + 1, num_vertices);
  auto const at = [&](std::int64_t p) -> std::int64_t& { return bounds[static_cast<std::size_t>(p)]; };
  // From the back: the least vertex where part p may begin so that it and those behind it have room.
  for (std::int64_t p = num_parts - 1; p >= 0; --p) {
    std::int64_t low = 0, high = at(p + 1);
    while (low < high) {
      std::int64_t const middle = low + (high - low) / 2;
      before(at(p + 1)) - before(middle) <= most ? high = middle : low = middle + 1;
    }
    at(p) = low;
  }
  for (std::int64_t p = 1; p < num_parts; ++p) {
    std::int64_t const share = even_bound(total, num_parts, p), below = reach(0, share);
    bool const up = below < num_vertices && before(below + 1) - share < share - before(below);
    at(p) = std::clamp(below + (up ? 1 : 0), at(p), reach(at(p - 1), before(at(p - 1)) + most));
  }
  return bounds;
}

}  // namespace tendril::dist
