// The words of the command line as they were typed, before the parser reads them.

#pragma once

#include <string>
#include <vector>

#include "parser_fwd.hpp"

namespace tendril::cli {

/// The words for the parser: options go by their present names. A line on standard error tells the new name of an option
/// that was renamed, unless --quiet is among the words. Refuses a verb and an option that don't exist, with the nearest
/// name that does, and `--option=` without a value, where the parser would take the next argument.
/// @throws argument_error.
[[nodiscard]] std::vector<std::string> checked_arguments(CLI::App const& application, int argc,
                                                         char const* const* argv);

/// "graph.npz: one argument too many", of the arguments that the parser had no use for; empty if there are none.
[[nodiscard]] std::string surplus_argument(CLI::App const& application);

/// "tendril walk --help", of the verb that was parsed.
[[nodiscard]] std::string help_command(CLI::App const& application);

}  // namespace tendril::cli
