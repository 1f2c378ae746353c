// Grows k-hop trees hop by hop, whoever finds the neighbours: src/cpu/trees/khop.cpp on one machine, src/dist/trees over
// several.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <tendril/sample.hpp>

namespace tendril::cpu {

/// The slots of one hop: which vertices they hold, and where each root's begin.
struct hop_slots {
  vertex_id const* vertices = nullptr;
  std::int64_t size = 0;
  std::int64_t a_root = 1;                    // slots a root where that is fixed
  std::vector<std::int64_t> root_begin = {};  // else [num_roots + 1]

  [[nodiscard]] std::int64_t begin_of(std::int64_t root) const
  {
    return root_begin.empty() ? root * a_root : root_begin[static_cast<std::size_t>(root)];
  }
  [[nodiscard]] std::int64_t root_of(std::int64_t slot) const
  {
    if (root_begin.empty()) { return slot / a_root; }
    return std::upper_bound(root_begin.begin(), root_begin.end(), slot) - root_begin.begin() - 1;
  }
};

/// What all hops of a call have in common.
struct tree_job {
  khop_params const& params;
  std::int64_t num_roots = 0;
  std::int64_t first_root = 0;
  bool with_edges = false;
  cpu_exec const& exec;

  /// A hop with room for slots whose number is known, which nothing is written to.
  [[nodiscard]] tree_hop room_for(std::int64_t fanout, std::int64_t slots) const;
};

/// Finds the neighbours of a hop's slots.
class tree_source {
 public:
  virtual ~tree_source() = default;
  /// `fanout` of each vertex's neighbours. @param hop  From 0.
  [[nodiscard]] virtual tree_hop sample(hop_slots const& parents, tree_job const& job, std::size_t hop,
                                        std::uint32_t fanout) = 0;
  /// All neighbours.
  [[nodiscard]] virtual tree_hop take_all(hop_slots const& parents, tree_job const& job, std::size_t hop) = 0;
};

/// @throws memory_error if hops of known size have no room; argument_error for a tree that is too large.
[[nodiscard]] khop_trees grow_trees(std::span<vertex_id const> seeds, tree_job const& job, tree_source& source);

/// @throws memory_error if a hop of `total` slots, which takes all neighbours, has no room.
void expect_memory_of_all(tree_job const& job, std::size_t hop, std::int64_t total);

}  // namespace tendril::cpu
