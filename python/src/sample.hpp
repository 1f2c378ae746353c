#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include <tendril/sample.hpp>

#include "arrays.hpp"
#include "gpu.hpp"

namespace tendril::python {

/// A hop: vertices, edges (where asked for), offsets (from the first hop that takes all neighbours on).
using hop_out = std::tuple<array_out, std::optional<array_out>, std::optional<array_out>>;
using gpu_hop_out = std::tuple<gpu_array, std::optional<gpu_array>, std::optional<gpu_array>>;

/// Trees in host memory for NumPy. Needs the GIL.
[[nodiscard]] std::vector<hop_out> give_trees(khop_trees&& trees, bool as_int32, bool with_edges, int num_threads);

/// Trees that `exec` made, where they are, in the shapes [roots, fan-out, …]; after a hop that takes all neighbours, [slots].
[[nodiscard]] std::vector<gpu_hop_out> give_gpu_trees(khop_trees&& trees, bool as_int32, bool with_edges,
                                                      gpu_exec const& exec);

}  // namespace tendril::python
