// The verbs of the command line. Each function adds its subcommand, options and callback to the application.

#pragma once

#include "parser_fwd.hpp"

namespace tendril::cli {

void add_info(CLI::App& application);
void add_convert(CLI::App& application);
void add_generate(CLI::App& application);
void add_walk(CLI::App& application);
void add_join(CLI::App& application);
void add_sample(CLI::App& application);
void add_plan(CLI::App& application);
void add_partition(CLI::App& application);

}  // namespace tendril::cli
