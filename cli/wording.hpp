// The library speaks of its parameters and functions; the shell has options.

#pragma once

#include <string>

#include "parser_fwd.hpp"

namespace tendril::cli {

/// A message of the library in the words of the verb that was parsed: "stop_prob: 2, expected …" becomes "--stop-prob: 2,
/// expected …". Names of files and of what the user quoted stay.
/// @param of_argument  The message may begin with the name of a parameter: it is not about a file.
[[nodiscard]] std::string in_shell_words(CLI::App const& application, std::string message, bool of_argument);

}  // namespace tendril::cli
