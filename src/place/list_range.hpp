// The lists of a range of vertices, written apart from the others: for graphs that are written range by range.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tendril/graph_view.hpp>  // graph_form
#include <tendril/list_directory.hpp>

namespace tendril::place {

/// Blocks of lists. Places, wide entries and edges are counted from the range's first one.
struct list_range {
  std::vector<list_block> blocks;
  std::vector<wide_list> wide;
  std::vector<std::uint32_t> words;
  edge_id num_edges = 0;
  std::size_t num_missing = 0;  ///< Wide entries at the end, of vertices that the graph does not have.

  /// Counts places, wide entries and edges from those of the graph, of which so many lie before the range.
  /// @throws argument_error for more than the directory can say; nothing has changed then.
  void move_behind(std::uint64_t bytes, std::uint64_t num_wide, edge_id num_edges_before);
};

/// Writes the lists of vertices [first, first + offsets.size() - 1) in the codes of `form`. The words equal those that
/// `compress` writes for the same vertices.
/// @param first    A multiple of 11.
/// @param offsets  From 0 on: where each vertex' neighbours begin, and where the last one's end.
/// @param is_last  Whether the graph ends here: it has a block for vertex number num_vertices, too. Otherwise there is a
///                 multiple of 11 vertices.
[[nodiscard]] list_range write_range(graph_form form, vertex_id first, std::span<edge_id const> offsets,
                                     std::span<vertex_id const> targets, bool is_last);

}  // namespace tendril::place
