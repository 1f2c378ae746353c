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
class part_edges {
 public:
  /// @param rows  In the GPU's memory; outlives the object. @throws memory_error; device_error.
  part_edges(graph const& rows, graph_part const& part, gpu_exec const& exec);

  /// Calls f with the dynamic_setup of the part's form, and returns what f returns.
  template <class F>
  auto with_setup(engine::dynamic_terms const& terms, F const& f) const
  {
    return rows_.visit([&]<class View>(View const& rows) {
      auto setup = engine::setup_with(terms, basic_transit_view<View>{num_targets_, types_});
      setup.rows = {rows, first_vertex_, first_edge_};
      return f(setup);
    });
  }

 private:
  graph_view rows_;
  vertex_id first_vertex_;
  edge_id first_edge_;
  std::int64_t num_targets_;
  buffer<std::byte> node_types_;  // of the whole graph
  label_view types_;              // these
};

/// The decider of a first-order walk. @param job  Outlives it; its tables are not read.
[[nodiscard]] std::unique_ptr<step_decider> decide_by_scans(walk_job const& job, part_edges const& edges, int device);

/// Enqueues steps by the rule `scan`. @tparam View  Of the part's rows.
template <class View>
void scan_steps(walk_job const& job, engine::dynamic_setup<basic_transit_view<View>> const& setup,
                engine::part_batch const& batch, gpu_exec const& exec);

/// Enqueues steps along a metapath by any other rule.
template <class View>
void label_steps(walk_job const& job, engine::dynamic_setup<basic_transit_view<View>> const& setup,
                 engine::part_batch const& batch, gpu_exec const& exec);

}  // namespace tendril::gpu
