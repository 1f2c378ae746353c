// From planned k-hop trees to the launches of their hops: for trees of one process, and for those of ranks.

#pragma once

#include <cstdint>
#include <memory>

#include <tendril/buffer.hpp>
#include <tendril/graph.hpp>
#include <tendril/sample.hpp>

#include "core/alias.hpp"
#include "gpu/trees/khop.hpp"
#include "plan/tables.hpp"

namespace tendril::gpu {

/// The tables of a call; at most one is there. They stay with the graph.
struct khop_tables {
  std::shared_ptr<buffer<plan::alias_record> const> alias;
  std::shared_ptr<buffer<core::alias_bucket> const> buckets;
  std::shared_ptr<buffer<std::uint64_t> const> prefix_sums;
  std::shared_ptr<plan::weight_sums const> sums;
};

[[nodiscard]] sampling_plan make_khop_plan(graph const& graph, khop_params const& params, std::int64_t num_roots,
                                           bool with_edges, gpu_exec const& exec);

/// Builds, on the stream of `exec`, what the plan needs and the graph doesn't have yet.
[[nodiscard]] khop_tables make_khop_tables(graph const& graph, sampling_plan const& plan, bool with_edges,
                                           gpu_exec const& exec);

/// The fan-out, or the largest degree where that says more. May synchronise.
[[nodiscard]] std::uint32_t most_picks(graph const& graph, std::int64_t fanout, gpu_exec const& exec);

/// Enqueues the hop of a job, which has parents. @param scratch  Of races; becomes as large as they need.
void launch_hop(khop_job const& job, khop_params const& params, sampling_rule rule, khop_tables const& tables,
                buffer<std::byte>& scratch, gpu_exec const& exec);

}  // namespace tendril::gpu
