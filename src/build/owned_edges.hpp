// Edges that a build may take apart: what a pass has taken goes out of the list, and its memory back to the system.

#pragma once

#include <algorithm>
#include <cstdint>

#include <tendril/edge_list.hpp>

#include "base/free_pages.hpp"  // give_back_pages
#include "build/arcs.hpp"       // coo_edges

namespace tendril::build {

/// The edges of a list, cut into chunks. Within a chunk, edges keep their order.
class owned_edges : public coo_edges {
 public:
  explicit owned_edges(edge_list& list) : coo_edges{list.sources.span(), list.targets.span()}, list_(list) {}

  /// What a thread keeps of a chunk in one pass. Only that thread calls it.
  class keeper {
   public:
    keeper(owned_edges& edges, std::int64_t begin) : list_(edges.list_), place_(begin), end_(begin) {}

    /// An arc of edge `k` was seen: if a later pass needs it, the edge stays. Edges come in their order, all arcs of one
    /// after the other.
    void keep(std::int64_t k, bool is_needed)
    {
      if (k != last_) {
        last_ = k;
        place_ = end_;
        list_.sources[place_] = list_.sources[k];
        list_.targets[place_] = list_.targets[k];
        if (!list_.weights.empty()) { list_.weights[place_] = list_.weights[k]; }
        if (!list_.narrow_labels.empty()) { list_.narrow_labels[place_] = list_.narrow_labels[k]; }
        if (!list_.wide_labels.empty()) { list_.wide_labels[place_] = list_.wide_labels[k]; }
      }
      end_ = std::max(end_, place_ + static_cast<std::int64_t>(is_needed));
    }

    /// Where the chunk ends now.
    [[nodiscard]] std::int64_t end() const { return end_; }

   private:
    edge_list& list_;
    std::int64_t last_ = -1, place_, end_;
  };

  /// Gives the memory of the edges [begin, end) back, which are not read any more.
  /// @param memory  Where the list's arrays come from; only the pages of host_memory() can go back one by one.
  void give_back(std::int64_t begin, std::int64_t end, memory_resource const& memory)
  {
    if (&memory != &host_memory()) { return; }
    auto const give = [&](auto const& elements) {
      if (!elements.empty()) { base::give_back_pages(elements.data() + begin, elements.data() + end); }
    };
    give(list_.sources);
    give(list_.targets);
    give(list_.weights);
    give(list_.narrow_labels);
    give(list_.wide_labels);
  }

  /// No pass needs the edges any more.
  void clear() { list_ = {}; }

 private:
  edge_list& list_;
};

}  // namespace tendril::build
