// The view of a graph in CSR form. Includes little, so that a program compiled at run time can include it too.

#pragma once

#include <cstdint>

#include <tendril/csr_arrays.hpp>
#include <tendril/edge_arrays.hpp>
#include <tendril/labels.hpp>
#include <tendril/row.hpp>
#include <tendril/types.hpp>

namespace tendril {

/// The edges of one vertex of a CSR graph. <tendril/row.hpp> describes its members.
class csr_row {
 public:
  csr_row() = default;  ///< No edges.
  /// @param weights  Of the row, or null; `labels` of the graph.
  TENDRIL_HD csr_row(vertex_id const* neighbors, edge_id first_edge, std::uint32_t degree, float const* weights,
                     label_view labels)
      : neighbors_(neighbors), first_edge_(first_edge), weights_(weights), labels_(labels), degree_(degree)
  {
  }

  [[nodiscard]] TENDRIL_HD edge_id first_edge() const { return first_edge_; }
  [[nodiscard]] TENDRIL_HD edge_id edge(std::uint64_t i) const { return first_edge_ + static_cast<edge_id>(i); }
  [[nodiscard]] TENDRIL_HD edge_id mark(std::uint64_t i) const { return edge(i); }
  [[nodiscard]] TENDRIL_HD std::uint32_t degree() const { return degree_; }
  [[nodiscard]] TENDRIL_HD bool empty() const { return degree_ == 0; }
  [[nodiscard]] TENDRIL_HD bool has_weights() const { return weights_ != nullptr; }
  [[nodiscard]] TENDRIL_HD vertex_id neighbor(std::uint64_t i) const { return neighbors_[i]; }
  template <class Load>
  [[nodiscard]] TENDRIL_HD vertex_id neighbor(std::uint64_t i, Load load) const
  {
    return load(neighbors_ + i);
  }
  [[nodiscard]] TENDRIL_HD float weight(std::uint64_t i) const { return weight(i, plain_load{}); }
  template <class Load>
  [[nodiscard]] TENDRIL_HD float weight(std::uint64_t i, Load load) const
  {
    return load(weights_ + i);
  }
  [[nodiscard]] TENDRIL_HD float const* weights() const { return weights_; }
  [[nodiscard]] TENDRIL_HD label_id label(std::uint64_t i) const { return labels_[edge(i)]; }
  void prefetch(std::uint32_t i) const { prefetch_address(neighbors_ + i); }
  void prefetch_weight(std::uint32_t i) const { prefetch_address(weights_ + i); }
  [[nodiscard]] TENDRIL_HD std::uint32_t find(vertex_id x) const { return row_find(*this, x); }
  /// As row_contains, with an address in place of an index: an addition less in each step of a scan of node2vec.
  [[nodiscard]] TENDRIL_HD bool contains(vertex_id x) const
  {
    vertex_id const* first = neighbors_;
    std::uint32_t size = degree_;
    if (size == 0) { return false; }
    while (size > 1) {
      std::uint32_t const half = size / 2;
      first += first[half] <= x ? half : 0;
      size -= half;
    }
    return *first == x;
  }
  /// The same edges as those of a larger graph, which has `edges_before` before those of this one, and these labels.
  [[nodiscard]] TENDRIL_HD csr_row in_whole(edge_id edges_before, label_view labels) const
  {
    return {neighbors_, edges_before + first_edge_, degree_, weights_, labels};
  }
  static constexpr std::uint32_t beyond_copy = 0;
  [[nodiscard]] TENDRIL_HD csr_row copied(vertex_id const* neighbors, float const* weights) const
  {
    return {neighbors, first_edge_, degree_, weights == nullptr ? weights_ : weights, labels_};
  }
  [[nodiscard]] TENDRIL_HD auto begin() const { return row_iterator<csr_row>(*this, 0); }
  [[nodiscard]] TENDRIL_HD auto end() const { return row_iterator<csr_row>(*this, degree_); }
  void copy_to(vertex_id* to) const
  {
    for (std::uint32_t i = 0; i < degree_; ++i) { to[i] = neighbors_[i]; }
  }

 private:
  vertex_id const* neighbors_ = nullptr;  // of the row
  edge_id first_edge_ = 0;
  float const* weights_ = nullptr;  // of the row
  label_view labels_;               // of the graph
  std::uint32_t degree_ = 0;
};

/// Where the edges of a vertex are, as a walker keeps it between steps.
struct csr_place {
  edge_id first = 0;
  std::uint32_t degree = 0;
};

/// What reads targets alone, for a kernel that finds places and weights by tables: beyond 128 bytes of one argument the
/// compiler reads its members by address at each use, and takes more registers.
class csr_targets {
 public:
  using place = csr_place;
  using weights_type = float const*;  ///< Of the view.

  csr_targets() = default;
  explicit TENDRIL_HD csr_targets(vertex_id const* indices) : indices_(indices) {}

  /// The row that lies at `at`, without weights and labels.
  [[nodiscard]] TENDRIL_HD csr_row row(place const& at) const
  {
    return {indices_ + at.first, at.first, at.degree, nullptr, {}};
  }

 private:
  vertex_id const* indices_ = nullptr;
};

/// The view of a graph in CSR form: a trivially copyable handle, passed by value. It owns nothing.
class csr_view {
 public:
  using row_type = csr_row;
  using part_row_type = csr_row;  ///< That csr_row::in_whole gives.
  /// Whether the number of an edge suffices to find its target (edge_target).
  static constexpr bool targets_by_number = true;
  using edge_mark = edge_id;

  using place = csr_place;

  std::int64_t num_vertices = 0;
  edge_id num_edges = 0;
  label_view node_types;  ///< [num_vertices] or empty.

  csr_view() = default;
  explicit TENDRIL_HD csr_view(csr_arrays const& arrays)
      : num_vertices(arrays.num_vertices),
        num_edges(arrays.num_edges),
        node_types(arrays.node_types),
        indptr_(arrays.indptr),
        indices_(arrays.indices),
        weights_(arrays.weights),
        edge_labels_(arrays.edge_labels)
  {
  }

  [[nodiscard]] TENDRIL_HD bool has_weights() const { return weights_ != nullptr; }
  [[nodiscard]] TENDRIL_HD bool has_edge_labels() const { return !edge_labels_.empty(); }

  /// The number of the first edge of v; v may be num_vertices, whose edges would begin at num_edges.
  [[nodiscard]] TENDRIL_HD edge_id first_edge(std::int64_t v) const { return indptr_[v]; }
  [[nodiscard]] TENDRIL_HD std::uint32_t degree(std::int64_t v) const
  {
    return static_cast<std::uint32_t>(indptr_[v + 1] - indptr_[v]);
  }
  [[nodiscard]] TENDRIL_HD place locate(std::int64_t v) const
  {
    edge_id const first = indptr_[v];
    return {first, static_cast<std::uint32_t>(indptr_[v + 1] - first)};
  }
  [[nodiscard]] TENDRIL_HD csr_row row(std::int64_t v) const { return row(v, locate(v)); }
  /// The row of v, which lies at `at`.
  [[nodiscard]] TENDRIL_HD csr_row row(std::int64_t, place const& at) const
  {
    return {indices_ + at.first, at.first, at.degree, weights_ == nullptr ? nullptr : weights_ + at.first,
            edge_labels_};
  }
  /// The row of v, whose edges are known to be `degree` from number `first` on.
  [[nodiscard]] TENDRIL_HD csr_row row(std::int64_t v, edge_id first, std::uint32_t degree) const
  {
    return row(v, {first, degree});
  }
  [[nodiscard]] TENDRIL_HD csr_row out_neigh(std::int64_t v) const { return row(v); }

  [[nodiscard]] TENDRIL_HD vertex_id neighbor(std::int64_t v, std::uint32_t i) const { return row(v).neighbor(i); }
  [[nodiscard]] TENDRIL_HD float weight(std::int64_t v, std::uint32_t i) const { return row(v).weight(i); }
  [[nodiscard]] TENDRIL_HD label_id label(std::int64_t v, std::uint32_t i) const { return row(v).label(i); }
  /// Whether u -> x is an edge; u must be a vertex. O(log degree(u)).
  [[nodiscard]] TENDRIL_HD bool has_edge(std::int64_t u, vertex_id x) const { return row(u).contains(x); }

  /// The target of edge e, one of those of vertex v; v is not looked at.
  [[nodiscard]] TENDRIL_HD vertex_id edge_target(edge_id e, std::int64_t v) const
  {
    return edge_target(e, v, plain_load{});
  }
  template <class Load>
  [[nodiscard]] TENDRIL_HD vertex_id edge_target(edge_id e, std::int64_t, Load load) const
  {
    return load(indices_ + e);
  }
  /// What reads targets alone.
  [[nodiscard]] TENDRIL_HD csr_targets targets() const { return csr_targets(indices_); }
  /// The weights of all edges, [num_edges], or null.
  [[nodiscard]] TENDRIL_HD float const* weights() const { return weights_; }
  /// What has one entry an edge, without the targets.
  [[nodiscard]] TENDRIL_HD edge_arrays edges() const
  {
    return {num_vertices, num_edges, indptr_, weights_, edge_labels_};
  }

  /// The same graph with other weights: [num_edges], or null.
  [[nodiscard]] TENDRIL_HD csr_view with_weights(float const* weights) const
  {
    csr_view out = *this;
    out.weights_ = weights;
    return out;
  }

  /// The mark of no edge.
  [[nodiscard]] static TENDRIL_HD edge_mark no_edge() { return -1; }

  /// As compressed_view's: one round finds it all.
  bool prefetch_target(place const& at, std::uint32_t i, int /*round*/) const
  {
    prefetch_address(indices_ + at.first + i);
    return false;
  }
  [[nodiscard]] place locate_ahead(std::int64_t v) const { return locate(v); }
  /// Starts to bring what locate(v) reads into the cache. Host only.
  void prefetch_row(std::int64_t v) const { prefetch_address(indptr_ + v); }
  /// The same of what first_edge(v) reads.
  void prefetch_first_edge(std::int64_t v) const { prefetch_address(indptr_ + v); }

 private:
  edge_id const* indptr_ = nullptr;
  vertex_id const* indices_ = nullptr;
  float const* weights_ = nullptr;
  label_view edge_labels_;
};

}  // namespace tendril
