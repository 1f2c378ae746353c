// Loops over vertices whose work is their edges.

#pragma once

#include <algorithm>
#include <cstdint>

#include <tendril/exec.hpp>
#include <tendril/types.hpp>

#include "base/parallel.hpp"  // parallel_ranges

namespace tendril::base {

/// The vertices of a graph by their work: a vertex counts one, and each of its edges one.
template <class FirstEdge>
class vertex_work {
 public:
  /// @param first_edge  first_edge(v) is where the edges of v begin, for v up to num_vertices; ascending from 0. Not called
  ///                    for a graph without vertices, which may have no offsets.
  vertex_work(std::int64_t num_vertices, FirstEdge first_edge) : num_vertices_(num_vertices), first_edge_(first_edge) {}

  [[nodiscard]] std::int64_t total() const { return num_vertices_ > 0 ? before(num_vertices_) : 0; }

  /// Calls f(begin, end) for consecutive ranges of about equal work that cover all vertices, on the threads of `exec`, in
  /// any order. Between pieces of many ranges it reports `what`, in units of work.
  template <class F>
  void for_each_range(char const* what, cpu_exec const& exec, F&& f) const
  {
    std::int64_t const num_ranges = total() / grain + 1;
    for (std::int64_t first = 0; first < num_ranges; first += ranges_a_piece) {
      if (what != nullptr && exec.on_progress) { exec.on_progress({what, first * grain, total()}); }
      parallel_ranges(exec, std::min(ranges_a_piece, num_ranges - first), 1, [&](std::int64_t r, std::int64_t) {
        std::int64_t const begin = vertex_at((first + r) * grain), end = vertex_at((first + r + 1) * grain);
        if (begin < end) { f(begin, end); }
      });
    }
  }

 private:
  static constexpr std::int64_t grain = std::int64_t{1} << 16U;
  static constexpr std::int64_t ranges_a_piece = 512;

  [[nodiscard]] std::int64_t before(std::int64_t v) const { return v + first_edge_(v); }

  /// The first vertex whose work begins at `work` or later.
  [[nodiscard]] std::int64_t vertex_at(std::int64_t work) const
  {
    std::int64_t low = 0, high = num_vertices_;
    while (low < high) {
      std::int64_t const middle = low + (high - low) / 2;
      if (before(middle) < work) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  std::int64_t num_vertices_;
  FirstEdge first_edge_;
};

}  // namespace tendril::base
