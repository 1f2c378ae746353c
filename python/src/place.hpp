#pragma once

#include <optional>

#include <nanobind/nanobind.h>

#include <tendril/graph.hpp>

namespace tendril::python {

/// What lies where; None for a graph that is not placed.
[[nodiscard]] std::optional<nanobind::dict> placement_of(graph const& input);

}  // namespace tendril::python
