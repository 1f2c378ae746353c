// tendril partition: a graph cut into parts, for ranks that each hold one.

#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <tendril/file.hpp>
#include <tendril/partition.hpp>

#include "common.hpp"
#include "help.hpp"
#include "parts.hpp"
#include "pipes.hpp"
#include "text.hpp"
#include "verbs.hpp"

namespace tendril::cli {
namespace {

struct partition_command {
  graph_source source;
  common_options common;
  std::string output;
  std::int64_t num_parts = 0;
  std::string method{to_string(partition_params{}.method)}, form;

  void run() const;
};

void partition_command::run() const
{
  stopwatch const overall;
  partition_params params{num_parts, parse_name<partition_method>("--method", method)};
  if (!form.empty()) { params.form = form_of(form); }
  atomic_folder::expect_free(output);  // before the graph is read
  progress_bar bar(common.shown());
  cpu_exec const exec = common.exec(bar);
  graph const g = source.read(exec);
  double const read_seconds = overall.seconds();
  partition_info const info = partition_graph(g, output, params, exec);
  bar.clear();
  double const seconds = overall.seconds();
  if (common.json) {
    json document{{"graph", describe_json(g, source.path)}};
    document.update(parts_json(info, output));
    document["output"] = output;
    document["output_bytes"] = file_bytes(output);
    document["threads"] = common.num_threads();
    document["read_seconds"] = read_seconds;
    document["seconds"] = seconds;
    document["peak_memory_bytes"] = peak_memory();
    document["version"] = TENDRIL_VERSION;
    print(document);
  } else if (!common.quiet) {
    print(fmt::format("graph   {}\ncut     {}\n{}output  {} ({})\ntotal   {}, {} of memory at most",
                      describe(g, source.path), describe_parts(info), part_lines(info, output), output,
                      bytes_text(file_bytes(output)), duration(seconds), bytes_text(peak_memory())));
  }
}

}  // namespace

void add_partition(CLI::App& application)
{
  auto command = std::make_shared<partition_command>();
  CLI::App* const verb = application.add_subcommand("partition", "Cut a graph into parts for several machines");
  command->source.add_to(*verb);
  verb->add_option("-o,--output", command->output, "Folder for the parts: a new or an empty one")
      ->required()
      ->type_name("OUT");
  verb->add_option("--parts", command->num_parts, fmt::format("Number of parts, from 1 to {}", max_num_parts))
      ->required()
      ->check(natural())
      ->type_name("N");
  verb->add_option("--method", command->method,
                   "Equal numbers of vertices (range), equal numbers of edges (degree), or few edges between the parts "
                   "(metis: renumbers the vertices) [degree]")
      ->check(one_of_names<partition_method>())
      ->type_name("METHOD");
  add_compress(*verb, command->form, "in the parts", " [as in GRAPH]");
  command->common.add_to(*verb);
  verb->footer(
      "Every verb reads the folder as the whole graph. With range and degree it is the same graph; with metis it has\n"
      "other numbers of vertices, so samples differ, and original ids tell the old ones.\n"
      "\n"
      "Examples:\n"
      "  tendril partition graph.safetensors -o parts --parts 8\n"
      "  tendril partition graph.safetensors -o parts --parts 8 --method metis\n"
      "  tendril partition graph.safetensors -o parts --parts 8 --compress auto\n"
      "  tendril info parts");
  verb->callback([command] { command->run(); });
}

}  // namespace tendril::cli
