// What the kernels of layer-wise sampling are given. Host and device code.

#pragma once

#include <cstddef>
#include <cstdint>

#include <tendril/exec.hpp>
#include <tendril/layers.hpp>

#include "core/layers.hpp"
#include "plan/tables.hpp"  // alias_record

namespace tendril::gpu {

/// All pointers are device memory.
struct layerwise_job {
  graph_view graph;
  core::ladies_tables source;  ///< The matrix, too.
  core::layer_method application;
  bool from_previous;  ///< LADIES; else one distribution for all.
  bool replace, normalize_rows;
  bool parallel_edges;  ///< The graph has some.
  std::uint64_t seed, first_sample;
  std::int64_t num_samples;  ///< Above 0.
  std::uint32_t num_layers, layer_size, batch_size;
  vertex_id const* roots;             ///< [num_samples, batch_size]
  plan::alias_record const* columns;  ///< FastGCN, MVS: [num_vertices]; null: all vertices alike.
  float const* column_probabilities;  ///< The same.
  vertex_id const* adjacency_sets;    ///< core/adjacency_set.hpp; null: searches in the lists.
  vertex_id* vertices;                ///< [num_samples, num_layers, layer_size]
  float* probabilities;               ///< The same.
  std::int64_t* edge_offsets;         ///< [num_samples * num_layers + 1]: element b + 1 gets the edges of pair b, then
                                      ///< finish_offsets adds them up.
  unsigned long long* bad_root;       ///< The least position in `roots` that holds no vertex; 2^64 - 1 at first.

  /// Words of 32 columns in a row of a matrix of bits.
  [[nodiscard]] TENDRIL_HD std::uint32_t row_words() const { return (layer_size + 31) / 32; }
  /// Words of the matrices of one sample: which vertices of a layer are neighbours of which before it.
  [[nodiscard]] TENDRIL_HD std::int64_t sample_words() const
  {
    return (batch_size + std::int64_t{num_layers - 1} * layer_size) * row_words();
  }
  /// Where that of a layer begins.
  [[nodiscard]] TENDRIL_HD std::int64_t layer_word(std::uint32_t layer) const
  {
    return layer == 0 ? 0 : (batch_size + std::int64_t{layer - 1} * layer_size) * row_words();
  }
  /// Vertices before a layer.
  [[nodiscard]] TENDRIL_HD std::uint32_t num_rows(std::uint32_t layer) const
  {
    return layer == 0 ? batch_size : layer_size;
  }
};

/// The samples [first, first + count), and the matrices of bits of these alone.
struct layer_range {
  std::int64_t first, count;
  std::uint32_t* bits;  ///< [count, sample_words]
};

/// The edges' arrays.
struct layer_edges {
  std::int32_t* row;
  std::int32_t* col;
  float* coefficients;
  edge_id* edges;  ///< Or null.
};

/// How blocks of one kernel are made, and where each keeps its arena: in shared memory, or, where that is too small, in
/// `arena_bytes` bytes of scratch memory a block.
struct layer_shape {
  unsigned blocks = 0;
  int threads = 0;
  std::size_t arena_bytes = 0;
  bool in_shared = true;
  bool bits_in_shared = false;  ///< Rows of bits are made in shared memory, then copied.

  [[nodiscard]] std::int64_t scratch_bytes() const
  {
    return in_shared ? 0 : static_cast<std::int64_t>(arena_bytes) * blocks;
  }
};

/// The kernels of a job.
struct layer_shapes {
  layer_shape draw;   ///< FastGCN: vertices.
  layer_shape match;  ///< FastGCN: bits, counts. LADIES: everything before edges are written.
  layer_shape write;  ///< Edges.

  [[nodiscard]] std::int64_t scratch_bytes() const;
};

/// Of the draws alone. @throws device_error.
[[nodiscard]] layer_shape draws_shape(layerwise_job const& job, int device);

/// @param samples  At most so many at once. @throws device_error.
[[nodiscard]] layer_shapes shapes_of(layerwise_job const& job, std::int64_t samples, int device);

// Each enqueues. `scratch` has shapes.scratch_bytes() bytes, device memory. @throws device_error.

/// Vertices of all samples, and their probabilities: FastGCN's and MVS', whose layers don't depend on each other. Nothing
/// for LADIES.
void enqueue_draws(layerwise_job const& job, layer_shape const& shape, char* scratch, cuda_stream stream);

/// Bits of a range and, with `count`, its number of edges a pair of layers; LADIES' vertices and probabilities.
void enqueue_matches(layerwise_job const& job, layer_range const& range, bool count, layer_shapes const& shapes,
                     char* scratch, cuda_stream stream);

/// Makes offsets of the counts.
void finish_offsets(layerwise_job const& job, gpu_exec const& exec);

/// Writes the edges of a range whose bits are there.
void enqueue_edges(layerwise_job const& job, layer_range const& range, layer_edges const& out,
                   layer_shapes const& shapes, char* scratch, cuda_stream stream);

}  // namespace tendril::gpu
