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
///             int64, float32, int32. A batch has, in this order: node of each vertex type; batch (disjoint); row, col, edge of
///             each edge type; weights (LABOR).
///   and the vertices a hop, and edges a hop, of each batch and type.
using batch_group = std::tuple<std::vector<gpu_array>, std::vector<std::vector<std::int64_t>>,
                               std::vector<std::int64_t>, std::vector<std::vector<std::vector<std::int64_t>>>,
                               std::vector<std::vector<std::vector<std::int64_t>>>>;

/// Needs no GIL, enqueues, doesn't synchronise.
[[nodiscard]] batch_group group_of(std::vector<minibatch> const& made, minibatch_params const& params, bool as_int32,
                                   gpu_exec const& exec);

}  // namespace tendril::python
