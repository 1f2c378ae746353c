// How often walks come to vertices, and end there. GPU twin: src/gpu/walks/counts.hpp.

#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include <tendril/exec.hpp>
#include <tendril/types.hpp>
#include <tendril/walk_stream.hpp>

namespace tendril::cpu {

/// Adds to counts, or to none.
class vertex_counter {
 public:
  /// @param shared  Whether other threads add to them meanwhile: then each addition takes several times as long.
  vertex_counter(std::span<std::int64_t> counts, bool shared) : counts_(counts), shared_(shared) {}

  /// One more of v.
  void add(vertex_id v) const
  {
    if (counts_.empty()) { return; }
    if (shared_) {
      std::atomic_ref(counts_[v]).fetch_add(1, std::memory_order_relaxed);
    } else {
      ++counts_[v];
    }
  }

  /// One more of each.
  void add_each(std::span<vertex_id const> vertices) const;

 private:
  std::span<std::int64_t> counts_;
  bool shared_;
};

/// Counts the vertices of walks, which are rows of `row`.
void count_rows(std::span<vertex_id const> vertices, std::span<std::int32_t const> lengths, std::int64_t row,
                walk_counts const& counts, cpu_exec const& exec);

}  // namespace tendril::cpu
