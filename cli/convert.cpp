// tendril convert: reads a graph in any format, builds it again where asked, writes it in another.

#include <memory>

#include <fmt/format.h>

#include "common.hpp"
#include "help.hpp"
#include "text.hpp"
#include "verbs.hpp"

namespace tendril::cli {
namespace {

struct convert_command {
  graph_source source;
  build_flags building;
  common_options common;
  std::string output, to = "auto";

  void run() const;
};

void convert_command::run() const
{
  stopwatch const overall;
  write_options options;
  options.format = parse_name<graph_format>("--to", to);
  progress_bar bar(!common.quiet);
  cpu_exec const exec = common.exec(bar);
  graph const g = source.read(exec, building.build);
  double const read_seconds = overall.seconds();
  write_graph(g, output, options, exec);
  bar.clear();
  double const seconds = overall.seconds();
  if (common.json) {
    print(json{{"input", source.path},
               {"input_bytes", file_bytes(source.path)},
               {"graph", describe_json(g, output)},
               {"output", output},
               {"output_bytes", file_bytes(output)},
               {"threads", common.num_threads()},
               {"read_seconds", read_seconds},
               {"seconds", seconds},
               {"peak_memory_bytes", peak_memory()},
               {"version", TENDRIL_VERSION}});
  } else if (!common.quiet) {
    print(fmt::format("graph   {}\ninput   {} ({}) in {}\noutput  {} ({}) in {}\nmemory  {} at most",
                      describe(g, output), source.path, bytes_text(file_bytes(source.path)), duration(read_seconds),
                      output, bytes_text(file_bytes(output)), duration(seconds - read_seconds),
                      bytes_text(peak_memory())));
  }
}

}  // namespace

void add_convert(CLI::App& application)
{
  auto command = std::make_shared<convert_command>();
  CLI::App* const verb = application.add_subcommand("convert", "Read a graph in one format and write it in another");
  command->source.add_to(*verb);
  verb->add_option("OUT", command->output, "Output file; its extension selects the format")->required();
  verb->add_option("--to", command->to, "Format of OUT [auto: by its extension]")->type_name("FORMAT");
  command->building.add_to(*verb);
  verb->add_option("--num-vertices", command->building.build.num_vertices,
                   "Number of vertices of an edge list [largest id + 1]")
      ->check(natural())
      ->type_name("N")
      ->group("Building");
  verb->add_flag("--edge-ids", command->building.build.keep_edge_ids, "Store the position of each edge in GRAPH")
      ->group("Building");
  command->common.add_to(*verb);
  verb->footer(
      "Formats: safetensors (native, opened by mmap), edge-list, matrix-market, npz, gap, metis, webgraph (read "
      "only).\n"
      "Building steps run in this order: reverse, symmetrize, no-self-loops, dedup, compact.\n"
      "\n"
      "Examples:\n"
      "  tendril convert soc-LiveJournal1.txt.gz lj.safetensors --symmetrize --dedup\n"
      "  tendril convert ratings.csv graph.npz --columns source,target,weight,-\n"
      "  tendril convert uk-2007-05.graph uk.safetensors --reverse\n"
      "  tendril convert graph.safetensors graph.txt --to edge-list");
  verb->callback([command] { command->run(); });
}

}  // namespace tendril::cli
