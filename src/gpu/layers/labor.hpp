// What the kernels of LABOR-0 are given. All pointers are device memory; every function enqueues. @throws device_error.

#pragma once

#include <cstdint>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/rng.hpp>

namespace tendril::gpu {

/// One hop.
struct labor_job {
  graph_view graph;
  rng_key key;
  std::uint32_t hop;  ///< From 0.
  std::int64_t fanout;
  bool normalize;
  vertex_id const* node;          ///< The vertices reached so far.
  std::int64_t const* num_nodes;  ///< How many: the host doesn't know yet, but for a bound.
  std::int64_t most_nodes;        ///< That bound, above 0.
  std::int64_t* offsets;  ///< [most_nodes + 1]: where each vertex' edges begin; behind the last one, their number.
  std::int64_t* hubs;     ///< [1 + most_nodes]: a number of hubs, which is 0 at first, and their places in `node`.
};

/// Where its edges go.
struct labor_edges {
  std::int64_t* row;
  edge_id* edge;
  float* weights;
  vertex_id* neighbors;
};

/// A hash set of vertices, each with the least position that it was seen at: those of known vertices are their numbers,
/// candidate k has num_known + k.
struct labor_numbers {
  vertex_id* keys;            ///< [num_slots], a power of two, at least twice as many as vertices are put in.
  unsigned long long* least;  ///< The same.
  std::uint64_t num_slots;
};

/// The seeds to `out`; those that are no vertices become vertex 0, and the least place of one goes to *bad, which is
/// 2^64 - 1 before. The graph has a vertex.
void clean_seeds(vertex_id const* seeds, std::int64_t size, std::int64_t num_vertices, vertex_id* out,
                 unsigned long long* bad, cuda_stream stream);

/// Counts the edges that each vertex takes, and makes offsets of the counts. @throws memory_error.
void count_labor(labor_job const& job, gpu_exec const& exec);

/// Writes them. Offsets and hubs are those of count_labor.
void write_labor(labor_job const& job, labor_edges const& out, gpu_exec const& exec);

/// Numbers `size` > 0 candidates by first appearance behind the `num_known` vertices of `node`, to which new ones are
/// added. `node` has room for all.
/// @param col         [size] the candidates' numbers; or null.
/// @param num_nodes   The number of vertices then.
/// @throws memory_error.
void number_labor(vertex_id const* candidates, std::int64_t size, vertex_id* node, std::int64_t num_known,
                  labor_numbers const& numbers, std::int64_t* col, std::int64_t* num_nodes, gpu_exec const& exec);

}  // namespace tendril::gpu
