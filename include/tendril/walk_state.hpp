// The arguments of a dynamic walk's functions: the walker's state, and the edges that it may follow. Host and device.

#pragma once

#include <cstdint>

#include <tendril/graph_view.hpp>

namespace tendril {

/// The state of a walker before a step. Every function of a dynamic walk receives it read-only.
struct walk_state {
  csr_arrays graph;
  std::uint64_t walk = 0;          ///< Logical id.
  std::int32_t step = 0;           ///< Steps taken so far, restarts included.
  vertex_id start = 0;             ///< The first vertex of the walk.
  vertex_id vertex = 0;            ///< The current vertex.
  vertex_id previous = no_vertex;  ///< The previous vertex; no_vertex before the first edge, and after a restart.
  edge_id previous_edge = -1;      ///< The edge that led to the current vertex; -1 if there is no previous vertex.
  float largest_weight = 0;        ///< The largest weight of the vertex's edges, if the walk has a bound(state) and
                                   ///< the graph has weights; else 0.
};

/// A handle to an out-edge of the walker's vertex. Each property is read from memory when it is requested. Valid as
/// long as the state that it was made from.
class walk_edge {
 public:
  TENDRIL_HD walk_edge(csr_arrays const& graph, edge_id index, std::uint32_t position)
      : graph_(&graph), index_(index), position_(position)
  {
  }

  /// The edge's position in the neighbourhood, in [0, degree).
  [[nodiscard]] TENDRIL_HD std::uint32_t position() const { return position_; }

  /// The edge's position in the graph's edge arrays.
  [[nodiscard]] TENDRIL_HD edge_id index() const { return index_; }

  [[nodiscard]] TENDRIL_HD vertex_id target() const { return read(graph_->indices + index_); }

  /// The edge's weight; 1 if the graph has no weights.
  [[nodiscard]] TENDRIL_HD float weight() const
  {
    return graph_->weights == nullptr ? 1.0F : read(graph_->weights + index_);
  }

  /// The edge's label; the graph must have edge labels.
  [[nodiscard]] TENDRIL_HD label_id label() const { return graph_->edge_labels[index_]; }

 private:
  /// Graphs don't change while walks run, so a GPU may read them past the coherent cache.
  template <class T>
  static TENDRIL_HD T read(T const* p)
  {
#ifdef __CUDA_ARCH__
    return __ldg(p);
#else
    return *p;
#endif
  }

  csr_arrays const* graph_;
  edge_id index_;
  std::uint32_t position_;
};

}  // namespace tendril
