// What a group of mini-batches has become: counts from the report, arrays as parts of the group's memory.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tendril/minibatch.hpp>

#include "gpu/batches/memory.hpp"

namespace tendril::gpu {

class run_result {
 public:
  /// @param induced  [batches * edge types] of induced subgraphs; else empty.
  run_result(run_memory& memory, std::vector<minibatch_edges> const& induced) : memory_(memory), induced_(induced) {}

  /// The batches, once the stream was waited for.
  /// @param first_seed  Place of this group's first seed in the caller's. @throws argument_error for a bad seed;
  ///                    more_than_expected: nothing was added to `out`.
  void finish(hetero_graph const& graph, std::int64_t first_seed, std::vector<minibatch>& out) const;

  /// The same, as they lie in the group's memory, of seeds that are vertices.
  [[nodiscard]] std::vector<minibatch> made() const;

 private:
  void refuse_bad_seed(hetero_graph const& graph, std::int64_t first_seed) const;
  void learn_sizes() const;
  [[nodiscard]] minibatch_vertices vertices_of(std::size_t type, std::int64_t batch) const;
  [[nodiscard]] minibatch_edges counts_of(std::size_t t, std::int64_t batch) const;
  [[nodiscard]] minibatch_edges edges_of(std::size_t t, std::int64_t batch) const;

  run_memory& memory_;
  batch_plan const& plan_ = memory_.plan;
  batch_space& space_ = memory_.space;
  batch_input const& input_ = memory_.input;
  call_block const& block_ = memory_.block;
  count_columns const& columns_ = block_.columns();
  std::vector<minibatch_edges> const& induced_;
};

}  // namespace tendril::gpu
