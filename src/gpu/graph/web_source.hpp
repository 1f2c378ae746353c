// The rows of a web-like graph, made in a GPU's memory.

#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <tendril/exec.hpp>

#include "core/web_graph.hpp"
#include "gpu/place/encoder.hpp"  // row_source

namespace tendril::gpu {

/// In addition to a batch it keeps 4 bytes a vertex.
class web_source final : public row_source {
 public:
  /// @param batch_vertices  A multiple of list_block::vertices, or at least the number of vertices.
  web_source(core::web_graph const& rule, std::int64_t batch_vertices, gpu_exec const& exec);

  [[nodiscard]] std::vector<std::int64_t> batch_ends() const override;
  place::listed_rows load(std::int64_t begin, std::int64_t end, edge_id first_edge) override;
  [[nodiscard]] edge_id num_loaded() const override { return loaded_; }

  /// The arrays of the last batch: those of the whole graph, if it is one batch.
  [[nodiscard]] buffer<edge_id> take_offsets() { return std::move(offsets_); }
  [[nodiscard]] buffer<vertex_id> take_ids() { return std::move(ids_); }

 private:
  core::web_graph rule_;
  std::int64_t num_vertices_, batch_vertices_;
  gpu_exec exec_;
  buffer<std::uint32_t> degrees_;
  buffer<edge_id> offsets_;
  buffer<vertex_id> ids_;
  edge_id loaded_ = 0;
};

}  // namespace tendril::gpu
