// Checks of a graph's content.

#pragma once

#include <optional>
#include <string>

#include <tendril/graph.hpp>

namespace tendril::validation {

/// Checks that offsets never decrease (with the shapes that a graph is born with, positions are then in range).
/// @throws format_error "vertex 7: …" for the first vertex that is wrong.
void expect_ascending_offsets(graph const& g, cpu_exec const& exec);

/// The first edge that has no equal in the other direction, described; nothing if there is none. Of parallel edges
/// as many must go each way, with the same weights and labels in any order. The graph must be valid otherwise.
std::optional<std::string> find_asymmetry(graph const& g, cpu_exec const& exec);

}  // namespace tendril::validation
