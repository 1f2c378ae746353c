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
  ~sharded_khop_sampler();
  sharded_khop_sampler(sharded_khop_sampler&&) noexcept;
  sharded_khop_sampler& operator=(sharded_khop_sampler&&) noexcept;

  /// The trees of this rank's seeds, vertices of the whole graph; each rank has seeds of its own, maybe none.
  /// @param first_root  The logical id of the first seed.
  /// @param with_edges  Also fill tree_hop::edges.
  /// @throws argument_error naming the first seed out of range; memory_error; rank_error.
  [[nodiscard]] khop_trees sample(std::span<vertex_id const> seeds, std::int64_t first_root = 0,
                                  bool with_edges = false);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tendril
