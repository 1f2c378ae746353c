// The arguments of a dynamic walk's functions: the walker's state, and the edges that it may follow. Host and device.

#pragma once

#include <cstdint>

#include <tendril/named_view.hpp>

namespace tendril {

/// The state of a walker before a step, on graphs of one form. Every function of a dynamic walk receives it read-only.
template <class View>
struct basic_walk_state {
  View graph;
  std::uint64_t walk = 0;          ///< Logical id.
  std::int32_t step = 0;           ///< Steps taken so far, restarts included.
  vertex_id start = 0;             ///< The first vertex of the walk.
  vertex_id vertex = 0;            ///< The current vertex.
  vertex_id previous = no_vertex;  ///< The previous vertex; no_vertex before the first edge, and after a restart.
  /// The edge that led to the current vertex, an edge_id to whoever asks; -1 if there is no previous vertex. A
  /// compressed graph reads memory for it.
  typename View::edge_mark previous_edge = View::no_edge();
  float largest_weight = 0;  ///< The largest weight of the vertex's edges, if the walk has a bound(state) and the graph
                             ///< has weights; else 0.

  /// The weight of the edge that led to the current vertex. There must be one, and the graph must have weights.
  [[nodiscard]] TENDRIL_HD float previous_weight() const { return graph.edges().weight(previous_edge); }
};

using walk_state = basic_walk_state<named_view>;

/// A handle to an out-edge of the walker's vertex. Each property is read from memory when it is requested. Valid as
/// long as the row that it was made from.
template <class View>
class basic_walk_edge {
 public:
  using row_type = typename View::row_type;

  TENDRIL_HD basic_walk_edge(row_type const& row, std::uint64_t position) : row_(&row), position_(position) {}

  /// The edge's position in the neighbourhood, in [0, degree).
  [[nodiscard]] TENDRIL_HD std::uint32_t position() const { return static_cast<std::uint32_t>(position_); }

  /// The edge's position in the graph's edge arrays.
  [[nodiscard]] TENDRIL_HD edge_id index() const { return row_->edge(position_); }

  [[nodiscard]] TENDRIL_HD vertex_id target() const { return row_->neighbor(position_, lasting_load{}); }

  /// The edge's weight; 1 if the graph has no weights.
  [[nodiscard]] TENDRIL_HD float weight() const
  {
    return row_->has_weights() ? row_->weight(position_, lasting_load{}) : 1.0F;
  }

  /// The edge's label; the graph must have edge labels.
  [[nodiscard]] TENDRIL_HD label_id label() const { return row_->label(position_); }

  /// All out-edges of the walker's vertex (<tendril/row.hpp>).
  [[nodiscard]] TENDRIL_HD row_type const& row() const { return *row_; }

 private:
  /// Graphs don't change while walks run, so a GPU may read them past the coherent cache.
  struct lasting_load {
    template <class T>
    TENDRIL_HD T operator()(T const* p) const
    {
#ifdef __CUDA_ARCH__
      return __ldg(p);
#else
      return *p;
#endif
    }
  };

  row_type const* row_;
  std::uint64_t position_;  // 64 bits wide: reads at constant distances then share an address
};

using walk_edge = basic_walk_edge<named_view>;

}  // namespace tendril
