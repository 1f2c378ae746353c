// The view of a graph whose neighbours are compressed: a directory says where a vertex's list is
// (<tendril/list_directory.hpp>), the list's header how its neighbours are written (<tendril/list_code.hpp>). Includes
// little, so that a program compiled at run time can include it too.

#pragma once

#include <cstdint>

#include <tendril/edge_arrays.hpp>
#include <tendril/labels.hpp>
#include <tendril/list_code.hpp>
#include <tendril/list_cursor.hpp>
#include <tendril/list_directory.hpp>
#include <tendril/list_prefetch.hpp>
#include <tendril/row.hpp>
#include <tendril/types.hpp>
#include <tendril/weights.hpp>

namespace tendril {

/// The arrays of a compressed graph. Trivially copyable; owns nothing.
struct compressed_arrays {
  std::int64_t num_vertices = 0;
  edge_id num_edges = 0;
  list_directory lists;
  weight_view weights;     ///< [num_edges] or null.
  label_view edge_labels;  ///< [num_edges] or empty.
  label_view node_types;   ///< [num_vertices] or empty.
};

/// The number of an edge of a compressed graph, worked out when it is used.
class compressed_edge_mark {
 public:
  compressed_edge_mark() = default;  ///< No edge: -1.
  TENDRIL_HD compressed_edge_mark(list_blocks const& lists, vertex_id v, std::uint64_t i)
      : lists_(lists), vertex_(v), i_(static_cast<std::uint32_t>(i))
  {
  }

  TENDRIL_HD operator edge_id() const  // NOLINT(google-explicit-constructor)
  {
    return vertex_ == no_vertex ? -1 : lists_.first_edge(vertex_) + static_cast<edge_id>(i_);
  }

 private:
  list_blocks lists_;
  vertex_id vertex_ = no_vertex;
  std::uint32_t i_ = 0;
};

/// Goes over the targets of a compressed row in order.
class compressed_row_iterator {
 public:
  TENDRIL_HD compressed_row_iterator(std::uint32_t const* words, list_place const& place)
      : cursor_(words, place), size_(place.degree), x_(size_ > 0 ? cursor_.next() : no_vertex)
  {
  }
  /// The end of a row of `size` edges.
  explicit TENDRIL_HD compressed_row_iterator(std::uint32_t size) : i_(size), size_(size) {}
  [[nodiscard]] TENDRIL_HD vertex_id operator*() const { return x_; }
  TENDRIL_HD compressed_row_iterator& operator++()
  {
    if (++i_ < size_) { x_ = cursor_.next(); }
    return *this;
  }
  [[nodiscard]] TENDRIL_HD bool operator!=(compressed_row_iterator const& other) const { return i_ != other.i_; }
  [[nodiscard]] TENDRIL_HD bool operator==(compressed_row_iterator const& other) const { return i_ == other.i_; }

 private:
  list_cursor cursor_;
  std::uint32_t i_ = 0;
  std::uint32_t size_;
  vertex_id x_ = no_vertex;
};

class compressed_part_row;

/// The edges of one vertex of a compressed graph. <tendril/row.hpp> describes its members.
class compressed_row {
 public:
  compressed_row() = default;  ///< No edges.
  TENDRIL_HD compressed_row(list_place const& at, list_directory const& lists, weight_view const& weights,
                            label_view labels)
      : at_(at), words_(lists.words()), lists_(lists), weights_(weights), labels_(labels)
  {
  }

  /// Reads memory: only what edge arrays are indexed by needs it.
  [[nodiscard]] TENDRIL_HD edge_id first_edge() const { return lists_.first_edge(lists_.row_of(at_)); }
  [[nodiscard]] TENDRIL_HD edge_id edge(std::uint64_t i) const { return first_edge() + static_cast<edge_id>(i); }
  [[nodiscard]] TENDRIL_HD compressed_edge_mark mark(std::uint64_t i) const { return {lists_, lists_.row_of(at_), i}; }
  [[nodiscard]] TENDRIL_HD std::uint32_t degree() const { return at_.degree; }
  /// Whether every neighbour is read by a load or two, so that none is found sooner by going over others.
  [[nodiscard]] bool has_fixed_width() const
  {
    return at_.header().code() <= static_cast<std::uint32_t>(list_code::fixed_far);
  }
  [[nodiscard]] TENDRIL_HD bool empty() const { return at_.degree == 0; }
  [[nodiscard]] TENDRIL_HD bool has_weights() const { return weights_ != nullptr; }
  [[nodiscard]] TENDRIL_HD vertex_id neighbor(std::uint64_t i) const { return neighbor(i, plain_load{}); }
  template <class Load>
  [[nodiscard]] TENDRIL_HD vertex_id neighbor(std::uint64_t i, Load load) const
  {
    return list_codes::neighbor_at(words_, at_, static_cast<std::uint32_t>(i), load);
  }
  /// Neighbours i and j, whose reads don't wait for each other.
  template <class Load>
  [[nodiscard]] TENDRIL_HD list_codes::pair_of<vertex_id> neighbors(std::uint32_t i, std::uint32_t j, Load load) const
  {
    return list_codes::neighbors_at(words_, at_, i, j, load);
  }
  [[nodiscard]] TENDRIL_HD float weight(std::uint64_t i) const { return weight(i, plain_load{}); }
  template <class Load>
  [[nodiscard]] TENDRIL_HD float weight(std::uint64_t i, Load load) const
  {
    return copied_weights_ == nullptr ? weights_.read(edge(i), load) : load(copied_weights_ + i);
  }
  [[nodiscard]] TENDRIL_HD row_weights weights() const { return weights_ + first_edge(); }
  [[nodiscard]] TENDRIL_HD label_id label(std::uint64_t i) const { return labels_[edge(i)]; }
  void prefetch(std::uint32_t i) const
  {
    list_header const header = at_.header();
    bool const fixed = header.code() <= static_cast<std::uint32_t>(list_code::fixed_far);
    std::uint64_t const bit = fixed ? std::uint64_t{i} * header.width() : 0;  // of other lists, where they begin
    prefetch_address(words_ + ((8 * at_.byte() + bit) >> 5U));
  }
  void prefetch_weight(std::uint32_t i) const { prefetch_address(weights_.address(first_edge() + i)); }
  [[nodiscard]] TENDRIL_HD std::uint32_t find(vertex_id x) const { return row_find(*this, x); }
  [[nodiscard]] TENDRIL_HD bool contains(vertex_id x) const { return row_contains(*this, x); }
  /// The same edges as those of a larger graph, which has `edges_before` before those of this one.
  [[nodiscard]] TENDRIL_HD compressed_part_row in_whole(edge_id edges_before, label_view) const;
  /// Neighbours of 4 bytes are a list at a fixed width of 32, of which one reads the word behind.
  static constexpr std::uint32_t beyond_copy = 1;
  [[nodiscard]] TENDRIL_HD compressed_row copied(vertex_id const* neighbors, float const* weights) const
  {
    compressed_row out = *this;
    out.at_ =
        list_place::of(0, list_header(static_cast<std::uint32_t>(list_code::fixed_far), 32), at_.degree, at_.vertex);
    out.words_ = neighbors;
    out.copied_weights_ = weights;
    return out;
  }
  [[nodiscard]] TENDRIL_HD compressed_row_iterator begin() const { return {words_, at_}; }
  [[nodiscard]] TENDRIL_HD compressed_row_iterator end() const { return compressed_row_iterator(at_.degree); }
  void copy_to(vertex_id* to) const
  {
    if (empty()) { return; }
    list_codes::with_cursor(words_, at_, [size = at_.degree, to](auto cursor) {
      for (std::uint32_t i = 0; i < size; ++i) { to[i] = cursor.next(); }
    });
  }

 private:
  list_place at_;
  std::uint32_t const* words_ = nullptr;  // that at_ points into: of the graph, or of a copy
  list_directory lists_;
  weight_view weights_;                    // of the graph
  float const* copied_weights_ = nullptr;  // of the row; null: not copied
  label_view labels_;                      // of the graph
};

/// The edges of one vertex of a part of a compressed graph, with their numbers in the whole one; weights and labels are the part's.
class compressed_part_row : public compressed_row {
 public:
  compressed_part_row() = default;  ///< No edges.
  TENDRIL_HD compressed_part_row(compressed_row const& row, edge_id edges_before)
      : compressed_row(row), edges_before_(edges_before)
  {
  }

  [[nodiscard]] TENDRIL_HD edge_id first_edge() const { return edges_before_ + compressed_row::first_edge(); }
  [[nodiscard]] TENDRIL_HD edge_id edge(std::uint64_t i) const { return edges_before_ + compressed_row::edge(i); }

 private:
  edge_id edges_before_ = 0;
};

TENDRIL_HD compressed_part_row compressed_row::in_whole(edge_id edges_before, label_view) const
{
  return {*this, edges_before};
}

/// What reads targets and places alone, as csr_targets.
class compressed_targets {
 public:
  using place = list_place;
  using weights_type = weight_view;  ///< Of the view.

  compressed_targets() = default;
  explicit TENDRIL_HD compressed_targets(list_directory const& lists) : lists_(lists) {}

  /// The place of v, read by load(address).
  template <class Load>
  [[nodiscard]] TENDRIL_HD list_place locate(std::int64_t v, Load load) const
  {
    return lists_.locate(v, load);
  }
  /// The row that lies at `at`, without weights and labels.
  [[nodiscard]] TENDRIL_HD compressed_row row(list_place const& at) const { return {at, lists_, nullptr, {}}; }

  /// Where v's list begins: what `locate` reads of the directory.
  template <class Load>
  [[nodiscard]] TENDRIL_HD list_start start_of(std::int64_t v, Load load) const
  {
    return lists_.start_of(v, load);
  }
  /// The row that begins there.
  template <class Load>
  [[nodiscard]] TENDRIL_HD compressed_row row(list_start const& start, Load load) const
  {
    return row(start.read(lists_.words(), load));
  }
  /// The same lists, of which those that are read lie in `words`: in another array, at the same distance from its beginning.
  [[nodiscard]] TENDRIL_HD compressed_targets in(std::uint32_t const* words) const
  {
    return compressed_targets(list_directory(lists_.data(), lists_.wide(), words, lists_.first_id()));
  }
  /// The lists, for copies of them.
  [[nodiscard]] TENDRIL_HD std::uint32_t const* words() const { return lists_.words(); }

 private:
  list_directory lists_;
};

/// The view of a compressed graph: a trivially copyable handle, passed by value. It owns nothing.
class compressed_view {
 public:
  using row_type = compressed_row;
  using part_row_type = compressed_part_row;  ///< That compressed_row::in_whole gives.
  using place = list_place;
  /// Whether the number of an edge suffices to find its target (edge_target).
  static constexpr bool targets_by_number = false;
  using edge_mark = compressed_edge_mark;

  std::int64_t num_vertices = 0;
  edge_id num_edges = 0;
  label_view node_types;  ///< [num_vertices] or empty.

  compressed_view() = default;
  explicit TENDRIL_HD compressed_view(compressed_arrays const& arrays)
      : num_vertices(arrays.num_vertices),
        num_edges(arrays.num_edges),
        node_types(arrays.node_types),
        lists_(arrays.lists),
        weights_(arrays.weights),
        edge_labels_(arrays.edge_labels)
  {
  }

  [[nodiscard]] TENDRIL_HD bool has_weights() const { return weights_ != nullptr; }
  [[nodiscard]] TENDRIL_HD bool has_edge_labels() const { return !edge_labels_.empty(); }

  /// The number of the first edge of v; v may be num_vertices, whose edges would begin at num_edges.
  [[nodiscard]] TENDRIL_HD edge_id first_edge(std::int64_t v) const { return lists_.first_edge(v); }
  [[nodiscard]] TENDRIL_HD std::uint32_t degree(std::int64_t v) const { return lists_.degree(v); }
  [[nodiscard]] TENDRIL_HD list_place locate(std::int64_t v) const { return lists_.locate(v); }
  [[nodiscard]] TENDRIL_HD compressed_row row(std::int64_t v) const { return row(v, locate(v)); }
  /// The row of v, which lies at `at`.
  [[nodiscard]] TENDRIL_HD compressed_row row(std::int64_t, list_place const& at) const
  {
    return {at, lists_, weights_, edge_labels_};
  }
  /// The row of v, whose edges are known to be `degree` from number `first` on.
  [[nodiscard]] TENDRIL_HD compressed_row row(std::int64_t v, edge_id, std::uint32_t) const { return row(v); }
  [[nodiscard]] TENDRIL_HD compressed_row out_neigh(std::int64_t v) const { return row(v); }

  [[nodiscard]] TENDRIL_HD vertex_id neighbor(std::int64_t v, std::uint32_t i) const { return row(v).neighbor(i); }
  [[nodiscard]] TENDRIL_HD float weight(std::int64_t v, std::uint32_t i) const { return row(v).weight(i); }
  [[nodiscard]] TENDRIL_HD label_id label(std::int64_t v, std::uint32_t i) const { return row(v).label(i); }
  /// Whether u -> x is an edge; u must be a vertex. O(log degree(u)).
  [[nodiscard]] TENDRIL_HD bool has_edge(std::int64_t u, vertex_id x) const { return row(u).contains(x); }

  /// The target of edge e, one of those of vertex v.
  [[nodiscard]] TENDRIL_HD vertex_id edge_target(edge_id e, std::int64_t v) const
  {
    return edge_target(e, v, plain_load{});
  }
  template <class Load>
  [[nodiscard]] TENDRIL_HD vertex_id edge_target(edge_id e, std::int64_t v, Load load) const
  {
    return row(v).neighbor(static_cast<std::uint32_t>(e - first_edge(v)), load);
  }
  /// What reads targets alone.
  [[nodiscard]] TENDRIL_HD compressed_targets targets() const { return compressed_targets(lists_); }
  /// The weights of all edges, [num_edges], or null.
  [[nodiscard]] TENDRIL_HD weight_view const& weights() const { return weights_; }
  /// What has one entry an edge, without the targets.
  [[nodiscard]] TENDRIL_HD edge_arrays edges() const
  {
    return {num_vertices, num_edges, edge_offsets(lists_), weights_, edge_labels_};
  }

  /// The same graph with other weights: [num_edges], or null.
  [[nodiscard]] TENDRIL_HD compressed_view with_weights(float const* weights) const
  {
    compressed_view out = *this;
    out.weights_ = weights;
    return out;
  }

  /// The mark of no edge.
  [[nodiscard]] static TENDRIL_HD edge_mark no_edge() { return {}; }

  /// Starts to bring the target of edge i of the row at `at` into the cache, in rounds 0, 1, … until one returns false;
  /// between two of them lies the time that memory takes. The place may come from locate_ahead. Host only.
  bool prefetch_target(list_place& at, std::uint32_t i, int round) const
  {
    if (round == 0 && (!at.is_read() || at.header().code() > static_cast<std::uint32_t>(list_code::fixed_far))) {
      prefetch_address(lists_.words() + (at.byte() >> 2U));
      return true;
    }
    lists_.read_header(at);
    return list_codes::prefetch_neighbor(lists_.words(), at, i, round);
  }
  /// The place of v for prefetch_target, whose list has not been asked for: nothing of it is read. Host only.
  [[nodiscard]] list_place locate_ahead(std::int64_t v) const { return lists_.locate_ahead(v); }
  /// Starts to bring what locate(v) reads into the cache. Host only.
  void prefetch_row(std::int64_t v) const { lists_.prefetch(v); }
  /// The same of what first_edge(v) reads.
  void prefetch_first_edge(std::int64_t v) const { lists_.prefetch(v); }

 private:
  list_directory lists_;
  weight_view weights_;
  label_view edge_labels_;
};

}  // namespace tendril
