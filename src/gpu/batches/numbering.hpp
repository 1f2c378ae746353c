// What the kernels that number the vertices of mini-batches and write their edges are given. Each function enqueues one
// launch (two where it says so) for all batches that are made together; none synchronises. Pointers are device memory.
// What differs from call to call is read from there, so that a captured launch can be repeated. CPU twin:
// src/cpu/minibatch*.cpp.

#pragma once

#include <cstdint>

#include <tendril/batch_numbers.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph_view.hpp>

#include "core/fast_divisor.hpp"
#include "gpu/batches/expand.hpp"  // batch_group
#include "gpu/batches/table.hpp"

namespace tendril::gpu {

/// Picks that one launch can number: sums of them fit half a word, with bits to spare.
inline constexpr std::int64_t most_picks_a_launch = std::int64_t{1} << 30U;

/// Slots of one tile of the launch that numbers.
inline constexpr std::int64_t number_tile_slots = 1024;

/// One call.
struct batch_call {
  std::uint64_t seed = 0;  ///< The user's.
  batch_numbers numbers;
  std::int64_t num_batches = 0;
  std::int64_t num_groups = 0;    ///< Batches, or trees if disjoint.
  core::fast_divisor by_batch;    ///< By the seeds of a batch; not used for a single batch.
  std::uint32_t first_stamp = 0;  ///< That of (group 0, vertex type 0).
  std::uint64_t dependency = 0;   ///< minibatch_params::batch_dependency of LABOR; 0: choices are independent.
};

/// One vertex type of a call. Batch b's part of an output array begins at b * stride.
struct vertex_call {
  vertex_id const* seeds = nullptr;
  std::int64_t const* times = nullptr;  ///< [num_seeds], or null: all edges.
  std::int64_t num_seeds = 0;
  std::int64_t first_seed = 0;  ///< Seeds of the types before.
  vertex_id* node = nullptr;
  std::int64_t* batch = nullptr;  ///< Null unless disjoint.
  std::int64_t stride = 0;
  std::int64_t num_vertices = 0;  ///< The graph's.
};

/// One edge type of a call. row is null where sampled edges are only counted.
struct edge_call {
  std::int64_t* row = nullptr;
  std::int64_t* col = nullptr;
  edge_id* edge = nullptr;
  std::int64_t* indptr = nullptr;
  float* weights = nullptr;  ///< By edge; null: there are none.
  std::int64_t edge_stride = 0;
  std::int64_t indptr_stride = 0;
};

struct call_view {
  batch_call const* call = nullptr;
  vertex_call const* vertices = nullptr;  ///< [num_types]
  edge_call const* edges = nullptr;
  std::uint32_t num_types = 1;  ///< Of vertices.
  bool disjoint = false;
};

/// Whom a hop expands: `num` vertices, batch after batch, each batch's in the order of their numbers.
struct vertex_list {
  vertex_id* vertices = nullptr;
  std::uint32_t* group_of = nullptr;
  std::int64_t const* num = nullptr;  ///< [1]
  /// [num_batches + 1] where each batch's begin; null for a single batch.
  std::int64_t const* begin = nullptr;
};

/// Makes ready: zeroes counters, makes the groups, puts the seeds into the table. `at` gets [all seeds] places.
/// *bad_seed, 2^64 - 1 before, becomes the least place, counted over all types, of a seed that is no vertex.
struct begin_job {
  call_view view;
  number_table table;
  unsigned long long* zeros = nullptr;
  std::int64_t num_zeros = 0;
  batch_group* groups = nullptr;
  std::uint32_t* at = nullptr;
  unsigned long long* bad_seed = nullptr;
  std::int64_t most_seeds = 0;
  std::int64_t most_groups = 0;
};
void begin_batches(begin_job const& job, gpu_exec const& exec);

/// One hop through one edge type. Columns of counts are [num_batches]; null ones read as 0.
struct number_job {
  call_view view;
  number_table table;
  std::int32_t to = 0;          ///< Type of the vertices that are numbered.
  std::int32_t edge_type = -1;  ///< -1: seeds.
  bool single = true;           ///< One batch only.

  vertex_list from;
  edge_id const* picked = nullptr;  ///< [slots] -1: none.
  std::uint32_t* at = nullptr;      ///< [slots] insertion::at, overwritten; null: no picks are made.
  bool keeps_numbers = true;        ///< A later launch looks for them in the table.
  std::uint32_t fanout = 1;         ///< Slots a vertex.
  core::fast_divisor by_fanout;
  std::int64_t const* offsets = nullptr;  ///< Where each vertex's slots begin, where that is counted: all, or LABOR.
  float const* row_weights = nullptr;     ///< With offsets, where edges have weights: of each vertex's edges.
  std::int64_t most_slots = 0;

  std::int64_t const* first = nullptr;            ///< Number of the first vertex that is expanded.
  std::int64_t const* known = nullptr;            ///< Vertices of type `to` before.
  std::int64_t const* edges_before = nullptr;     ///< Edges of the type before.
  std::int64_t const* expanded_before = nullptr;  ///< Vertices expanded through the type before.
  std::int64_t* known_after = nullptr;
  std::int64_t* edges_after = nullptr;
  std::int64_t* expanded_after = nullptr;

  // Of a single batch new vertices go straight to the list that the next hop expands, from next_base on.
  vertex_id* next_vertices = nullptr;  ///< Null: there is no such list.
  std::uint32_t* next_groups = nullptr;
  std::int64_t const* next_base = nullptr;  ///< [1] number of the list's first vertex; null: 0.
  std::int64_t* next_count = nullptr;       ///< [1] its length, or null.

  // All zero before; the first two again behind.
  std::int64_t* edges_added = nullptr;
  std::int64_t* vertices_added = nullptr;
  unsigned long long* tiles = nullptr;  ///< [most_slots / number_tile_slots, rounded up]
  unsigned int* ticket = nullptr;       ///< [2] tiles taken, blocks done.
};

/// Numbers what is new, in the order of the slots, and writes the edges.
void number_picks(number_job const& job, gpu_exec const& exec);
void number_seeds(number_job const& job, gpu_exec const& exec);

/// Writes indptr where it follows without picks: fan-outs of 0 (`at` is null), whose counts are passed on, too, and -1.
void write_indptr(number_job const& job, std::int64_t most_vertices, gpu_exec const& exec);

/// Lists for each batch the vertices of a type with the numbers [from[b], to[b]), batch after batch. Two launches.
struct list_job {
  call_view view;
  std::int32_t type = 0;
  std::int64_t num_batches = 1;
  std::int64_t const* from = nullptr;  ///< Null: 0.
  std::int64_t const* to = nullptr;
  std::int64_t* begin = nullptr;  ///< [num_batches + 1]
  vertex_id* vertices = nullptr;
  std::uint32_t* group_of = nullptr;
  std::int64_t most = 0;

  [[nodiscard]] vertex_list list() const { return {vertices, group_of, begin + num_batches, begin}; }
};
void list_vertices(list_job const& job, gpu_exec const& exec);

/// Fan-out -1: the picks of all, and of the batch that has most. `begin` as in vertex_list.
void measure_picks(std::int64_t const* offsets, std::int64_t const* num, std::int64_t const* begin,
                   std::int64_t num_batches, std::int64_t* sizes, gpu_exec const& exec);

/// offsets [size + 1] from counts [size].
void make_offsets(std::int64_t const* counts, std::int64_t size, std::int64_t* offsets, gpu_exec const& exec);

/// Behind the edges of each batch their reverses. @param num_edges  [num_batches]
void add_reverses(call_view const& view, std::int64_t const* num_edges, std::int64_t num_batches, std::int64_t most,
                  gpu_exec const& exec);

/// Copies what bears a stamp of first_stamp or above into a larger table of zeros.
void move_table(number_table const& from, number_table const& to, std::uint32_t first_stamp, gpu_exec const& exec);

/// One of many copies within device memory, in words of 4 bytes.
struct word_copy {
  std::uint32_t const* from;
  std::uint32_t* to;
  std::int64_t words;
};
void copy_words(word_copy const* copies, std::int64_t num_copies, std::int64_t most_words, gpu_exec const& exec);

}  // namespace tendril::gpu
