// Steps on a part that read whole rows: by the rule `scan`, and along metapaths whose labels no table groups. The kernels are those of
// dynamic walks (tendril/engine/walks/part_kernels.cuh).

#pragma once

#include <cstddef>
#include <memory>

#include <tendril/buffer.hpp>
#include <tendril/engine/walks/part_walker.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/partition.hpp>

#include "gpu/walks/job.hpp"
#include "gpu/walks/parts/decider.hpp"

namespace tendril::gpu {

/// A part as steps read it that others decide.
struct edges_of_part {
  engine::part_rows rows;
  transit_view graph;  ///< What is known of the whole graph.
};

/// The memory behind that.
class part_edges {
 public:
  /// @param rows  In the GPU's memory; outlives the object. @throws memory_error; device_error.
  part_edges(graph const& rows, graph_part const& part, gpu_exec const& exec);

  [[nodiscard]] edges_of_part const& view() const { return view_; }

 private:
  buffer<std::byte> node_types_;
  edges_of_part view_;
};

/// The decider of a first-order walk. @param job  Outlives it; its tables are not read.
[[nodiscard]] std::unique_ptr<step_decider> decide_by_scans(walk_job const& job, edges_of_part const& edges,
                                                            int device);

/// Enqueues steps by the rule `scan`.
void scan_steps(walk_job const& job, engine::dynamic_setup<transit_view> const& setup, engine::part_batch const& batch,
                gpu_exec const& exec);

/// Enqueues steps along a metapath by any other rule.
void label_steps(walk_job const& job, engine::dynamic_setup<transit_view> const& setup, engine::part_batch const& batch,
                 gpu_exec const& exec);

}  // namespace tendril::gpu
