#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/plan.hpp>

namespace tendril {

/// k-hop neighbourhoods as trees: every sampled slot is kept, nothing is deduplicated (GraphSAGE, NeurIPS'17).
struct khop_params {
  std::vector<std::int64_t> fanouts = {25, 10};  ///< Neighbours of each vertex a hop: >= 1, or -1 for all.
  bool replace = false;                          ///< With replacement; else a vertex of degree <= fanout gives all
                                                 ///< its edges (weighted: all of positive weight).
  bool weighted = false;  ///< In proportion to weights: with replacement i.i.d., without: successive draws.
  sampling_rule rule = sampling_rule::automatic;
  std::uint64_t seed = 0;
};

/// One hop of the trees. The children of slot s of the hop before are the slots [s * fanout, (s + 1) * fanout), or,
/// where the fan-out is -1, [offsets[s], offsets[s + 1]). A root's slots lie together, in the order of the roots.
struct tree_hop {
  std::int64_t fanout = 0;       ///< -1: all.
  buffer<vertex_id> vertices;    ///< [num_slots]; `no_vertex` in slots that could not be filled.
  buffer<edge_id> edges;         ///< [num_slots] positions in the graph's edge arrays, -1 in empty slots.
  buffer<std::int64_t> offsets;  ///< [slots of the hop before + 1] where the fan-out is -1, else empty.
};

struct khop_trees {
  std::int64_t num_roots = 0;
  std::vector<tree_hop> hops;
};

/// Samples the trees of `seeds`. Tree i depends on the graph, the parameters, seeds[i] and its logical id
/// first_root + i alone. Edges are followed in their stored direction.
/// @param with_edges  Fill tree_hop::edges too.
/// @throws argument_error  a fan-out of 0 or below -1, no fan-out, more than 2^31 slots a tree, a seed out of range,
///                         weights asked for on a graph without; memory_error where a hop doesn't fit.
[[nodiscard]] khop_trees khop_sample(graph const& graph, std::span<vertex_id const> seeds, khop_params const& params,
                                     cpu_exec const& exec = {}, std::int64_t first_root = 0, bool with_edges = false);

/// The same trees, bit for bit, on the GPU of `exec`: `graph` (to_gpu), `seeds` and the result lie in its memory, the work
/// is ordered on `exec.stream`. Tables are built there by the first call that needs them. Synchronises with the stream
/// once, at the end, and once for each fan-out of -1.
/// @throws argument_error as above, and for a graph that is elsewhere; device_error; memory_error.
[[nodiscard]] khop_trees khop_sample(graph const& graph, std::span<vertex_id const> seeds, khop_params const& params,
                                     gpu_exec const& exec, std::int64_t first_root = 0, bool with_edges = false);

/// Plans without running. @throws as khop_sample.
[[nodiscard]] sampling_plan plan_khop(graph const& graph, khop_params const& params, std::int64_t num_roots,
                                      cpu_exec const& exec = {});

/// The same for the GPU that holds the graph: the rule is the CPU's, tables are always built. Doesn't synchronise.
[[nodiscard]] sampling_plan plan_khop(graph const& graph, khop_params const& params, std::int64_t num_roots,
                                      gpu_exec const& exec);

}  // namespace tendril
