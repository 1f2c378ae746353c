// Mini-batches of ranks whose parts lie on GPUs: what sharded_minibatch_sampler asks of the GPU's room.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/partition.hpp>
#include <tendril/sharded_minibatch.hpp>
#include <tendril/transport.hpp>

namespace tendril::samplers {

class batches_on_gpu_ranks {
 public:
  virtual ~batches_on_gpu_ranks() = default;
  /// As sharded_minibatch_sampler::sample_batches: a call of all ranks. Adds to `report` what it took.
  [[nodiscard]] virtual std::vector<minibatch> sample_batches(std::span<vertex_id const> seeds, std::int64_t batch_size,
                                                              batch_numbers numbers, sharded_minibatch_report& report,
                                                              gpu_exec const& exec) = 0;
};

/// A call of all ranks.
/// @param part   What all ranks know of the whole graph; not kept.
/// @param rows   The part's rows in host memory, as a graph whose neighbours may be no vertices of it; not kept.
/// @param ranks  Outlives the result.
/// @throws as sharded_minibatch_sampler.
[[nodiscard]] std::unique_ptr<batches_on_gpu_ranks> make_batches_on_gpu_ranks(graph_part const& part, graph const& rows,
                                                                              minibatch_params const& params,
                                                                              transport& ranks, gpu_exec const& exec);

}  // namespace tendril::samplers
