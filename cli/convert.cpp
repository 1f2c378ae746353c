// tendril convert: reads a graph in any format, builds it again where asked, writes it in another.

#include <memory>
#include <optional>

#include <fmt/format.h>

#include <tendril/compress.hpp>
#include <tendril/error.hpp>
#include <tendril/renumber.hpp>

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
  std::string output, to = "auto", form, order;
  std::uint64_t seed = 0;
  CLI::Option* seed_given = nullptr;

  /// The form that --compress names; nothing without it. @throws argument_error if the output can't hold it.
  [[nodiscard]] std::optional<graph_form> chosen_form(graph_format format) const;

  /// What --order and --seed say; nothing without --order. @throws argument_error for a seed that nothing draws from.
  [[nodiscard]] std::optional<order_params> chosen_order() const;

  void run() const;
};

std::optional<graph_form> convert_command::chosen_form(graph_format format) const
{
  if (form.empty()) { return std::nullopt; }
  return parse_form(form, output, format);
}

std::optional<order_params> convert_command::chosen_order() const
{
  if (seed_given->count() > 0 && order != to_string(vertex_order::llp)) {
    throw argument_error(fmt::format("--seed: {}, expected --order llp with it", seed));
  }
  if (order.empty()) { return std::nullopt; }
  return order_params{parse_name<vertex_order>("--order", order), seed};
}

void convert_command::run() const
{
  stopwatch const overall;
  write_options options;
  options.format = parse_name<graph_format>("--to", to);
  auto const chosen = chosen_form(options.format);
  auto const numbering = chosen_order();
  progress_bar bar(!common.quiet);
  cpu_exec const exec = common.exec(bar);
  graph g = source.read(exec, building.build);
  if (numbering) { g = renumber(g, *numbering, exec); }
  if (chosen) { g = compress(g, *chosen, exec); }
  double const read_seconds = overall.seconds();
  write_graph(g, output, options, exec);
  bar.clear();
  double const seconds = overall.seconds();
  if (common.json) {
    print(json{{"input", source.path},
               {"input_bytes", file_bytes(source.path)},
               {"graph", describe_json(g, output)},
               {"order", order.empty() ? json() : json(order)},
               {"form", to_string(g.form())},
               {"bits_per_edge", g.bits_per_edge()},
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
  verb->add_option(
          "--compress", command->form,
          "Form of the neighbours in a native OUT: auto (the smallest that reads fast), packed (the quickest), "
          "runs, ef, vbyte, or none [as in GRAPH; none after a building step]")
      ->check(one_of({"auto", "packed", "runs", "ef", "vbyte", "none", "csr"}))
      ->type_name("FORM");
  command->building.add_to(*verb);
  verb->add_option("--num-vertices", command->building.build.num_vertices,
                   "Number of vertices of an edge list [largest id + 1]")
      ->check(natural())
      ->type_name("N")
      ->group("Building");
  verb->add_flag("--edge-ids", command->building.build.keep_edge_ids, "Store the position of each edge in GRAPH")
      ->group("Building");
  verb->add_option("--order", command->order,
                   "Number the vertices by falling degree, breadth first (bfs), by reverse Cuthill-McKee (rcm) or by "
                   "layered label propagation (llp); keep their original ids [as they are]")
      ->check(one_of({"degree", "bfs", "rcm", "llp"}))
      ->type_name("ORDER")
      ->group("Building");
  command->seed_given = verb->add_option("--seed", command->seed, "Seed of --order llp [0]")
                            ->check(natural())
                            ->type_name("S")
                            ->group("Building");
  command->common.add_to(*verb);
  verb->footer(
      "Formats: safetensors (native, opened by mmap), edge-list, matrix-market, npz, gap, metis, webgraph (read "
      "only).\n"
      "Building steps run in this order: reverse, symmetrize, no-self-loops, dedup, compact, order.\n"
      "Compressed neighbours take fewer bits; every verb reads them, and samples don't depend on the form.\n"
      "Another order makes another graph: samples depend on the numbers of vertices.\n"
      "\n"
      "Examples:\n"
      "  tendril convert soc-LiveJournal1.txt.gz lj.safetensors --symmetrize --dedup\n"
      "  tendril convert ratings.csv graph.npz --columns source,target,weight,-\n"
      "  tendril convert uk-2007-05.graph uk.safetensors --reverse\n"
      "  tendril convert lj.safetensors lj-small.safetensors --compress auto\n"
      "  tendril convert lj.safetensors lj-rcm.safetensors --order rcm --compress auto\n"
      "  tendril convert graph.safetensors graph.txt --to edge-list");
  verb->callback([command] { command->run(); });
}

}  // namespace tendril::cli
