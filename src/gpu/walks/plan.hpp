// Which tables a walk on the GPU reads. The rule is the one that every machine chooses (plan::walk_planning).

#pragma once

#include "gpu/walks/job.hpp"
#include "plan/planner.hpp"

namespace tendril::gpu {

/// A plan, and the parts of its layout that only the GPU has.
struct walk_plan {
  sampling_plan shared;
  bool compact_rows = false;    ///< Rows of 8 bytes.
  bool packed_hops = false;     ///< The same in 8 bytes.
  bool triples = false;         ///< Three targets in 8 bytes.
  bool label_lists = false;     ///< The edges of each label, for scans of metapaths.
  bool hops = false;            ///< Records that carry the neighbour's place: one gather a step.
  bool adjacency_sets = false;  ///< Hash sets of neighbours, for node2vec.
  bool edge_records = false;    ///< Neighbour and weight together, for rejection.
};

/// What a planned walk has of its graph.
enum class graph_scope : std::uint8_t {
  whole,
  part  ///< The rows of some vertices: no table may tell of the neighbours' rows.
};

/// Plans a walk on the GPU that holds the graph. Gathers statistics where the rule needs them; synchronises then.
[[nodiscard]] walk_plan make_walk_plan(graph const& graph, walk_params const& params, std::int64_t expected_walks,
                                       gpu_exec const& exec, graph_scope scope = graph_scope::whole);

/// Builds, on the stream of `exec`, what the plan needs and the graph doesn't have yet.
[[nodiscard]] walk_tables make_walk_tables(graph const& graph, walk_params const& params, walk_plan const& plan,
                                           gpu_exec const& exec);

/// Tables that lie over several GPUs, but with rows in the memory of this one: those are read wherever a walker comes to. They
/// stay with `own`, which is the graph as the GPU sees it.
[[nodiscard]] walk_tables with_own_rows(walk_tables const& shared, graph const& own, sampling_plan const& plan,
                                        walk_params const& params, gpu_exec const& exec);

/// Whether the second-level cache holds a good part of the graph's neighbours.
[[nodiscard]] bool neighbors_are_cached(graph const& graph, gpu_exec const& exec);

/// Whether a walk can meet a vertex that it can't leave, gathered once a graph.
[[nodiscard]] bool may_die(graph const& graph, walk_params const& params, gpu_exec const& exec);

}  // namespace tendril::gpu
