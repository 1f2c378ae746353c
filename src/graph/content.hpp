#pragma once

#include <atomic>

#include <tendril/graph.hpp>

namespace tendril {

/// How far the content of a graph has been checked. One for all copies of a graph. Thread-safe.
class content_state {
 public:
  explicit content_state(graph_content known) noexcept : known_(known) {}

  [[nodiscard]] graph_content known() const noexcept { return known_.load(std::memory_order_acquire); }

  /// The content is now known to be at least `known`.
  void raise(graph_content known) noexcept
  {
    graph_content before = known_.load();
    while (before < known && !known_.compare_exchange_weak(before, known)) {}
  }

 private:
  std::atomic<graph_content> known_;
};

}  // namespace tendril
