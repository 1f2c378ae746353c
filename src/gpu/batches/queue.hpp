// What the persistent executor of mini-batches is given: PGSampler's queue of tasks (vertex, hop), all hops in one launch.
// Pointers are device memory; nothing synchronises. CPU twin: src/cpu/minibatch*.cpp.

#pragma once

#include <cstdint>

#include <tendril/exec.hpp>

#include "core/fast_divisor.hpp"
#include "gpu/batches/expand.hpp"
#include "gpu/batches/numbering.hpp"
#include "samplers/batches/checks.hpp"  // edge_choice

namespace tendril::gpu {

/// The most picks of a task through one edge type: two a lane; of a race, which takes a warp, one a lane.
inline constexpr std::int64_t most_queue_fanout = 64;
inline constexpr std::int64_t most_queue_race_fanout = 32;

/// A vertex that one hop expands. A task is there for others as soon as `ready` holds the launch's serial number.
struct alignas(16) queue_task {
  std::uint32_t vertex = 0;
  std::uint32_t group = 0;
  std::uint32_t kind = 0;  ///< hop | vertex type << 16
  std::uint32_t ready = 0;
};

/// One edge type, for all hops. The graphs of all that have edges have one form.
struct queue_edges {
  graph_view graph;
  std::int64_t const* times = nullptr;
  std::uint32_t const* ordinal = nullptr;
  core::alias_bucket const* buckets = nullptr;  ///< Of weighted choices with replacement, or
  summed_tables sums;                           ///< these.
  std::int32_t from = 0, to = 0;
  std::uint32_t choice = 0;  ///< samplers::edge_choice
};

/// What a hop takes through an edge type, and where a task keeps it.
struct queue_fanout {
  std::uint32_t fanout = 0;
  std::uint32_t offset = 0;  ///< In the task's results.
};

/// Vertices that the first hop expands, of one type.
struct queue_seeds {
  vertex_id const* vertices = nullptr;
  std::uint32_t const* group_of = nullptr;
  std::int64_t const* num = nullptr;  ///< [1]
};

struct queue_job {
  call_view view;
  batch_group const* groups = nullptr;
  queue_edges const* edges = nullptr;     ///< [num_edge_types]
  queue_fanout const* fanouts = nullptr;  ///< [hops, num_edge_types]
  queue_seeds const* seeds = nullptr;     ///< [vertex types]
  std::uint32_t num_edge_types = 0;
  graph_form form = graph_form::csr;
  std::uint32_t num_hops = 0;
  bool replace = false;
  bool races = false;             ///< Some edge type's choice is a race: a warp a task.
  bool by_sums = false;           ///< Some edge type has sums of weights.
  std::uint32_t most_fanout = 1;  ///< Of one hop and edge type.

  number_table table;  ///< Of tasks: the number behind (group, hop, type; vertex) is the task's.
  std::uint32_t const* first_stamp = nullptr;  ///< [1] of the table, of this call; group g, hop h, type t has
                                               ///< first_stamp + (g * num_hops + h) * num_types + t.
  std::uint32_t const* serial = nullptr;       ///< [1] differs from that of every call before.
  queue_task* tasks = nullptr;                 ///< [capacity]
  std::uint32_t capacity = 0;
  edge_id* results = nullptr;  ///< [capacity, results_a_task] -1: none.
  std::uint32_t results_a_task = 0;

  // All zero before.
  unsigned int* head = nullptr;          ///< Tickets handed out.
  unsigned long long* tail = nullptr;    ///< Tasks in the queue, and in the upper half those that are not finished.
  unsigned int* chunks_taken = nullptr;  ///< Of seeds, 32 each.
  unsigned int* chunks_done = nullptr;
};

/// Samples all hops of all batches.
void run_queue(queue_job const& job, gpu_exec const& exec);

/// The picks of one hop through one edge type, in the order of its frontier: what.picked from the tasks' results.
void fetch_picks(queue_job const& job, expansion const& what, std::uint32_t hop, std::uint32_t edge_type,
                 gpu_exec const& exec);

}  // namespace tendril::gpu
