// What holds for the options of every verb, applied once to all of them.

#pragma once

#include <string>

#include "parser_fwd.hpp"

namespace tendril::cli {

/// Refuses empty values and numbers of more than 64 bits, for all options and positionals of all verbs. The parser
/// itself takes an empty value for 0 or for an option that is not given, and a number that is too large for the
/// nearest one.
void check_values(CLI::App& application);

/// Whether --help shows the option as the name of a file to read: GRAPH or FILE.
[[nodiscard]] bool is_input(CLI::Option const& option);

/// Refuses an output that is also an input: the same file by any path or link. The names that --help shows say which
/// is which: OUT is written, GRAPH and FILE are read. Call it after parsing, before a verb runs.
/// @throws argument_error.
void refuse_outputs_that_are_inputs(CLI::App const& application);

}  // namespace tendril::cli
