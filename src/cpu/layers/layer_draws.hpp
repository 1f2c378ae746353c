// The slots of a layer, filled with or without replacement. The rule: src/core/layers.hpp.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "core/layers.hpp"  // most_rounds

namespace tendril::cpu {

class layer_draws {
 public:
  /// Fills every slot of `vertices` by draw(slot, round); slots that stay empty get no_vertex, as do all if nothing can
  /// be drawn.
  template <class Draw>
  void fill(std::span<vertex_id> vertices, bool replace, bool can_draw, Draw draw)
  {
    std::fill(vertices.begin(), vertices.end(), no_vertex);
    if (!can_draw) { return; }
    if (replace) {
      for (std::uint32_t slot = 0; slot < vertices.size(); ++slot) { vertices[slot] = draw(slot, 0U); }
      return;
    }
    taken_.clear();
    open_.clear();
    for (std::uint32_t slot = 0; slot < vertices.size(); ++slot) { open_.push_back(slot); }
    for (std::uint32_t round = 0; round < core::most_rounds && !open_.empty(); ++round) {
      still_open_.clear();
      for (auto const slot : open_) {  // ascending: the lowest slot wins
        vertex_id const v = draw(slot, round);
        if (v != no_vertex && taken_.insert(v).second) {
          vertices[slot] = v;
        } else {
          still_open_.push_back(slot);
        }
      }
      open_.swap(still_open_);
    }
  }

 private:
  std::unordered_set<vertex_id> taken_;
  std::vector<std::uint32_t> open_, still_open_;
};

}  // namespace tendril::cpu
