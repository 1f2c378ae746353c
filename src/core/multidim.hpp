// One step of a multi-dimensional random walk (Ribeiro and Towsley, IMC'10): which root of a set, and which of its
// out-edges. Executors: src/cpu/walks/multidim.cpp, src/gpu/walks/multidim_uniform.cu, src/gpu/walks/multidim_by_degree.cu.

#pragma once

#include <cstdint>
#include <utility>

#include <tendril/graph.hpp>

#include "core/draws.hpp"  // multidim_key, bounded
#include "core/prefix_tree.hpp"

namespace tendril::core {

// A root type says where a root's out-edges are: its `degree`, the edge that a step takes by the block's `high`, which means
// nothing without edges, and no_edge().

/// A root by the numbers of its edges.
struct alignas(16) multidim_root {
  edge_id first_edge;
  std::uint32_t degree;

  [[nodiscard]] static TENDRIL_HD edge_id no_edge() { return -1; }

  /// -1 if there is none.
  [[nodiscard]] TENDRIL_HD edge_id edge(std::uint64_t high) const
  {
    return degree == 0 ? edge_id{-1} : first_edge + bounded(high, degree);
  }

  /// @param indptr  [num_vertices + 1], the graph's.
  [[nodiscard]] static TENDRIL_HD multidim_root of(edge_id const* indptr, vertex_id v)
  {
    edge_id const first = indptr[v];
    return {first, static_cast<std::uint32_t>(indptr[v + std::int64_t{1}] - first)};
  }
};

/// An edge by its place in a root's list.
template <class View>
struct multidim_edge {
  typename View::place at;
  std::uint32_t i;

  /// The root's row, for reading neighbours: these, unlike the numbers of edges, follow from the place alone.
  [[nodiscard]] TENDRIL_HD auto row(View const& graph) const { return graph.row(0, at); }
};

/// A root by the place of its row.
template <class View>
struct multidim_place : View::place {
  [[nodiscard]] static TENDRIL_HD multidim_edge<View> no_edge() { return {}; }
  [[nodiscard]] TENDRIL_HD multidim_edge<View> edge(std::uint64_t high) const
  {
    return {*this, bounded(high, this->degree)};
  }
};

/// The root that a step leaves from where all are equally likely, by the block's `low`.
TENDRIL_HD std::uint32_t multidim_slot(std::uint64_t low, std::uint32_t num_roots) { return bounded(low, num_roots); }

/// What a step chose.
template <class Edge>
struct multidim_pick {
  std::uint32_t slot;
  std::uint32_t degree;  ///< Of the root in the slot; 0 where the walk ends instead.
  Edge edge;
};

/// The set of roots of one sample: a view of memory that the executor chose, used by one thread at a time.
/// `Roots` keeps the roots: at(slot) tells where a root's edges are, as a root type does; put(slot, vertex) replaces it and
/// tells the same of the new one. `Sums` keeps one integer a root (core::prefix_tree), and is not used unless `by_degree`.
template <class Roots, class Sums, bool by_degree>
class multidim_frontier {
 public:
  using root_type = decltype(std::declval<Roots const&>().at(0));
  using pick_type = multidim_pick<decltype(root_type::no_edge())>;

  multidim_frontier() = default;
  TENDRIL_HD multidim_frontier(Roots roots, Sums sums, std::uint32_t size) : roots_(roots), degrees_{sums, size} {}

  /// Names root `slot` of the set that the walk begins with. Each is named once, then comes start().
  TENDRIL_HD void place(std::uint32_t slot, vertex_id vertex) const
  {
    root_type const root = roots_.put(slot, vertex);
    if constexpr (by_degree) { degrees_.sums[slot] = root.degree; }
  }

  TENDRIL_HD void start()
  {
    if constexpr (by_degree) {
      degrees_.build();
      num_edges_ = degrees_.total();
    }
  }

  /// The choice of one step: the block's `low` decides on the root, `high` on its edge.
  [[nodiscard]] TENDRIL_HD pick_type choose(std::uint64_t low, std::uint64_t high) const
  {
    std::uint32_t slot = 0;
    if constexpr (by_degree) {
      if (num_edges_ == 0) { return {0, 0, root_type::no_edge()}; }
      slot = degrees_.find(bounded64(low, num_edges_));
    } else {
      slot = multidim_slot(low, degrees_.size);
    }
    root_type const root = roots_.at(slot);
    return {slot, root.degree, root.edge(high)};
  }

  /// Puts the vertex that was reached in the place of the root that was chosen.
  TENDRIL_HD void replace(pick_type const& pick, vertex_id reached)
  {
    root_type const root = roots_.put(pick.slot, reached);
    if constexpr (by_degree) {
      degrees_.change(pick.slot, pick.degree, root.degree);
      num_edges_ += root.degree;
      num_edges_ -= pick.degree;
    }
  }

 private:
  Roots roots_{};
  prefix_tree<Sums> degrees_;
  std::uint64_t num_edges_ = 0;  // out-edges of the set, if by_degree
};

}  // namespace tendril::core
