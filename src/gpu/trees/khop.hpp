// What the kernels of k-hop trees are given: a hop a call. Host and device code. No call but all_offsets()
// synchronises.

#pragma once

#include <cstdint>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

#include "core/alias.hpp"
#include "core/random.hpp"
#include "gpu/picks/race.hpp"
#include "gpu/ranks/slots.hpp"  // asked_slot
#include "gpu/walks/job.hpp"    // walk_status
#include "plan/tables.hpp"      // alias_record

namespace tendril::gpu {

/// The slots of one hop, whose vertices the next hop expands. A root's slots are whole units: one unit, or, after a hop
/// that took all neighbours, a unit for each slot of that hop. Pointers are device memory.
struct hop_slots {
  vertex_id const* vertices = nullptr;  ///< [size]; what is no vertex has no neighbours.
  std::int64_t size = 0;
  std::int64_t num_roots = 0;
  std::int64_t a_unit = 1;                   ///< Slots of a unit.
  std::int64_t const* unit_begin = nullptr;  ///< [num_roots + 1]: where each root's units begin; null: one unit each.
};

/// Where a slot is in the trees of a rank.
struct alignas(8) tree_place {
  std::uint32_t root;  ///< Counted from the rank's first.
  std::uint32_t slot;  ///< Counted from the root's first.
};

/// Slots of one rank's trees that are expanded where their vertices are.
struct asked_slots {
  asked_slot const* slots;   ///< [khop_job::parents.size], counted from the first slot of a rank's trees.
  tree_place const* places;  ///< [khop_job::parents.size]; or null where all trees have as many slots.
  std::uint32_t a_root;      ///< Without places: slots of a tree, below 2^31.
  edge_id first_edge;        ///< Of the part, which is the job's graph.
  bool in_place;             ///< Children go to the rows of their slots; else to those of the questions.
};

/// One hop of all trees.
struct khop_job {
  graph_view graph;
  hop_slots parents;
  asked_slots const* asked = nullptr;  ///< Instead of parents, of which the size alone counts.
  std::uint64_t first_root = 0;        ///< Logical id of the first root.
  rng_key key{};
  std::uint32_t fanout = 1;
  std::uint32_t most_picks = 1;   ///< The fan-out, or the largest degree if that is known to be less.
  bool replace = false;           ///< Of uniform_hop.
  vertex_id* vertices = nullptr;  ///< [parents.size * fanout]
  edge_id* edges = nullptr;       ///< likewise, or null
  walk_status* status = nullptr;  ///< Told of parents that are no vertices, where these are the caller's; else null.
};

/// Uniform picks, with replacement or without. Fan-outs of more than 4,096 without replacement take scratch memory.
void uniform_hop(khop_job const& job, gpu_exec const& exec);

/// Weighted picks with replacement, by an alias table with vertices in it (job.edges is null), by one with positions,
/// and by prefix sums: [num_edges] each.
void alias_hop(khop_job const& job, plan::alias_record const* records, gpu_exec const& exec);
void alias_hop(khop_job const& job, core::alias_bucket const* buckets, gpu_exec const& exec);
void its_hop(khop_job const& job, std::uint64_t const* prefix_sums, gpu_exec const& exec);

/// The same picks by the sums of weights that stand in for these tables. @param rule  its or alias.
void summed_hop(khop_job const& job, plan::weight_sums const& sums, sampling_rule rule, gpu_exec const& exec);

/// Weighted picks without replacement: the best of a race.
/// @param scratch  race_scratch_bytes(parents.size, most_picks)
void race_hop(khop_job const& job, void* scratch, race_execution how, gpu_exec const& exec);

/// How large a hop is that takes all neighbours.
struct all_size {
  std::int64_t num_slots = 0;     ///< In all.
  std::int64_t largest_tree = 0;  ///< Of one root.
};

/// Where the children of each parent begin, offsets [parents.size + 1], and those of each root, root_begin
/// [num_roots + 1]. Waits for the stream. The key, fan-out, vertices and edges of the job don't matter.
[[nodiscard]] all_size all_offsets(khop_job const& job, std::int64_t* offsets, std::int64_t* root_begin,
                                   gpu_exec const& exec);

/// Writes all neighbours to job.vertices [num_slots], and their edges.
void all_hop(khop_job const& job, std::int64_t const* offsets, std::int64_t num_slots, gpu_exec const& exec);

}  // namespace tendril::gpu
