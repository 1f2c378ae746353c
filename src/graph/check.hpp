// Checks of a graph's content.

#pragma once

#include <optional>
#include <string>

#include <tendril/graph.hpp>

namespace tendril::validation {

/// The arrays of a graph in CSR form, whatever their content.
[[nodiscard]] csr_arrays csr_of(graph_arrays const& arrays) noexcept;

/// The arrays of a compressed graph, whatever their content.
[[nodiscard]] compressed_arrays compressed_of(graph_arrays const& arrays) noexcept;

/// The edge ids of a graph that has some.
[[nodiscard]] edge_id_view edge_ids_of(graph_arrays const& arrays) noexcept;

/// The view of a graph of any form, whatever its content: it is safe to use if the content is sound.
[[nodiscard]] graph_view view_of(graph_arrays const& arrays) noexcept;

/// Checks what samplers rely on (graph_content::sound). Sound arrays are read once, at the speed of memory; only arrays
/// that are not sound are read again, for the message.
/// @throws format_error "FILE: vertex 7: …", FILE only if the arrays have a source: the violation of the first vertex.
void expect_sound(graph_arrays const& arrays, cpu_exec const& exec);

/// What rows are part of.
struct row_places {
  std::int64_t num_targets = 0;   ///< Neighbours are below.
  std::int64_t first_vertex = 0;  ///< The vertex of row 0, for messages.
};

/// The same of rows of a larger graph: of arrays of one size, and in CSR form of an `indptr` that is not empty. Compressed lists
/// know the vertex of row 0 by themselves (`first_id`).
void expect_sound_rows(graph_arrays const& rows, row_places const& places, cpu_exec const& exec);

/// Checks everything that a graph promises (graph_content::valid). @throws format_error as above.
void expect_valid(graph_arrays const& arrays, cpu_exec const& exec);

/// Checks that original ids are ids, and each another one. @throws format_error "FILE: vertex 7: …" as above.
void expect_valid_original_ids(graph_arrays const& arrays, cpu_exec const& exec);

/// Checks that offsets never decrease (with the shapes that a graph is born with, positions are then in range).
/// @throws format_error "vertex 7: …" for the first vertex that is wrong.
void expect_ascending_offsets(graph const& g, cpu_exec const& exec);

/// The first edge that has no equal in the other direction, described; nothing if there is none. Of parallel edges
/// as many must go each way, with the same weights and labels in any order. The graph must be valid otherwise.
std::optional<std::string> find_asymmetry(graph const& g, cpu_exec const& exec);

}  // namespace tendril::validation
