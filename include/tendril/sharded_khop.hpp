#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <tendril/exec.hpp>
#include <tendril/partition.hpp>
#include <tendril/rank_service.hpp>
#include <tendril/sample.hpp>
#include <tendril/transport.hpp>

// k-hop trees of a graph that no rank holds as a whole: hop by hop the ranks that have the vertices are asked for neighbours.

namespace tendril {

/// Grows the trees of khop_sample on the whole graph, bit for bit, whatever the number of ranks.
///
/// Over a transport the constructor and sample are calls of all ranks; over a rank_service only the constructor is.
class sharded_khop_sampler {
 public:
  /// @param part             The rank's: as many parts as ranks, part r with rank r.
  /// @param ranks            Outlives this object.
  /// @throws argument_error  as khop_sample, or parts that don't fit the ranks; rank_error, also where ranks have other graphs,
  ///                         parameters or versions.
  sharded_khop_sampler(graph_part part, khop_params params, transport& ranks, cpu_exec const& exec = {});
  sharded_khop_sampler(graph_part part, khop_params params, rank_service& ranks, cpu_exec const& exec = {});
  /// The same on GPUs: each rank's part is copied to the memory of its GPU. Slots go to the GPU that has their vertex, and
  /// picks come back, as walkers travel (sharded_walk.hpp). Up to 32 ranks. Where a fan-out is -1, each hop of a call has fewer
  /// than 2^31 slots a rank. Sampling is a call of all ranks, too.
  /// @throws argument_error  as above, or for trees that GPUs don't take; rank_error; device_error; memory_error.
  sharded_khop_sampler(graph_part part, khop_params params, transport& ranks, gpu_exec const& exec);
  /// What of the above parameters alone tell, before any call of ranks. @throws argument_error for trees that GPUs don't take.
  static void expect_gpus_take(khop_params const& params);
  ~sharded_khop_sampler();
  sharded_khop_sampler(sharded_khop_sampler&&) noexcept;
  sharded_khop_sampler& operator=(sharded_khop_sampler&&) noexcept;

  /// The trees of this rank's seeds, vertices of the whole graph; each rank has seeds of its own, maybe none.
  /// @param first_root  The logical id of the first seed.
  /// @param with_edges  Also fill tree_hop::edges.
  /// @throws argument_error naming the first seed out of range; memory_error; rank_error.
  [[nodiscard]] khop_trees sample(std::span<vertex_id const> seeds, std::int64_t first_root = 0,
                                  bool with_edges = false);

  /// The same of a sampler that was made for a GPU: seeds and trees are in its memory, and all ranks ask for edges, or none.
  /// Synchronises.
  /// @throws also argument_error for a call whose hops have too many slots.
  [[nodiscard]] khop_trees sample(std::span<vertex_id const> seeds, gpu_exec const& exec, std::int64_t first_root = 0,
                                  bool with_edges = false);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tendril
