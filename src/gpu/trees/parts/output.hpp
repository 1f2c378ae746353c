// The trees that a call of a rank returns.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <tendril/exec.hpp>
#include <tendril/sample.hpp>

namespace tendril::gpu {

/// Whether a hop takes all neighbours, so that trees differ in size.
[[nodiscard]] bool takes_all(khop_params const& params);

/// Trees in the memory of `exec`. Hops get room as soon as their sizes are known: those up to the first that takes all neighbours at
/// once, the others behind the counts of that one.
class tree_output {
 public:
  /// Both references outlive the object. @throws as set_size.
  tree_output(khop_params const& params, std::int64_t num_roots, bool with_edges, gpu_exec const& exec);

  [[nodiscard]] bool with_edges() const { return with_edges_; }
  /// Of a hop that has room; of one that takes all neighbours offsets [slots of the previous hop + 1] are there before.
  [[nodiscard]] tree_hop& hop(std::size_t h) { return trees_.hops[h]; }

  /// Room for the slots of the last hop so far, which takes all neighbours, and for the hops up to the next that does.
  /// @throws memory_error; argument_error for 2^31 slots or more.
  void set_size(std::int64_t slots);

  /// Makes work that is enqueued on `stream` from now on wait for what the memory held before.
  void wait_on(cuda_stream stream) const;

  [[nodiscard]] khop_trees take() { return std::move(trees_); }

 private:
  void add_hops(std::int64_t slots);
  void make_room(tree_hop& hop, std::int64_t slots) const;

  khop_params const& params_;
  bool with_edges_;
  gpu_exec const& exec_;
  khop_trees trees_;
};

}  // namespace tendril::gpu
