// What the launches of planned walks are given.

#pragma once

#include <cstdint>
#include <memory>

#include <tendril/graph_view.hpp>
#include <tendril/walk.hpp>

#include "core/draws.hpp"
#include "core/node2vec.hpp"
#include "gpu/tables/tables.hpp"

namespace tendril::gpu {

struct superstep;  // gpu/walks/moving/superstep.hpp
struct moved_vertex;
template <class Walker>
struct part_step;   // gpu/walks/parts/part_step.hpp
struct alone_step;  // gpu/walks/parts/alone_step.hpp

/// What a launch reports to the host: it lies in pinned memory that both sides see.
struct walk_status {
  std::int64_t bad_start;  ///< Index of some start that is not below num_vertices; -1 if there is none.
  std::int64_t end;        ///< Ragged walks: where the last walk of a slice ends in the result.
  std::int32_t longest;    ///< Ragged walks: the most steps of a walk of a slice.
};

/// A batch of walks as kernels see it. All pointers are device memory but `status`, which is pinned host memory.
struct walk_batch {
  vertex_id const* starts;  ///< [size]
  std::int64_t size;
  std::uint64_t first_walk;  ///< Logical id of starts[0].
  std::int64_t num_vertices;
  std::int32_t length;  ///< Steps of a whole walk.
  bool repeat_dead_ends;
  bool prefilled;                 ///< What follows a walk's end holds no_vertex already, or is not read.
  vertex_id* vertices;            ///< [size, length + 1], or [length + 1, stride] where rows are steps.
  std::int32_t* lengths;          ///< [size] or null.
  unsigned long long* next_walk;  ///< The pool: walks handed out beyond the first ones; starts at 0.
  walk_status* status;
  std::int64_t stride = 0;  ///< Where rows are steps: walks of a row, of which these are `size`.
};

/// How a batch is written and enqueued.
struct walk_shape {
  bool step_major;
  bool may_stop, may_restart;  ///< Whether `core::walk_ends` can end or restart a walk.
  bool may_die;                ///< Whether a walk can meet a vertex that it can't leave.
  int device;
  cuda_stream stream;
  // Instead of whole walks, one step
  superstep const* moving = nullptr;                 ///< of walkers that move between GPUs;
  part_step<moved_vertex> const* on_part = nullptr;  ///< of walkers on a part of a graph that keep step;
  alone_step const* alone = nullptr;                 ///< of walkers on a part that go alone.

  [[nodiscard]] bool may_end() const { return may_stop || may_restart; }
};

/// The tables of one plan in device memory; null where the plan doesn't use them. They stay with the graph.
struct walk_tables {
  std::shared_ptr<plan::weight_statistics const> statistics;
  std::shared_ptr<plan::label_groups const> groups;
  std::shared_ptr<label_lists const> lists;
  std::shared_ptr<buffer<row_record> const> rows;
  std::shared_ptr<buffer<plan::vertex_record> const> weighted_rows;
  std::shared_ptr<buffer<plan::edge_record> const> edges;
  std::shared_ptr<buffer<hop_record> const> hops;
  std::shared_ptr<buffer<std::uint64_t> const> packed_hops;
  hop_packing packing;
  std::shared_ptr<buffer<std::uint64_t> const> triples;
  std::shared_ptr<buffer<plan::alias_record> const> alias;
  std::shared_ptr<buffer<alias_hop_record> const> alias_hops;
  std::shared_ptr<buffer<std::uint64_t> const> prefix_sums;
  std::shared_ptr<plan::weight_sums const> sums;
  std::shared_ptr<buffer<vertex_id> const> adjacency_sets;
};

/// The metapath as kernels see it.
struct metapath_view {
  label_id const* schema = nullptr;  ///< [size], device memory; null: no metapath.
  std::int32_t size = 0;
  bool of_vertices = false;
  label_id first_type = 0;  ///< The type that a start must have, if of_vertices.
};

/// Everything about a walk that doesn't change from batch to batch.
struct walk_job {
  graph_view graph;
  walk_tables const* tables = nullptr;  ///< May be null for the rule scan.
  sampling_rule rule = sampling_rule::uniform;
  bool weighted = false;
  bool second_order = false;
  bool neighbors_are_cached = false;  ///< The second-level cache holds a good part of the neighbours.
  core::node2vec_bias bias;
  metapath_view metapath;
  rng_key step_key;
  core::walk_ends ends;
};

// Each enqueues one batch by one rule. They check launches, allocate nothing and don't synchronise.
// @throws device_error.
void uniform_walk(walk_job const& job, walk_batch const& batch, walk_shape const& shape);
void alias_walk(walk_job const& job, walk_batch const& batch, walk_shape const& shape);
void its_walk(walk_job const& job, walk_batch const& batch, walk_shape const& shape);
void reject_walk(walk_job const& job, walk_batch const& batch, walk_shape const& shape);
void node2vec_walk(walk_job const& job, walk_batch const& batch, walk_shape const& shape);

}  // namespace tendril::gpu
