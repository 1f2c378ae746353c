// One step of a multi-dimensional random walk (Ribeiro and Towsley, IMC'10): which root of a set, and which of its
// out-edges. Executors: src/cpu/walks/multidim.cpp, src/gpu/walks/multidim_uniform.cu, src/gpu/walks/multidim_by_degree.cu.

#pragma once

#include <cstdint>

#include <tendril/graph.hpp>

#include "core/prefix_tree.hpp"
#include "core/random.hpp"

namespace tendril::core {

/// Where a root's out-edges are.
struct alignas(16) multidim_root {
  edge_id first_edge;
  std::uint32_t degree;

  /// The edge that a step takes, by the block's `high`; -1 if there is none.
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

/// The root that a step leaves from where all are equally likely, by the block's `low`.
TENDRIL_HD std::uint32_t multidim_slot(std::uint64_t low, std::uint32_t num_roots) { return bounded(low, num_roots); }

/// What a step chose. `edge` is -1 where the walk ends instead.
struct multidim_pick {
  std::uint32_t slot;
  std::uint32_t degree;  ///< Of the root in the slot.
  edge_id edge;
};

/// The set of roots of one sample: a view of memory that the executor chose, used by one thread at a time.
/// `Roots` keeps the roots: at(slot) tells where a root's edges are; put(slot, vertex) replaces it and tells the same of
/// the new one. `Sums` keeps one integer a root (core::prefix_tree), and is not used unless `by_degree`.
template <class Roots, class Sums, bool by_degree>
class multidim_frontier {
 public:
  multidim_frontier() = default;
  TENDRIL_HD multidim_frontier(Roots roots, Sums sums, std::uint32_t size) : roots_(roots), degrees_{sums, size} {}

  /// Names root `slot` of the set that the walk begins with. Each is named once, then comes start().
  TENDRIL_HD void place(std::uint32_t slot, vertex_id vertex) const
  {
    multidim_root const root = roots_.put(slot, vertex);
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
  [[nodiscard]] TENDRIL_HD multidim_pick choose(std::uint64_t low, std::uint64_t high) const
  {
    std::uint32_t slot = 0;
    if constexpr (by_degree) {
      if (num_edges_ == 0) { return {0, 0, -1}; }
      slot = degrees_.find(bounded64(low, num_edges_));
    } else {
      slot = multidim_slot(low, degrees_.size);
    }
    multidim_root const root = roots_.at(slot);
    return {slot, root.degree, root.edge(high)};
  }

  /// Puts the vertex that was reached in the place of the root that was chosen.
  TENDRIL_HD void replace(multidim_pick const& pick, vertex_id reached)
  {
    multidim_root const root = roots_.put(pick.slot, reached);
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
