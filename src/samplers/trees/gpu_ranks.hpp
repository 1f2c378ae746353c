// k-hop trees of ranks whose parts lie on GPUs: what sharded_khop_sampler asks of the GPU's room.

#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <tendril/exec.hpp>
#include <tendril/partition.hpp>
#include <tendril/sample.hpp>
#include <tendril/transport.hpp>

namespace tendril::samplers {

class trees_on_gpu_ranks {
 public:
  virtual ~trees_on_gpu_ranks() = default;
  /// As sharded_khop_sampler::sample: a call of all ranks.
  [[nodiscard]] virtual khop_trees sample(std::span<vertex_id const> seeds, std::int64_t first_root, bool with_edges,
                                          gpu_exec const& exec) = 0;
};

/// A call of all ranks.
/// @param part   What all ranks know of the whole graph; not kept.
/// @param rows   The part's rows in host memory, as a graph whose neighbours may be no vertices of it; not kept.
/// @param ranks  Outlives the result.
/// @throws as sharded_khop_sampler.
[[nodiscard]] std::unique_ptr<trees_on_gpu_ranks> make_trees_on_gpu_ranks(graph_part const& part, graph const& rows,
                                                                          khop_params const& params, transport& ranks,
                                                                          gpu_exec const& exec);

}  // namespace tendril::samplers
