// Reads the lists of a compressed graph in a GPU's memory.

#pragma once

#include <cstdint>
#include <vector>

#include <tendril/compressed_view.hpp>
#include <tendril/exec.hpp>

#include "gpu/place/encoder.hpp"  // row_source

namespace tendril::gpu {

/// Enqueues the offsets, [end - begin + 1], and the neighbours of the vertices [begin, end), whose first edge is number
/// `base`. Doesn't synchronise.
void decode(compressed_view const& g, std::int64_t begin, std::int64_t end, edge_id base, edge_id* offsets,
            vertex_id* ids, gpu_exec const& exec);

/// The rows of a compressed graph. Batches hold at most so many edges and vertices, but for batches of 49,152 vertices.
class decoded_source final : public row_source {
 public:
  static constexpr edge_id usual_edges = edge_id{1} << 28U;              // 1 GiB of ids
  static constexpr std::int64_t most_vertices = std::int64_t{1} << 26U;  // 0.5 GiB of offsets

  /// Synchronises.
  decoded_source(compressed_view const& g, edge_id most_edges, gpu_exec const& exec);

  [[nodiscard]] std::vector<std::int64_t> batch_ends() const override { return ends_; }
  place::listed_rows load(std::int64_t begin, std::int64_t end, edge_id first_edge) override;
  [[nodiscard]] edge_id num_loaded() const override { return loaded_; }

 private:
  compressed_view g_;
  gpu_exec exec_;
  std::vector<std::int64_t> ends_;
  std::vector<edge_id> sizes_;  ///< Edges of each batch.
  buffer<edge_id> offsets_;
  buffer<vertex_id> ids_;
  edge_id loaded_ = 0;
};

}  // namespace tendril::gpu
