#pragma once

#include <cstdint>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

#include "convert/row_source.hpp"
#include "convert/sorted_runs.hpp"  // arc_kinds
#include "convert/workspace.hpp"

namespace tendril::convert {

/// What the arrays of the result hold, each in a file of its own.
struct part_kinds {
  graph_form form = graph_form::csr;
  arc_kinds columns;
  int bytes_per_label = 0;
};

/// Writes the arrays of a graph that has the rows of `rows`: threads read and encode ranges of vertices, which go to the
/// files in order. At the end the record has all parts, and the numbers of vertices and edges.
/// @throws io_error; memory_error for a vertex whose neighbours don't fit into `memory_bytes`.
void write_parts(row_source const& rows, part_kinds const& kinds, workspace& space, std::int64_t memory_bytes,
                 cpu_exec const& exec);

/// Adds another array to the parts of the record. @throws io_error
void write_original_ids(std::span<vertex_id const> ids, workspace& space);

/// The arrays that `write_parts` wrote, mapped. `files` gets the files, whose pages can be given back.
[[nodiscard]] graph_arrays map_parts(workspace const& space, part_kinds const& kinds,
                                     std::vector<std::shared_ptr<formats::mapped_file const>>& files);

}  // namespace tendril::convert
