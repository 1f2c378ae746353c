#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include <tendril/minibatch.hpp>

#include "gpu.hpp"

namespace tendril::python {

/// The arrays of several batches as pieces of GPU memory, for who takes all of them: he cuts each piece once.
///
///   pieces    one-dimensional, of one type each
///   cuts      of each piece: the sizes of its consecutive parts, some of which are no arrays
///   places    of each array, batch by batch: the number of its part among those of all pieces; -1, -2, -3: it is empty, of
///             int64, float32, int32
using array_pieces =
    std::tuple<std::vector<gpu_array>, std::vector<std::vector<std::int64_t>>, std::vector<std::int64_t>>;

/// The edges of several batches, in GPU memory. Thread-safe. Calls enqueue, need no GIL, and don't synchronise.
class edge_group {
 public:
  /// @param ready  From when on the edges are there.
  edge_group(std::vector<minibatch> const& made, bool weighted, int device, std::shared_ptr<gpu_event const> ready);

  /// Whether edges have weights (LABOR).
  [[nodiscard]] bool weighted() const { return weighted_; }

  /// All arrays. A batch has, in this order: row, col and edge of each edge type; weights, if there are.
  [[nodiscard]] array_pieces pieces() const;

  /// Edges of each type.
  [[nodiscard]] std::vector<std::int64_t> sizes(std::size_t batch) const;

  /// `write_edge_lists` of a batch's types, in the order of a stream.
  /// @param numbers  Addresses, one for each type; 0: none.
  void write(std::size_t batch, std::vector<std::uintptr_t> const& numbers, std::uintptr_t out,
             std::uintptr_t stream) const;

 private:
  std::vector<std::vector<minibatch_edges>> batches_;
  bool weighted_;
  int device_;
  std::shared_ptr<gpu_event const> ready_;
};

/// The pieces of vertices, of which a batch has the node of each type, then the batch of each (disjoint); vertices a hop, and
/// edges a hop, of each batch and type; the edges.
using batch_group = std::tuple<array_pieces, std::vector<std::vector<std::vector<std::int64_t>>>,
                               std::vector<std::vector<std::vector<std::int64_t>>>, edge_group>;

/// Needs no GIL, enqueues, doesn't synchronise.
[[nodiscard]] batch_group group_of(std::vector<minibatch> const& made, minibatch_params const& params, bool as_int32,
                                   gpu_exec const& exec);

}  // namespace tendril::python
