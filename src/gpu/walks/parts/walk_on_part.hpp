// Walks of ranks whose parts lie on GPUs, whoever takes their steps: how a call of all ranks goes. CPU twin:
// src/dist/sharded_walk.cpp.

#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <tendril/graph.hpp>
#include <tendril/partition.hpp>

#include "gpu/ranks/messages.hpp"
#include "gpu/walks/parts/lane.hpp"
#include "samplers/two_batches.hpp"
#include "samplers/walks/gpu_ranks.hpp"

namespace tendril::gpu {

class walk_on_part : public samplers::walk_on_gpu_ranks {
 public:
  [[nodiscard]] sampling_plan const& plan() const noexcept override { return plan_; }
  [[nodiscard]] walks run(std::span<vertex_id const> starts, std::int64_t first_walk, gpu_exec const& exec) override;
  [[nodiscard]] sharded_walk_report stream(walk_stream_job const& job) override;

 protected:
  /// Copies the part's rows. @throws argument_error for too many ranks; memory_error; device_error.
  walk_on_part(graph_part const& part, graph const& rows, transport& ranks, gpu_exec const& exec);

  /// What the rest of a constructor finds out: the walk, without its device, and the plan. Then ranks connect their GPUs.
  void take_up(part_terms terms, sampling_plan plan, bool may_die_here);

  [[nodiscard]] transport& ranks() { return ranks_; }
  [[nodiscard]] partition_info const& whole() const { return whole_; }
  [[nodiscard]] graph const& rows() const { return rows_; }

 private:
  using lanes = samplers::two_batches<walk_lane>;

  /// Streams walks that are counted; or rows.
  void count(walk_stream_job const& job, sharded_walk_report& out);
  void stream_rows(walk_stream_job const& job, sharded_walk_report& out);
  [[nodiscard]] std::int64_t room_for_walks(bool keeps_rows) const;
  /// @param counts  Or null: walks have rows.
  std::int64_t walk_all(samplers::rank_rounds const& rounds, vertex_counts* counts, part_counts& did,
                        lanes::begin_round const& begin, lanes::deliver const& give,
                        std::function<void(double)> const& on_step);
  [[nodiscard]] std::int64_t walker_bytes() const;
  /// Into a report.
  void add_to(sharded_walk_report& out, part_counts const& did) const;

  transport& ranks_;
  int device_;
  partition_info whole_;
  graph rows_;
  part_terms terms_;
  sampling_plan plan_;
  std::shared_ptr<gpu_messages> messages_;
};

}  // namespace tendril::gpu
