// From a plan to what kernels are given, and to the launch of its rule: walks on a whole graph and on parts have it in common.

#pragma once

#include <tendril/graph.hpp>
#include <tendril/walk.hpp>

#include "gpu/walks/job.hpp"

namespace tendril::gpu {

/// A metapath's schema in the memory of `exec`, in the order of its stream; empty without one.
[[nodiscard]] buffer<label_id> schema_on_gpu(walk_params const& params, gpu_exec const& exec);

/// @param schema  As schema_on_gpu has it. It and the tables must outlive the job.
[[nodiscard]] walk_job job_of(graph const& graph, walk_tables const& tables, sampling_plan const& plan,
                              walk_params const& params, buffer<label_id> const& schema, gpu_exec const& exec);

/// Whether a metapath's steps look at the labels of the vertex's edges.
[[nodiscard]] bool reads_labels(sampling_plan const& plan, walk_params const& params);

/// Enqueues a batch, or a step, by the rule that one draw, or trials, decide.
void launch_by_rule(walk_job const& job, walk_batch const& batch, walk_shape const& shape);

}  // namespace tendril::gpu
