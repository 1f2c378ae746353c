// What a dynamic walk is told: where the walker stands, and the edges that it may follow. Host and device.

#pragma once

#include <cstdint>

#include <tendril/graph_view.hpp>

namespace tendril {

/// Where a walker stands before a step. Handed to every function of a dynamic walk; those read it only.
struct walk_state {
  graph_view graph;
  std::uint64_t walk = 0;          ///< Logical id.
  std::int32_t step = 0;           ///< Steps taken so far, restarts included.
  vertex_id start = 0;             ///< Where the walk began.
  vertex_id vertex = 0;            ///< Where the walker stands.
  vertex_id previous = no_vertex;  ///< The vertex before; no_vertex before the first edge, and after a restart.
  edge_id previous_edge = -1;      ///< The edge that led here; -1 where there is no previous.
  float largest_weight = 0;        ///< The largest weight of the vertex's edges, where the walk has a bound(state) and
                                   ///< the graph has weights; else 0.
};

/// An out-edge of the walker's vertex, as a handle: what is asked for is read when it is asked for. Valid as long as
/// the state that it was made from.
class walk_edge {
 public:
  TENDRIL_HD walk_edge(graph_view const& graph, edge_id index, std::uint32_t position)
      : graph_(&graph), index_(index), position_(position)
  {
  }

  /// Its place in the neighbourhood, in [0, degree).
  [[nodiscard]] TENDRIL_HD std::uint32_t position() const { return position_; }

  /// Its place in the graph's edge arrays.
  [[nodiscard]] TENDRIL_HD edge_id index() const { return index_; }

  [[nodiscard]] TENDRIL_HD vertex_id target() const { return read(graph_->indices + index_); }

  /// 1 where the graph has no weights.
  [[nodiscard]] TENDRIL_HD float weight() const
  {
    return graph_->weights == nullptr ? 1.0F : read(graph_->weights + index_);
  }

  /// Of a graph with edge labels.
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

  graph_view const* graph_;
  edge_id index_;
  std::uint32_t position_;
};

}  // namespace tendril
