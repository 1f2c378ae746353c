#include "common.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <tendril/compress.hpp>
#include <tendril/error.hpp>
#include <tendril/gpu.hpp>
#include <tendril/mapped_graph.hpp>
#include <tendril/partition.hpp>
#include <tendril/several_gpus.hpp>
#include <tendril/threads.hpp>

#include "help.hpp"  // one_of
#include "pipes.hpp"
#include "ranks.hpp"
#include "text.hpp"

namespace tendril::cli {

void common_options::add_to(CLI::App& verb, bool with_progress)
{
  verb.add_option("--threads", threads, "Number of threads; 0: every core [0]")->type_name("T")->group("General");
  verb.get_help_ptr()->group("General");
  verb.add_flag("--json", json, "Print the summary as JSON on standard output")->group("General");
  if (with_progress) {
    verb.add_flag("--quiet", quiet, "Print errors only: no progress, no summary")->group("General");
  }
  verb.add_flag("--progress", progress, "Show progress even where standard error is no terminal")->group("General");
}

progress_shown common_options::shown() const
{
  if (quiet || !is_first_rank()) { return progress_shown::never; }
  return progress ? progress_shown::always : progress_shown::at_terminals;
}

cpu_exec common_options::exec(progress_bar& bar) const
{
  constexpr int most_threads = 1024;  // more is taken for a mistake
  if (threads < 0) { throw argument_error(fmt::format("--threads: {}, expected 0 (every core) or more", threads)); }
  if (threads > most_threads) {
    throw argument_error(fmt::format("--threads: {}, expected at most {}", threads, most_threads));
  }
  cpu_exec exec;
  exec.num_threads = threads;
  exec.on_progress = bar.callback();
  return exec;
}

int common_options::num_threads() const { return available_threads(threads); }

void graph_source::add_to(CLI::App& verb)
{
  verb.add_option("GRAPH", path,
                  "Graph file: safetensors, npz, edge list, Matrix Market, GAP, METIS or WebGraph; a folder of "
                  "'tendril partition'; -: standard input")
      ->required();
  verb.add_option("--from", format, "Format of GRAPH [auto: detected from its content and name]")->type_name("FORMAT");
  verb.add_option("--columns", columns,
                  "Meaning of the columns of an edge list: source, target, weight, label, or - (ignore)")
      ->type_name("LIST");
}

read_options graph_source::options(build_options const& build) const
{
  read_options options;
  options.format = parse_name<graph_format>("--from", format);
  options.build = build;
  if (!columns.empty()) { options.columns = split(columns); }
  return options;
}

graph graph_source::read(cpu_exec const& exec, build_options const& build) const
{
  read_options const how = options(build);
  if (!is_partition(path)) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
      throw io_error(fmt::format(
          "{}: is a directory without graph.json, expected a file or a folder of 'tendril partition'", path));
    }
    return read_graph(path, how, exec);
  }
  expect_parts();
  return read_parts_as_graph(path, exec, how.build);
}

void graph_source::expect_parts() const
{
  if (parse_name<graph_format>("--from", format) != graph_format::automatic) {
    throw argument_error(fmt::format("--from: {}, expected a file: {} is a cut graph", format, path));
  }
  if (!columns.empty()) {
    throw argument_error(fmt::format("--columns: {}, expected a file: {} is a cut graph", columns, path));
  }
}

graph graph_source::read_for(std::string const& device, cpu_exec const& exec) const
{
  graph g = read(exec);
  if (!parse_devices(device).empty()) { return g; }
  g.check(exec);
  expect_random_reads_if_large(g);
  return g;
}

void build_flags::add_to(CLI::App& verb)
{
  auto const group = "Building";
  verb.add_flag("--reverse", build.reverse, "Reverse every edge")->group(group);
  verb.add_flag("--symmetrize", build.symmetrize, "Add each edge's reverse")->group(group);
  verb.add_flag("--drop-self-loops", build.drop_self_loops, "Drop edges from a vertex to itself")->group(group);
  verb.add_flag("--drop-duplicates", build.drop_duplicates, "Keep only the first of equal edges")->group(group);
  verb.add_flag("--compact", build.compact, "Renumber the vertices that have an edge 0, 1, …; keep their original ids")
      ->group(group);
}

namespace {

std::string name_of(std::map<std::string, std::string> const& metadata, std::string const& path)
{
  auto const name = metadata.find("name");
  if (name != metadata.end() && !name->second.empty()) { return name->second; }
  std::filesystem::path const shown = shown_path(path);
  return (shown.has_filename() ? shown : shown.parent_path()).filename().string();
}

}  // namespace

graph_facts facts_of(graph const& g, std::string const& path)
{
  graph_arrays const& arrays = g.arrays();
  return {.path = shown_path(path),
          .name = name_of(arrays.metadata, path),
          .num_vertices = g.num_vertices(),
          .num_edges = g.num_edges(),
          .num_bytes = g.num_bytes(),
          .symmetric = arrays.symmetric,
          .has_weights = g.has_weights(),
          .has_edge_labels = g.has_edge_labels(),
          .has_node_types = g.has_node_types(),
          .edge_label_names = arrays.edge_label_names,
          .node_type_names = arrays.node_type_names};
}

graph_facts facts_of(partition_info const& cut, std::string const& path)
{
  return {.path = shown_path(path),
          .name = name_of(cut.metadata, path),
          .num_vertices = cut.num_vertices,
          .num_edges = cut.num_edges,
          .num_bytes = file_bytes(path),
          .symmetric = cut.symmetric,
          .has_weights = cut.has_weights,
          .has_edge_labels = cut.bytes_per_edge_label > 0,
          .has_node_types = cut.bytes_per_node_type > 0,
          .edge_label_names = cut.edge_label_names,
          .node_type_names = cut.node_type_names};
}

std::string describe(graph_facts const& facts)
{
  std::string text = fmt::format("{}: {}, {}", facts.name, counted(facts.num_vertices, "vertex", "vertices"),
                                 counted(facts.num_edges, "edge", "edges"));
  if (facts.symmetric) { text += ", symmetric"; }
  if (facts.has_weights) { text += ", weights"; }
  if (facts.has_edge_labels) { text += ", edge labels"; }
  if (facts.has_node_types) { text += ", vertex types"; }
  return text;
}

json describe_json(graph_facts const& facts)
{
  return {{"path", facts.path},
          {"name", facts.name},
          {"num_vertices", facts.num_vertices},
          {"num_edges", facts.num_edges},
          {"symmetric", facts.symmetric},
          {"weights", facts.has_weights},
          {"edge_labels", facts.has_edge_labels},
          {"node_types", facts.has_node_types},
          {"bytes", facts.num_bytes}};
}

json plan_json(sampling_plan const& plan)
{
  return {{"rule", to_string(plan.rule)},
          {"layout", to_string(plan.layout)},
          {"grouped_by_label", plan.grouped_by_label},
          {"table_bytes", plan.table_bytes},
          {"table_bytes_built", plan.table_bytes_built},
          {"table_bytes_refused", plan.table_bytes_refused},
          {"weight_sums", plan.weight_sums},
          {"expected_trials", plan.expected_trials},
          {"reasons", plan.reasons}};
}

void add_table_bytes(CLI::App& verb, std::string& bytes, std::string_view of)
{
  verb.add_option("--table-bytes", bytes,
                  fmt::format("{}Most bytes of tables, as in 2G, or 0 [compressed graph: what compression saved; "
                              "otherwise: what memory allows]",
                              of))
      ->type_name("BYTES");
}

table_limit parse_table_bytes(std::string const& bytes)
{
  if (bytes.empty()) { return {}; }
  return bytes == "0" ? 0 : parse_bytes(bytes, "--table-bytes");
}

std::int64_t file_bytes(std::string const& path)
{
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) {
    std::int64_t sum = 0;
    for (auto const& file : std::filesystem::directory_iterator(path, failure)) {
      sum += file_bytes(file.path().string());
    }
    return sum;
  }
  auto const size = std::filesystem::file_size(path, failure);
  return failure ? 0 : static_cast<std::int64_t>(size);
}

void add_compress(CLI::App& verb, std::string& form, std::string_view where, std::string_view rest)
{
  verb.add_option("--compress", form,
                  fmt::format("Form of the neighbours {}: auto (the smallest that reads fast), packed (the quickest), "
                              "runs, ef, vbyte, or none{}",
                              where, rest))
      ->check(one_of({"auto", "packed", "runs", "ef", "vbyte", "none", "csr"}))
      ->type_name("FORM");
}

graph_form form_of(std::string const& form)
{
  return form == "none" ? graph_form::csr : parse_name<graph_form>("--compress", form);
}

graph_form parse_form(std::string const& form, std::string const& output, graph_format format)
{
  graph_form const chosen = form_of(form);
  bool const is_native =
      format == graph_format::safetensors || (format == graph_format::automatic && output.ends_with(".safetensors"));
  if (chosen != graph_form::csr && !is_native) {
    throw argument_error(
        fmt::format("--compress: compressed neighbours in {}, expected a .safetensors file as OUT", output));
  }
  return chosen;
}

namespace {

/// The GPU's ordinal; -1 for what is none.
int parse_ordinal(std::string_view text)
{
  int ordinal = -1;
  auto const [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), ordinal);
  return failure == std::errc{} && stop == text.data() + text.size() ? ordinal : -1;
}

}  // namespace

gpu_set parse_devices(std::string const& device)
{
  constexpr std::string_view cuda = "cuda", several = "cuda:";
  if (device == "cpu") { return {}; }
  if (device == cuda) { return gpu_set(rank_on_this_machine() % std::max(num_gpus(), 1)); }
  if (device == "cuda:all") { return all_gpus(); }
  std::vector<int> ordinals;
  if (device.starts_with(several)) {
    for (auto const& ordinal : split(std::string_view(device).substr(several.size()))) {
      ordinals.push_back(parse_ordinal(ordinal));
    }
  }
  if (ordinals.empty() || *std::min_element(ordinals.begin(), ordinals.end()) < 0) {
    throw argument_error(
        fmt::format("--device: '{}', expected cpu, cuda, cuda:N, cuda:N,M for several GPUs, or cuda:all", device));
  }
  try {
    return gpu_set(ordinals);
  } catch (argument_error const& failure) {
    throw argument_error(fmt::format("--device: {}", failure.what()));
  }
}

std::optional<int> parse_device(std::string const& device)
{
  gpu_set const gpus = parse_devices(device);
  if (gpus.empty()) { return std::nullopt; }
  if (gpus.size() > 1) {
    throw argument_error(fmt::format("--device: {} GPUs, expected one: only walk and sample use several", gpus.size()));
  }
  return gpus[0];
}

std::string describe_gpus(gpu_set const& gpus)
{
  std::vector<std::string> names;
  for (int const gpu : gpus) { names.push_back(describe_gpu(gpu).name); }
  if (names.size() < 2) { return names.empty() ? std::string() : names[0]; }
  bool const alike = std::count(names.begin(), names.end(), names[0]) == std::ssize(names);
  return alike ? fmt::format("{} x {}", names.size(), names[0]) : fmt::format("{}", fmt::join(names, ", "));
}

void expect_app(bool given, std::string_view option, std::string_view needed, std::string const& app)
{
  if (given && app != needed) {
    throw argument_error(fmt::format("{}: --app is {}, expected {}", option, app, needed));
  }
}

std::string time_line(std::vector<part_time> const& parts)
{
  std::string text = "time   ";
  for (auto const& [part, seconds] : parts) {
    text += fmt::format("{}{} {}", &part == &parts.front().part ? " " : ", ", part, duration(seconds));
  }
  return text + "\n";
}

void print(std::string const& line) { std::fputs((line + '\n').c_str(), stdout); }

void print(json const& document)
{
  print(document.dump(2, ' ', false, json::error_handler_t::replace));  // names of files that are not UTF-8
}

}  // namespace tendril::cli
