// Two regions of a mapped graph in memory: one is used while the next is read.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <future>
#include <span>

#include "graph/region_memory.hpp"
#include "graph/regions.hpp"

namespace tendril {

class region_pair {
 public:
  /// @param graph_bytes  Of both regions.
  region_pair(graph const& input, std::int64_t graph_bytes);

  [[nodiscard]] graph_regions const& regions() const { return regions_; }

  /// Begins to read a region, unless it is there, or its visitors are so few that their pages are read sooner.
  void begin_reading(std::int64_t region, std::int64_t visitors);

  /// Waits for the region that is being read, and turns to `region` if it is there. Otherwise asks for the pages of the
  /// vertices that are visited. @param visited  Any order, any number of times.
  /// @return The whole graph, until the next call.
  graph_view const& turn_to(std::int64_t region, std::span<vertex_id const> visited);

  [[nodiscard]] std::int64_t read_bytes() const { return read_bytes_; }  ///< So far.

 private:
  graph_regions regions_;
  std::array<region_memory, 2> memory_;
  std::size_t here_ = 0;               // the one that is used
  std::future<std::int64_t> reading_;  // into the other; waits, if anything throws
  std::int64_t read_bytes_ = 0;
};

}  // namespace tendril
