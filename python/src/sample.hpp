#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include <tendril/sample.hpp>

#include "arrays.hpp"

namespace tendril::python {

/// A hop: vertices, edges (where asked for), offsets (from the first hop that takes all neighbours on).
using hop_out = std::tuple<array_out, std::optional<array_out>, std::optional<array_out>>;

/// Trees in host memory for NumPy. Needs the GIL.
[[nodiscard]] std::vector<hop_out> give_trees(khop_trees&& trees, bool as_int32, bool with_edges, int num_threads);

}  // namespace tendril::python
