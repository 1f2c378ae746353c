// Walks of ranks whose parts lie on GPUs: what sharded_walker asks of the GPU's room.

#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <tendril/custom_walk.hpp>
#include <tendril/exec.hpp>
#include <tendril/partition.hpp>
#include <tendril/sharded_walk.hpp>
#include <tendril/transport.hpp>
#include <tendril/walk.hpp>

namespace tendril::samplers {

/// All members but the destructor are calls of all ranks.
class walk_on_gpu_ranks {
 public:
  virtual ~walk_on_gpu_ranks() = default;
  [[nodiscard]] virtual sampling_plan const& plan() const noexcept = 0;
  /// As sharded_walker::run and stream.
  [[nodiscard]] virtual walks run(std::span<vertex_id const> starts, std::int64_t first_walk, gpu_exec const& exec) = 0;
  [[nodiscard]] virtual sharded_walk_report stream(walk_stream_job const& job) = 0;
};

/// @param part  What all ranks know of the whole graph.
/// @param rows  The part's rows in host memory, as a graph whose neighbours may be no vertices of it.
/// @param ranks Outlives the result.
/// @throws as sharded_walker.
[[nodiscard]] std::unique_ptr<walk_on_gpu_ranks> make_walk_on_gpu_ranks(graph_part const& part, graph const& rows,
                                                                        walk_params const& params,
                                                                        std::int64_t expected_walks, transport& ranks,
                                                                        gpu_exec const& exec);

/// The same of a walk that came as text.
[[nodiscard]] std::unique_ptr<walk_on_gpu_ranks> make_walk_on_gpu_ranks(graph_part const& part, graph const& rows,
                                                                        custom_walk const& walk,
                                                                        dynamic_walk_params const& params,
                                                                        transport& ranks, gpu_exec const& exec);

}  // namespace tendril::samplers
