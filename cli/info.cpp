// tendril info: what a graph file holds.

#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <tendril/compress.hpp>
#include <tendril/file.hpp>
#include <tendril/partition.hpp>

#include "common.hpp"
#include "graph_page.hpp"
#include "graph_sizes.hpp"
#include "graph_stats.hpp"
#include "parts.hpp"
#include "pipes.hpp"
#include "text.hpp"
#include "verbs.hpp"

namespace tendril::cli {
namespace {

constexpr std::size_t labels_shown = 12;

struct info_command {
  graph_source source;
  common_options common;
  bool validate = false;
  bool forms = false;
  std::string html, gpu_memory;

  void run() const;
  [[nodiscard]] std::optional<graph_sizes> sizes_of(graph const& g, cpu_exec const& exec) const;
};

std::string label_name(std::vector<std::string> const& names, std::size_t label)
{
  return label < names.size() ? names[label] : std::to_string(label);
}

/// "label  count" lines for people, most of them left out where there are many.
std::string label_lines(char const* title, std::vector<std::int64_t> const& counts,
                        std::vector<std::string> const& names)
{
  std::string text =
      fmt::format("{:<17} {}\n", title, counted(static_cast<std::int64_t>(counts.size()), "value", "values"));
  for (std::size_t i = 0; i < std::min(counts.size(), labels_shown); ++i) {
    text += fmt::format("  {:<15} {}\n", label_name(names, i), grouped(counts[i]));
  }
  if (counts.size() > labels_shown) { text += fmt::format("  and {} more\n", counts.size() - labels_shown); }
  return text;
}

json label_json(std::vector<std::int64_t> const& counts, std::vector<std::string> const& names)
{
  json list = json::array();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    json entry{{"id", i}, {"count", counts[i]}};
    if (i < names.size()) { entry["name"] = names[i]; }
    list.push_back(std::move(entry));
  }
  return list;
}

/// The codes that lists of the graph's form can have.
std::vector<std::pair<std::string_view, code_share>> codes_of(graph const& g, list_statistics const& lists)
{
  auto const codes = lists.codes();
  auto const compressed = std::next(codes.begin());  // the first is CSR
  return g.form() == graph_form::csr ? std::vector(codes.begin(), compressed) : std::vector(compressed, codes.end());
}

double ratio(std::int64_t bits, std::int64_t of)
{
  return of == 0 ? 0 : static_cast<double>(bits) / static_cast<double>(of);
}

void add_forms(json& document, graph const& g, list_statistics const& lists)
{
  json& forms = document["forms"] = json::object();
  for (auto const& [name, share] : codes_of(g, lists)) {
    forms[std::string(name)] = {
        {"lists", share.num_lists}, {"edges", share.num_edges}, {"bits_per_edge", share.bits_per_edge()}};
  }
  if (g.form() == graph_form::csr) { return; }
  document["directory_bits_per_vertex"] = ratio(lists.directory_bits, g.num_vertices());
  document["csr_bits_per_edge"] = ratio(lists.csr_bits, g.num_edges());
}

/// How the edge arrays of a compressed graph are stored.
void add_edge_arrays(json& document, graph const& g)
{
  for (edge_array_size const& size : edge_array_sizes(g)) {
    document["edge_arrays"][std::string(size.name)] = {{"form", size.form}, {"bits_per_edge", size.bits_per_edge}};
  }
}

/// Lines about a compressed graph for people.
std::string form_lines(graph const& g, list_statistics const& lists)
{
  std::string text;
  if (g.form() == graph_form::csr) { return text; }
  for (auto const& [name, share] : codes_of(g, lists)) {
    if (share.num_lists == 0) { continue; }
    text += fmt::format("  {:<15} {}, {}, {:.1f} bits each\n", name, counted(share.num_lists, "list", "lists"),
                        counted(share.num_edges, "edge", "edges"), share.bits_per_edge());
  }
  text += fmt::format("  {:<15} {:.1f} bits a vertex\n", "directory", ratio(lists.directory_bits, g.num_vertices()));
  text += fmt::format("  {:<15} {:.1f} bits an edge\n", "as csr", ratio(lists.csr_bits, g.num_edges()));
  for (edge_array_size const& size : edge_array_sizes(g)) {
    text += fmt::format("  {:<15} {}, {:.1f} bits an edge\n", size.name, size.form, size.bits_per_edge);
  }
  return text;
}

void add_sizes(json& document, graph_sizes const& sizes)
{
  json& of_forms = document["sizes"] = json::object();
  for (form_size const& size : sizes.profile.sizes) {
    of_forms[std::string(to_string(size.form))] = {{"bytes", size.bytes()},
                                                   {"directory_bytes", size.directory_bytes},
                                                   {"bits_per_edge", sizes.bits_per_edge(size)}};
  }
  document["other_bytes"] = sizes.other_bytes;
  document["gaps"] = sizes.profile.gaps;
  json& classes = document["degree_classes"] = json::array();
  for (degree_class const& c : sizes.profile.degrees) {
    json entry{{"first", c.first}, {"last", c.last}, {"vertices", c.num_vertices}, {"edges", c.num_edges}};
    for (std::size_t f = 0; f < num_graph_forms; ++f) {
      entry["list_bits"][std::string(to_string(sizes.profile.sizes[f].form))] = c.list_bits[f];
    }
    classes.push_back(std::move(entry));
  }
  if (!sizes.gpu_memory) { return; }
  gpu_part const part = part_on_gpu(sizes, *sizes.gpu_memory);
  document["gpu"] = {{"memory", *sizes.gpu_memory},         {"form", to_string(sizes.profile.placed_form)},
                     {"has_directory", part.has_directory}, {"lists", part.lists},
                     {"walk_reads", part.walk_reads},       {"minibatch_reads", part.batch_reads}};
}

json to_json(graph const& g, graph_stats const& stats, list_statistics const& lists, std::string const& path,
             std::string const& format)
{
  json document = describe_json(g, path);
  document["format"] = format;
  document["file_bytes"] = file_bytes(path);
  document["form"] = to_string(g.form());
  document["bits_per_edge"] = g.bits_per_edge();
  add_forms(document, g, lists);
  add_edge_arrays(document, g);
  json percentiles = json::object();
  for (std::size_t i = 0; i < stats.degree_percentiles.size(); ++i) {
    percentiles[fmt::format("p{}", graph_stats::percents[i])] = stats.degree_percentiles[i];
  }
  document["degree"] = {
      {"min", stats.min_degree}, {"mean", stats.mean_degree}, {"max", stats.max_degree}, {"percentiles", percentiles}};
  document["dead_ends"] = stats.dead_ends;
  document["isolated"] = stats.isolated;
  document["self_loops"] = stats.self_loops;
  document["parallel_edges"] = stats.parallel_edges;
  if (g.has_weights()) {
    document["weight"] = {{"min", stats.min_weight}, {"max", stats.max_weight}, {"sum", stats.sum_weights}};
  }
  if (g.has_edge_labels()) { document["labels"] = label_json(stats.edges_of_label, g.arrays().edge_label_names); }
  if (g.has_node_types()) { document["types"] = label_json(stats.vertices_of_type, g.arrays().node_type_names); }
  document["edge_ids"] = g.has_edge_ids();
  document["original_ids"] = !g.arrays().original_ids.empty();
  document["metadata"] = g.arrays().metadata;
  return document;
}

std::string to_text(graph const& g, graph_stats const& stats, list_statistics const& lists, std::string const& path,
                    std::string const& format)
{
  auto const& a = g.arrays();
  std::string text;
  auto const line = [&](char const* title, std::string const& value) {
    text += fmt::format("{:<17} {}\n", title, value);
  };
  line("graph", graph_name(g, path));
  line("file", fmt::format("{}, {}, {}", shown_path(path), format, bytes_text(file_bytes(path))));
  line("vertices", grouped(g.num_vertices()));
  line("edges", fmt::format("{}{}", grouped(g.num_edges()), a.symmetric ? ", every one in both directions" : ""));
  line("form", fmt::format("{}, {:.1f} bits an edge", to_string(g.form()), g.bits_per_edge()));
  text += form_lines(g, lists);
  line("degree", fmt::format("{:.2f} on average, from {} to {}", stats.mean_degree, grouped(stats.min_degree),
                             grouped(stats.max_degree)));
  std::string percentiles;
  for (std::size_t i = 0; i < stats.degree_percentiles.size(); ++i) {
    percentiles +=
        fmt::format("{}{}% {}", i == 0 ? "" : "   ", graph_stats::percents[i], grouped(stats.degree_percentiles[i]));
  }
  line("  percentiles", percentiles);
  line("dead ends",
       fmt::format("{}, {} of them isolated", counted(stats.dead_ends, "vertex", "vertices"), grouped(stats.isolated)));
  line("self loops", grouped(stats.self_loops));
  line("parallel edges", grouped(stats.parallel_edges));
  if (g.has_weights()) {
    line("weights", fmt::format("from {} to {}, {:.6g} on average", stats.min_weight, stats.max_weight,
                                stats.sum_weights / static_cast<double>(std::max<std::int64_t>(g.num_edges(), 1))));
  } else {
    line("weights", "none");
  }
  if (g.has_edge_labels()) { text += label_lines("edge labels", stats.edges_of_label, a.edge_label_names); }
  if (g.has_node_types()) { text += label_lines("vertex types", stats.vertices_of_type, a.node_type_names); }
  if (g.has_edge_ids()) { line("edge ids", "of the input, kept"); }
  if (!a.original_ids.empty()) { line("original ids", "kept: vertices were numbered anew"); }
  line("in memory", bytes_text(g.num_bytes()));
  return text;
}

std::optional<graph_sizes> info_command::sizes_of(graph const& g, cpu_exec const& exec) const
{
  if (!forms && html.empty() && gpu_memory.empty()) { return {}; }
  std::optional<std::int64_t> memory;
  if (!gpu_memory.empty()) { memory = parse_bytes(gpu_memory, "--graph-memory"); }
  return measure_sizes(g, memory, exec);
}

void write_page(std::string const& path, std::string const& page)
{
  atomic_file file(path);
  file.write(page.data(), page.size());
  file.commit();
}

void info_command::run() const
{
  if (html == "-") { throw argument_error("--html: '-', expected the name of a file"); }
  if (!gpu_memory.empty()) { (void)parse_bytes(gpu_memory, "--graph-memory"); }  // before anything is read
  progress_bar bar(common.shown());
  cpu_exec const exec = common.exec(bar);
  graph const g = source.read(exec);
  bool const is_cut = is_partition(source.path);
  std::string const format(is_cut                    ? "partition"
                           : source.format == "auto" ? to_string(detect_graph_format(source.path))
                                                     : source.format);
  std::optional<partition_info> const cut = is_cut ? std::optional(read_partition_info(source.path)) : std::nullopt;
  if (validate || g.content() != graph_content::valid) { g.validate(exec); }  // the native container is only mapped
  graph_stats const stats = measure(g, exec);
  list_statistics const lists = count_lists(g, exec);
  std::optional<graph_sizes> const sizes = sizes_of(g, exec);
  if (!html.empty()) {
    write_page(html, graph_page({g, graph_name(g, source.path), source.path, stats, lists, *sizes}));
  }
  bar.clear();
  if (common.json) {
    json document = to_json(g, stats, lists, source.path, format);
    if (cut) { document["partition"] = parts_json(*cut, source.path); }
    if (sizes) { add_sizes(document, *sizes); }
    if (!html.empty()) { document["page"] = html; }
    if (validate) { document["valid"] = true; }
    print(document);
    return;
  }
  std::string text = to_text(g, stats, lists, source.path, format);
  if (cut) { text += fmt::format("{:<17} {}\n{}", "cut", describe_parts(*cut), part_lines(*cut, source.path)); }
  if (validate) { text += fmt::format("{:<17} {}\n", "valid", "yes: every offset, target, weight and order checked"); }
  if (sizes) { text += size_lines(*sizes); }
  if (!html.empty()) { text += fmt::format("{:<17} {}\n", "page", html); }
  text.pop_back();
  print(text);
}

}  // namespace

void add_info(CLI::App& application)
{
  auto command = std::make_shared<info_command>();
  CLI::App* const verb = application.add_subcommand("info", "Describe a graph file: sizes, degrees, weights, labels");
  command->source.add_to(*verb);
  verb->add_flag("--validate", command->validate, "Check every invariant of the graph, and report the result");
  verb->add_flag("--forms", command->forms, "Measure what the graph takes in each form, without writing it");
  verb->add_option("--graph-memory", command->gpu_memory,
                   "Estimate how much of the graph so many bytes (8G) of GPU memory hold, and what is read there")
      ->type_name("BYTES");
  verb->add_option("--html", command->html, "Write a page that draws sizes, degrees, gaps and placement")
      ->type_name("OUT");
  command->common.add_to(*verb, false);
  verb->footer(
      "Examples:\n"
      "  tendril info graph.npz\n"
      "  tendril info soc-sign-bitcoinotc.csv.gz --columns source,target,-,-\n"
      "  tendril info graph.safetensors --validate --json\n"
      "  tendril info parts                                        a folder of 'tendril partition'\n"
      "  tendril info graph.safetensors --html graph.html --graph-memory 16G");
  verb->callback([command] { command->run(); });
}

}  // namespace tendril::cli
