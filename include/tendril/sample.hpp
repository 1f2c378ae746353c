#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/plan.hpp>

namespace tendril {

/// k-hop neighbourhoods as trees: every sampled slot is kept; vertices are not deduplicated (GraphSAGE, NeurIPS'17).
struct khop_params {
  std::vector<std::int64_t> fanouts = {25, 10};  ///< Neighbours per vertex and hop: >= 1, or -1 for all.
  bool replace = false;                          ///< With replacement; false: a vertex of degree <= fanout gives all
                                                 ///< its edges (weighted: all edges of positive weight).
  bool weighted = false;  ///< In proportion to weights. With replacement: i.i.d.; without: successive draws.
  sampling_rule rule = sampling_rule::automatic;
  std::uint64_t seed = 0;
  table_limit table_bytes = {};  ///< Most bytes of tables, >= 0. It changes speed alone, no tree.
};

/// Checks the parameters, without a graph. @throws argument_error for a parameter out of range, as every call that takes
/// them.
void validate(khop_params const& params);

/// One hop of the trees. The children of slot s of the previous hop are the slots [s * fanout, (s + 1) * fanout); if
/// the fan-out is -1, they are [offsets[s], offsets[s + 1]). The slots of a root are contiguous, in the order of the
/// roots.
struct tree_hop {
  std::int64_t fanout = 0;       ///< -1: all.
  buffer<vertex_id> vertices;    ///< [num_slots]; `no_vertex` in slots that could not be filled.
  buffer<edge_id> edges;         ///< [num_slots] positions in the graph's edge arrays; -1 in empty slots.
  buffer<std::int64_t> offsets;  ///< [slots of the previous hop + 1] if the fan-out is -1; else empty.
};

struct khop_trees {
  std::int64_t num_roots = 0;
  std::vector<tree_hop> hops;
};

/// Samples the trees of `seeds`. Tree i depends only on the graph, the parameters, seeds[i] and its logical id
/// first_root + i. Edges are followed in their stored direction.
/// @param with_edges  Also fill tree_hop::edges.
/// @throws argument_error  a fan-out of 0 or below -1, no fan-out, more than 2^31 slots per tree, a seed out of range,
///                         `weighted` on a graph without weights; memory_error if a hop doesn't fit.
[[nodiscard]] khop_trees khop_sample(graph const& graph, std::span<vertex_id const> seeds, khop_params const& params,
                                     cpu_exec const& exec = {}, std::int64_t first_root = 0, bool with_edges = false);

/// Makes the same trees of a graph in a mapped file that memory doesn't hold. A hop goes over the file in order, whatever
/// the order of the roots: the vertices that it expands are grouped by regions of consecutive vertices; a region with many
/// of them is read as a whole, around the system's cache, while the one before is used, and of a region with few of them
/// their pages are asked for at once. So many roots a call make few readings. A hop with the fan-out -1, and tables of
/// weights, read pages where they are.
class khop_file_sampler {
 public:
  /// @param input        In host memory; arrays that lie in no file are used where they are.
  /// @param graph_bytes  Memory of two regions, >= 2. In addition a call takes its trees and 8 bytes for each slot of a hop.
  /// @throws argument_error as khop_sample.
  khop_file_sampler(graph input, khop_params params, std::int64_t graph_bytes);
  khop_file_sampler(khop_file_sampler&&) noexcept;
  khop_file_sampler& operator=(khop_file_sampler&&) noexcept;
  ~khop_file_sampler();

  /// As khop_sample. One call at a time. @throws as khop_sample; io_error if the file became shorter.
  [[nodiscard]] khop_trees sample(std::span<vertex_id const> seeds, cpu_exec const& exec = {},
                                  std::int64_t first_root = 0, bool with_edges = false);

  /// Of whole regions, in all calls so far.
  [[nodiscard]] std::int64_t read_bytes() const;

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

/// Samples the same trees, bit for bit, on the GPU of `exec`: `graph` (to_gpu), `seeds` and the result are in its
/// memory; the work is ordered on `exec.stream`. The first call that needs tables builds them there. Synchronises with
/// the stream once, at the end, and once for each fan-out of -1.
/// @throws argument_error as above, and for a graph that is elsewhere; device_error; memory_error.
[[nodiscard]] khop_trees khop_sample(graph const& graph, std::span<vertex_id const> seeds, khop_params const& params,
                                     gpu_exec const& exec, std::int64_t first_root = 0, bool with_edges = false);

/// Plans without running the sampler. @throws as khop_sample.
[[nodiscard]] sampling_plan plan_khop(graph const& graph, khop_params const& params, std::int64_t num_roots,
                                      cpu_exec const& exec = {});

/// Plans for the GPU that holds the graph: the rule is the CPU's; tables are always built. Doesn't synchronise.
[[nodiscard]] sampling_plan plan_khop(graph const& graph, khop_params const& params, std::int64_t num_roots,
                                      gpu_exec const& exec);

}  // namespace tendril
