// One rank's part of a graph as executors of walks read it: rows by their place in the part, neighbours by their ids in the
// whole graph.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <tendril/graph.hpp>
#include <tendril/partition.hpp>

namespace tendril::dist {

/// Which rank has a vertex.
class vertex_owners {
 public:
  explicit vertex_owners(std::span<std::int64_t const> bounds) : bounds_(bounds.begin(), bounds.end())
  {
    while ((bounds_.back() >> shift_) >= max_hints) { ++shift_; }
    std::int64_t part = 0;
    for (std::int64_t first = 0; first < std::max<std::int64_t>(bounds_.back(), 1);
         first += std::int64_t{1} << shift_) {
      while (part + 2 < std::ssize(bounds_) && bounds_[static_cast<std::size_t>(part) + 1] <= first) { ++part; }
      hints_.push_back(static_cast<std::int32_t>(part));
    }
  }

  [[nodiscard]] int operator()(vertex_id v) const
  {
    auto part = static_cast<std::size_t>(hints_[v >> shift_]);
    while (bounds_[part + 1] <= v) { ++part; }
    return static_cast<int>(part);
  }

 private:
  static constexpr std::int64_t max_hints = 4096;
  std::vector<std::int64_t> bounds_;
  std::vector<std::int32_t> hints_;  // the part of the first vertex of each stretch of 2^shift
  int shift_ = 0;
};

/// What a rank walks on.
struct shard {
  explicit shard(graph_part the_part);

  graph_part part;
  graph rows;  ///< Of the part: neighbours may be no rows of it, so only `row` and what a planner asks may be called.
  vertex_owners owner;
  label_view node_types;  ///< Of the whole graph.

  [[nodiscard]] vertex_id first() const { return static_cast<vertex_id>(part.first_vertex()); }
  [[nodiscard]] edge_id first_edge() const { return part.first_edge(); }
};

}  // namespace tendril::dist
