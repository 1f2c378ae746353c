// Edge arrays in the form that the result's form asks for, by way of files of the workspace: the arrays of a compressed
// graph in fewer bits, where that takes fewer bytes; those of a CSR as they are.

#pragma once

#include <memory>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

#include "convert/workspace.hpp"
#include "formats/mapped_file.hpp"

namespace tendril::convert {

/// Puts the edge arrays of `arrays` into the form of a graph that is compressed, or not. `files` gets the files that they
/// are mapped from then. @throws io_error
void fit_edges(graph_arrays& arrays, workspace const& space,
               std::vector<std::shared_ptr<formats::mapped_file const>>& files, cpu_exec const& exec);

}  // namespace tendril::convert
