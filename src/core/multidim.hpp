// One step of a multi-dimensional random walk (Ribeiro and Towsley, IMC'10): which root of a set, and which of its
// out-edges. Executors: src/cpu/multidim.cpp and its twin on the GPU.

#pragma once

#include <cstdint>

#include <tendril/graph.hpp>

#include "core/prefix_tree.hpp"
#include "core/random.hpp"

namespace tendril::core {

/// What a step needs to know of a root: kept with the set, so that a chosen root costs no gather from the graph.
struct alignas(16) multidim_root {
  edge_id first_edge;
  std::uint32_t degree;

  [[nodiscard]] static TENDRIL_HD multidim_root of(graph_view const& graph, vertex_id v)
  {
    return {graph.first_edge(v), graph.degree(v)};
  }
};

/// What a step chose. `edge` is -1 where the walk ends instead.
struct multidim_pick {
  std::uint32_t slot;
  edge_id edge;
};

/// The set of roots of one sample, in memory of the executor's: a view, used by one thread at a time.
class multidim_frontier {
 public:
  multidim_frontier() = default;

  /// @param roots    [size]
  /// @param degrees  [size] where the root is chosen in proportion to its degree; null where uniformly.
  TENDRIL_HD multidim_frontier(multidim_root* roots, std::uint64_t* degrees, std::uint32_t size)
      : roots_(roots), degrees_{degrees, size}
  {
  }

  /// Names root `slot` of the set that the walk begins with. Each is named once, then comes start().
  TENDRIL_HD void place(std::uint32_t slot, multidim_root root) const
  {
    roots_[slot] = root;
    if (degrees_.sums != nullptr) { degrees_.sums[slot] = root.degree; }
  }

  TENDRIL_HD void start()
  {
    if (degrees_.sums == nullptr) { return; }
    degrees_.build();
    num_edges_ = degrees_.total();
  }

  /// The choice of one step: the block's `low` decides on the root, `high` on its edge.
  [[nodiscard]] TENDRIL_HD multidim_pick choose(std::uint64_t low, std::uint64_t high) const
  {
    if (degrees_.sums != nullptr && num_edges_ == 0) { return {0, -1}; }
    std::uint32_t const slot =
        degrees_.sums != nullptr ? degrees_.find(bounded64(low, num_edges_)) : bounded(low, degrees_.size);
    multidim_root const root = roots_[slot];
    return {slot, root.degree == 0 ? edge_id{-1} : root.first_edge + bounded(high, root.degree)};
  }

  /// Puts the vertex that was reached in the place of root `slot`.
  TENDRIL_HD void replace(std::uint32_t slot, multidim_root next)
  {
    if (degrees_.sums != nullptr) {
      std::uint32_t const before = roots_[slot].degree;
      degrees_.change(slot, before, next.degree);
      num_edges_ += next.degree;
      num_edges_ -= before;
    }
    roots_[slot] = next;
  }

 private:
  multidim_root* roots_ = nullptr;
  prefix_tree degrees_;
  std::uint64_t num_edges_ = 0;  // out-edges of the set, where roots are chosen by degree
};

}  // namespace tendril::core
