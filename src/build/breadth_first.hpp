// Breadth-first searches whose queue is that of a serial search, whatever the number of threads.
//
// A level is a range of the queue. The vertex at position p of the level claims each neighbour that no earlier level has;
// of several claims the smallest position stays, as in a serial search. A second pass collects what each position has
// got, in the order of the row. Small levels go one by one, without the second pass.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/types.hpp>

#include "base/parallel.hpp"     // parallel_ranges
#include "build/undirected.hpp"  // undirected_view

namespace tendril::build {

/// What a search has found: a component, in the queue's [begin, end), whose last level is [last_level, end).
struct search_result {
  std::int64_t begin = 0;
  std::int64_t last_level = 0;
  std::int64_t end = 0;
  std::int64_t num_levels = 0;
};

/// Searches of one graph, which share a queue of all vertices and what they have visited.
/// @tparam Arrange  arrange(first, last) puts the vertices that one vertex has found, ascending, in their order.
template <class View, class Arrange>
class breadth_first {
 public:
  breadth_first(undirected_view<View> const& g, Arrange arrange, cpu_exec const& exec)
      : g_(g),
        arrange_(arrange),
        exec_(exec),
        queue_(g.num_vertices(), *exec.memory),
        parents_(g.num_vertices(), *exec.memory)
  {
    std::fill(parents_.begin(), parents_.end(), no_vertex);
  }

  [[nodiscard]] bool visited(vertex_id v) const { return parents_[v] != no_vertex; }
  [[nodiscard]] std::span<vertex_id const> queue() const { return queue_.span(); }
  [[nodiscard]] buffer<vertex_id> take_queue() { return std::move(queue_); }

  /// Visits all vertices that can be reached from `start`, which isn't visited, into the queue from `begin` on.
  search_result search(vertex_id start, std::int64_t begin)
  {
    queue_[begin] = start;
    parents_[start] = static_cast<vertex_id>(begin);
    search_result found{begin, begin, begin + 1, 1};
    while (true) {
      std::int64_t const end = expand(found.last_level, found.end);
      if (end == found.end) { return found; }
      found.last_level = found.end;
      found.end = end;
      ++found.num_levels;
    }
  }

  /// Forgets that a search visited its vertices.
  void forget(search_result const& found)
  {
    base::parallel_ranges(exec_, found.end - found.begin, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) { parents_[queue_[found.begin + i]] = no_vertex; }
    });
  }

 private:
  static constexpr std::int64_t vertices_a_range = std::int64_t{1} << 16U;
  static constexpr std::int64_t serial_level = 2048;  // threads take longer to start than such a level to expand
  static constexpr std::int64_t positions_a_piece = 256;

  /// Appends the next level to the level [begin, end) of the queue; returns its end.
  std::int64_t expand(std::int64_t begin, std::int64_t end)
  {
    return end - begin < serial_level || base::num_threads(exec_) == 1 ? expand_one_by_one(begin, end)
                                                                       : expand_together(begin, end);
  }

  std::int64_t expand_one_by_one(std::int64_t begin, std::int64_t end)
  {
    std::int64_t out = end;
    for (std::int64_t p = begin; p < end; ++p) {
      std::int64_t const first = out;
      g_.for_each_neighbor(queue_[p], [&](vertex_id x) {
        if (parents_[x] != no_vertex) { return; }
        parents_[x] = static_cast<vertex_id>(p);
        queue_[out++] = x;
      });
      arrange_(queue_.data() + first, queue_.data() + out);
    }
    return out;
  }

  std::int64_t expand_together(std::int64_t begin, std::int64_t end)
  {
    std::int64_t const size = end - begin;
    base::parallel_ranges(exec_, size, positions_a_piece, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        auto const p = static_cast<vertex_id>(begin + i);
        // The parents of earlier vertices, and of this level, are at smaller positions.
        g_.for_each_end(queue_[p], [&](vertex_id x) {
          std::atomic_ref parent(parents_[x]);
          for (auto seen = parent.load(std::memory_order_relaxed);
               p < seen && !parent.compare_exchange_weak(seen, p, std::memory_order_relaxed);) {}
        });
      }
    });
    std::vector<std::vector<vertex_id>> found(
        static_cast<std::size_t>((size + positions_a_piece - 1) / positions_a_piece));
    base::parallel_ranges(exec_, size, positions_a_piece, [&](std::int64_t first, std::int64_t last) {
      auto& mine = found[static_cast<std::size_t>(first / positions_a_piece)];
      for (std::int64_t i = first; i < last; ++i) {
        std::size_t const before = mine.size();
        g_.for_each_neighbor(queue_[begin + i], [&](vertex_id x) {
          if (parents_[x] == begin + i) { mine.push_back(x); }
        });
        arrange_(mine.data() + before, mine.data() + mine.size());
      }
    });
    std::int64_t out = end;
    for (auto const& piece : found) {
      std::copy(piece.begin(), piece.end(), queue_.data() + out);
      out += std::ssize(piece);
    }
    return out;
  }

  undirected_view<View> g_;
  Arrange arrange_;
  cpu_exec const& exec_;
  buffer<vertex_id> queue_;
  buffer<vertex_id> parents_;  // the position that found a vertex; no_vertex: not visited
};

/// Calls visit(v, begin) for the first vertex of each component in the order of `starts`; it returns the end of what it
/// has visited from `begin` on.
template <class Search, class Visit>
void for_each_component(Search const& search, std::span<vertex_id const> starts, cpu_exec const& exec, Visit&& visit)
{
  auto const size = std::ssize(starts);
  constexpr std::int64_t interval = std::int64_t{1} << 16U;
  std::int64_t end = 0, reported = -interval;
  for (vertex_id const v : starts) {
    if (search.visited(v)) { continue; }
    if (exec.on_progress && end - reported >= interval) {
      exec.on_progress({"ordering", end, size});
      reported = end;
    }
    end = visit(v, end);
  }
}

}  // namespace tendril::build
