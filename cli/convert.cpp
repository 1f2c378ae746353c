// tendril convert: reads a graph in any format, builds it again where asked, writes it in another.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include <tendril/compress.hpp>
#include <tendril/convert.hpp>
#include <tendril/error.hpp>
#include <tendril/partition.hpp>
#include <tendril/renumber.hpp>

#include "common.hpp"
#include "help.hpp"
#include "pipes.hpp"
#include "text.hpp"
#include "verbs.hpp"

namespace tendril::cli {
namespace {

/// What was written.
struct conversion {
  graph result;
  double read_seconds = 0;  ///< Of a whole graph, until it was in memory as it is written.
  convert_result runs;      ///< In bounded memory.
};

struct convert_command {
  graph_source source;
  build_flags building;
  common_options common;
  std::string output, to = "auto", form, order, memory;
  bool restart = false;
  std::uint64_t seed = 0;
  CLI::Option* seed_given = nullptr;

  /// The form that --compress names; nothing without it. @throws argument_error if the output can't hold it.
  [[nodiscard]] std::optional<graph_form> chosen_form(graph_format format) const;

  /// What --order and --seed say; nothing without --order. @throws argument_error for a seed that nothing draws from.
  [[nodiscard]] std::optional<order_params> chosen_order() const;

  /// Whether the conversion is to take bounded memory, and how much: what --memory says, or half of what is free where
  /// the whole graph would not fit. @throws argument_error for what can't be done in bounded memory.
  [[nodiscard]] std::optional<std::int64_t> bounded_memory(graph_format to_format) const;

  [[nodiscard]] conversion convert_whole(std::optional<graph_form> chosen, std::optional<order_params> const& numbering,
                                         write_options const& options, cpu_exec const& exec) const;
  [[nodiscard]] conversion convert_bounded(std::optional<graph_form> chosen, std::int64_t bytes,
                                           cpu_exec const& exec) const;

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

std::optional<std::int64_t> convert_command::bounded_memory(graph_format to_format) const
{
  bool const is_native = to_format == graph_format::safetensors ||
                         (to_format == graph_format::automatic && output.ends_with(".safetensors"));
  bool const is_cut = is_partition(source.path);
  if (!memory.empty()) {
    if (is_cut) { throw argument_error(fmt::format("--memory: expected a file: {} is a cut graph", source.path)); }
    std::int64_t const bytes = parse_bytes(memory, "--memory");
    if (!order.empty()) {
      throw argument_error(fmt::format("--memory: not with --order {}, which needs the whole graph in memory", order));
    }
    if (!is_native) { throw argument_error(fmt::format("--memory: OUT is {}, expected a .safetensors file", output)); }
    return bytes;
  }
  if (restart) { throw argument_error("--restart: expected --memory with it"); }
  if (!order.empty() || !is_native || is_cut) { return std::nullopt; }
  read_options const reading = source.options(building.build);
  auto const format = reading.format == graph_format::automatic ? detect_graph_format(source.path) : reading.format;
  if (!converts_in_bounded_memory(format)) { return std::nullopt; }
  std::int64_t const needed = estimate_graph_memory(source.path, reading), free = available_memory();
  if (needed <= free) { return std::nullopt; }
  if (!common.quiet) {
    std::fputs(fmt::format("tendril: {} would take some {} in memory, and {} are free: converting in bounded memory "
                           "(--memory sets how much)\n",
                           shown_path(source.path), bytes_text(needed), bytes_text(free))
                   .c_str(),
               stderr);
  }
  return std::max(free / 2, std::int64_t{1} << 26U);
}

conversion convert_command::convert_whole(std::optional<graph_form> chosen,
                                          std::optional<order_params> const& numbering, write_options const& options,
                                          cpu_exec const& exec) const
{
  stopwatch const reading;
  conversion out;
  out.result = source.read(exec, building.build);
  if (numbering) { out.result = renumber(out.result, *numbering, exec); }
  if (chosen) { out.result = compress(out.result, *chosen, exec); }
  out.read_seconds = reading.seconds();
  write_graph(out.result, output, options, exec);
  return out;
}

conversion convert_command::convert_bounded(std::optional<graph_form> chosen, std::int64_t bytes,
                                            cpu_exec const& exec) const
{
  convert_options options;
  options.read = source.options(building.build);
  options.form = chosen;
  options.memory_bytes = bytes;
  options.restart = restart;
  conversion out;
  out.runs = convert_graph(source.path, output, options, exec);
  out.result = read_graph(output);
  return out;
}

void convert_command::run() const
{
  stopwatch const overall;
  write_options options;
  options.format = parse_name<graph_format>("--to", to);
  auto const chosen = chosen_form(options.format);
  auto const numbering = chosen_order();
  auto const bytes = bounded_memory(options.format);
  progress_bar bar(common.shown());
  cpu_exec const exec = common.exec(bar);
  conversion const done =
      bytes ? convert_bounded(chosen, *bytes, exec) : convert_whole(chosen, numbering, options, exec);
  graph const& g = done.result;
  bar.clear();
  double const seconds = overall.seconds();
  if (common.json) {
    json document{{"input", shown_path(source.path)},
                  {"input_bytes", file_bytes(source.path)},
                  {"graph", describe_json(g, output)},
                  {"order", order.empty() ? json() : json(order)},
                  {"form", to_string(g.form())},
                  {"bits_per_edge", g.bits_per_edge()},
                  {"output", output},
                  {"output_bytes", file_bytes(output)},
                  {"threads", common.num_threads()}};
    if (bytes) {
      document["memory_bytes"] = *bytes;
      document["runs"] = done.runs.num_runs;
      document["resumed_runs"] = done.runs.num_resumed_runs;
    } else {
      document["read_seconds"] = done.read_seconds;
    }
    document["seconds"] = seconds;
    document["peak_memory_bytes"] = peak_memory();
    document["version"] = TENDRIL_VERSION;
    print(document);
  } else if (!common.quiet) {
    std::string const input = fmt::format("{} ({})", shown_path(source.path), bytes_text(file_bytes(source.path)));
    std::string const out = fmt::format("{} ({})", output, bytes_text(file_bytes(output)));
    std::string const resumed =
        done.runs.num_resumed_runs > 0 ? fmt::format(", {} of an earlier call", done.runs.num_resumed_runs) : "";
    std::string const files =
        bytes ? fmt::format("input   {}, {}{}\noutput  {} in {}", input,
                            counted(done.runs.num_runs, "sorted run", "sorted runs"), resumed, out, duration(seconds))
              : fmt::format("input   {} in {}\noutput  {} in {}", input, duration(done.read_seconds), out,
                            duration(seconds - done.read_seconds));
    print(fmt::format("graph   {}\n{}\nmemory  {} at most", describe(g, output), files, bytes_text(peak_memory())));
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
  add_compress(*verb, command->form, "in a native OUT", " [as in GRAPH; none after a building step]");
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
  verb->add_option(
          "--memory", command->memory,
          "Convert in bounded memory, as 500M or 4G, through temporary files beside OUT [whole graphs where they "
          "fit into free memory]")
      ->type_name("SIZE")
      ->group("Bounded memory");
  verb->add_flag("--restart", command->restart, "Don't go on with a conversion that ended early")
      ->group("Bounded memory");
  command->common.add_to(*verb);
  verb->footer(
      "Formats: safetensors (native, opened by mmap), edge-list, matrix-market, npz, gap, metis; to be read also "
      "webgraph,\ncoo32 and coo64 (pairs of binary numbers), npy (an array of edges).\n"
      "Building steps run in this order: reverse, symmetrize, drop-self-loops, drop-duplicates, compact, order.\n"
      "Compressed neighbours take fewer bits; every verb reads them, and samples don't depend on the form.\n"
      "Another order makes another graph: samples depend on the numbers of vertices.\n"
      "With --memory GRAPH is an edge list, a Matrix Market, WebGraph, COO or native file of any size, OUT is native, "
      "and\n"
      "the same command goes on where a run of it ended early. The bytes of OUT don't depend on it.\n"
      "\n"
      "Examples:\n"
      "  tendril convert soc-LiveJournal1.txt.gz lj.safetensors --symmetrize --drop-duplicates\n"
      "  tendril convert ratings.csv graph.npz --columns source,target,weight,-\n"
      "  tendril convert uk-2007-05.graph uk.safetensors --reverse\n"
      "  tendril convert edge_index.npy graph.safetensors --symmetrize\n"
      "  tendril convert lj.safetensors lj-small.safetensors --compress auto\n"
      "  tendril convert lj.safetensors lj-rcm.safetensors --order rcm --compress auto\n"
      "  tendril convert graph.safetensors graph.txt --to edge-list\n"
      "  tendril convert clueweb12.txt.gz clueweb12.safetensors --compress auto --memory 8G");
  verb->callback([command] { command->run(); });
}

}  // namespace tendril::cli
