// Compresses the lists of a graph on a GPU, from any source of rows.

#pragma once

#include <cstdint>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

#include "place/block_writer.hpp"

namespace tendril::gpu {

/// Rows in batches of whole blocks of the directory, each of which is made twice, in order: for the sizes, and for the
/// bits. Calls enqueue work on the stream of the encoder, and may synchronise.
class row_source {
 public:
  virtual ~row_source() = default;

  /// Where batches end: multiples of list_block::vertices that ascend, and at last the number of vertices.
  [[nodiscard]] virtual std::vector<std::int64_t> batch_ends() const = 0;

  /// The rows of the vertices [begin, end) in the GPU's memory, until the next call: their edges are numbered from
  /// `first_edge` on.
  virtual place::listed_rows load(std::int64_t begin, std::int64_t end, edge_id first_edge) = 0;

  /// How many edges the last rows had.
  [[nodiscard]] virtual edge_id num_loaded() const = 0;
};

/// The lists of a source in form `form`, which isn't CSR, in the memory of `exec`. In addition to the result it takes 24
/// bytes a block of 11 vertices of a batch, and what the source takes. Synchronises.
/// @throws memory_error; device_error.
[[nodiscard]] compressed_lists encode_lists(row_source& source, std::int64_t num_vertices, graph_form form,
                                            gpu_exec const& exec);

}  // namespace tendril::gpu
