// Induced subgraphs of a group of mini-batches, behind its launches: lists of all vertices, counts, a look at the sizes,
// and the edges into memory that fits them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/batches/induce.hpp"
#include "gpu/batches/memory.hpp"

namespace tendril::gpu {

/// What lists all vertices of a type, of all batches, once their numbers are known.
[[nodiscard]] list_job all_of(run_memory const& memory, std::size_t type);

/// Memory for the edges of all batches, through one edge type.
struct inner_room {
  edge_call out;  ///< For write_inner and write_inner_indptr.
  std::vector<minibatch_edges> batches;

  /// @param totals, num_vertices  [batches] Edges and vertices of each.
  [[nodiscard]] static inner_room of(std::span<std::int64_t const> totals, std::span<std::int64_t const> num_vertices,
                                     gpu_exec const& exec);
};

class induced_edges {
 public:
  explicit induced_edges(run_memory& memory) : memory_(memory) {}

  /// Enqueues everything; waits twice. Behind the group's launches.
  /// @return [batches * edge types] the edges, each type's with num_sampled empty.
  [[nodiscard]] std::vector<minibatch_edges> enqueue();

 private:
  /// Everything about one edge type but what only the sizes tell.
  struct one_type {
    inner_job job;
    vertex_list list;
    buffer<std::int64_t> segments, hits, totals;
  };

  void count_rows(std::size_t t, one_type& type) const;
  void count_edges(std::int64_t segments, one_type& type) const;
  void write_edges(std::size_t t, one_type const& type, std::span<std::int64_t const> totals);

  run_memory& memory_;
  batch_plan const& plan_ = memory_.plan;
  batch_space& space_ = memory_.space;
  batch_input const& input_ = memory_.input;
  call_block const& block_ = memory_.block;
  count_columns const& columns_ = block_.columns();
  std::vector<minibatch_edges> made_;
};

}  // namespace tendril::gpu
