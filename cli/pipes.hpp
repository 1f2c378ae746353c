// Inputs that can be read only once, and from front to back: standard input, named "-", and pipes.

#pragma once

#include <string>

#include "parser_fwd.hpp"

namespace tendril::cli {

/// Copies every input of the verb that was parsed (GRAPH and FILE in its help) that is "-" or a pipe into an unnamed
/// file in $TMPDIR, or /tmp, and lets the option name that file: readers map files, and open some twice. Standard input
/// that comes from a file is that file. Call it before the verb runs.
/// @throws argument_error if two inputs are "-"; io_error.
void keep_piped_inputs(CLI::App const& application);

/// The path as the user knows it: "standard input" for a file that keeps it.
[[nodiscard]] std::string shown_path(std::string const& path);

/// The same for paths anywhere in a message.
[[nodiscard]] std::string with_shown_paths(std::string message);

}  // namespace tendril::cli
