// What the kernels that choose neighbours for mini-batches are given: one hop through one edge type, of any number of
// batches at once. Sizes that vary lie in device memory: no call synchronises. Host and device code. CPU twin:
// src/cpu/picks/neighbor_picks.hpp.

#pragma once

#include <cstdint>

#include <tendril/exec.hpp>
#include <tendril/graph_view.hpp>
#include <tendril/rng.hpp>

#include "core/alias.hpp"
#include "gpu/batches/table.hpp"
#include "gpu/picks/race.hpp"
#include "gpu/picks/summed_tables.hpp"

namespace tendril::gpu {

/// Whom a vertex is expanded for: a batch, or one seed of a disjoint batch.
struct batch_group {
  rng_key key{};            ///< Of the batch; of LABOR, core::labor_numbers::now.
  std::uint32_t tree = 0;   ///< 0, or 1 + the seed's position in its batch: the high half of the draws' item.
  std::int64_t time = 0;    ///< Edges later than this don't count; of temporal graphs only.
  std::uint64_t batch = 0;  ///< The batch's number.
};

/// Where picked neighbours get their numbers from later: each is put into the table as soon as it is picked. Those of another
/// rank are written, for that rank to put into its own.
struct pick_sink {
  number_table table;
  std::uint32_t* at = nullptr;                 ///< [slots] insertion::at; null: picks are written, that is all.
  vertex_id* neighbors = nullptr;              ///< [slots] no_vertex: none; or null. Of both `at` and this one is null.
  std::uint32_t const* first_stamp = nullptr;  ///< Of the call.
  std::uint32_t num_types = 1;                 ///< Of vertices.
  std::int32_t to = 0;                         ///< The neighbours' type,
  std::int64_t num_vertices = 0;               ///< and how many there are.
  std::int64_t first_slot = 0;                 ///< Of at[0], counted over the launches of an expansion.
};

/// The vertices that a hop expands, and where their picks go. Pointers are device memory.
struct expansion_slots {
  std::int64_t const* times = nullptr;         ///< [num_edges] temporal_order of the edge type, or null.
  std::uint32_t const* ordinal = nullptr;      ///< [num_edges] likewise.
  std::int64_t const* num_vertices = nullptr;  ///< [1] how many vertices there are; at most `most_vertices`.
  std::int64_t most_vertices = 0;
  vertex_id const* vertices = nullptr;      ///< [most_vertices] rows of the graph; no_vertex has no neighbours.
  vertex_id first_id = 0;                   ///< The vertex of row 0: of a part its first one.
  std::uint32_t const* group_of = nullptr;  ///< [most_vertices] index into groups.
  batch_group const* groups = nullptr;
  std::uint32_t step = 0;     ///< Of the draws: core::minibatch_draws::step.
  std::uint32_t fanout = 0;   ///< >= 1; slot (i, j) is i * fanout + j.
  edge_id* picked = nullptr;  ///< [most_vertices * fanout] position in the graph's edge arrays, -1: none.
                              ///< Slots of vertices beyond num_vertices aren't written.
  pick_sink sink;
};

/// The same, and the graph: of a form that kernels know, or, for the host, of any.
template <class View>
struct expansion_part;
template <class Graph>
struct expansion_on : expansion_slots {
  using part_type = expansion_part<Graph>;

  Graph graph;
};
using expansion = expansion_on<graph_view>;

/// Uniform, with replacement or without; of temporal graphs among the edges that are not too late.
void pick_uniform(expansion const& what, bool replace, gpu_exec const& exec);

/// The latest edges that are not too late.
void pick_last(expansion const& what, gpu_exec const& exec);

/// In proportion to weights, with replacement. @param buckets  [num_edges]
void pick_alias(expansion const& what, core::alias_bucket const* buckets, gpu_exec const& exec);

/// The same picks by the sums of weights that stand in for the table.
void pick_summed(expansion const& what, summed_tables const& sums, gpu_exec const& exec);

/// In proportion to weights, without replacement: the first of a race, in the order of their keys.
/// @param scratch  race_scratch_bytes(most_vertices, fanout)
void pick_race(expansion const& what, void* scratch, race_execution how, gpu_exec const& exec);

/// Fan-out -1: how many edges each vertex has that are not too late, counts [most_vertices]; 0 beyond num_vertices.
void count_all(expansion const& what, std::int64_t* counts, gpu_exec const& exec);

/// Writes all of them to picked[offsets[i], offsets[i + 1]) in the order of the list (of times, where there are any).
void pick_all(expansion const& what, std::int64_t const* offsets, gpu_exec const& exec);

}  // namespace tendril::gpu
