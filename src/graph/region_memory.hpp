// Memory that holds one region of a mapped graph at a time.

#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <tendril/graph_view.hpp>

#include "graph/file_window.hpp"
#include "graph/regions.hpp"

namespace tendril {

/// A region of a graph, read from the graph's file around the cache of the system. Arrays that lie in no file are used
/// where they are.
class region_memory {
 public:
  /// @param regions  Must outlive the memory.
  explicit region_memory(graph_regions const& regions);

  /// Reads a region in place of the one before; nothing if it is here already.
  /// @return Bytes that were read. @throws io_error if the file became shorter, or can't be read; memory_error.
  std::int64_t read(std::int64_t region);

  /// Asks the system for what belongs to some vertices, whatever their region, before they are looked at: their pages are
  /// then read at once, not one after the other. @param vertices  In ascending order, for a disk that minds.
  void ask_for(std::span<vertex_id const> vertices) const;

  [[nodiscard]] bool has(std::int64_t region) const { return region == held_; }

  /// The whole graph; what the region has is in memory.
  [[nodiscard]] graph_view const& view() const { return view_; }

 private:
  static constexpr std::int64_t nothing = -1;

  graph_regions const& regions_;
  std::array<file_window, graph_regions::num_arrays> windows_;
  graph_view view_;
  std::int64_t held_ = nothing;
};

}  // namespace tendril
