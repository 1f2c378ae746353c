// tendril generate: synthetic graphs, the same for the same seed on any machine and any number of threads.

#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include <tendril/compress.hpp>
#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/gpu.hpp>

#include "common.hpp"
#include "help.hpp"
#include "text.hpp"
#include "verbs.hpp"

namespace tendril::cli {
namespace {

struct generate_command {
  std::string kind, output, to = "auto", weights, name, device = "cpu", form = "none";
  std::optional<int> scale;
  std::optional<std::int64_t> vertices;
  double edge_factor = 16;
  rmat_params rmat;
  powerlaw_params powerlaw;
  double sigma = 0;
  int labels = 0, types = 0;
  std::uint64_t seed = 0;
  build_flags building;
  common_options common;

  void run() const;
  [[nodiscard]] std::int64_t num_vertices() const;
  [[nodiscard]] edge_attributes extra() const;
  [[nodiscard]] bool is_regular() const
  {
    return kind == "star" || kind == "ring" || kind == "grid" || kind == "complete";
  }
  template <class Exec>
  [[nodiscard]] graph make_random(Exec const& exec) const;
  template <class Exec>
  [[nodiscard]] graph make_web(graph_form chosen, Exec const& exec) const;
  [[nodiscard]] graph make_regular(cpu_exec const& exec) const;
  [[nodiscard]] graph make(graph_form chosen, cpu_exec const& exec) const;
};

std::int64_t generate_command::num_vertices() const
{
  if (vertices.has_value()) { return *vertices; }
  int const power = scale.value_or(rmat.scale);
  if (power < 0 || power > 32) { throw argument_error(fmt::format("--scale: {}, expected 0 to 32", power)); }
  return std::int64_t{1} << power;
}

edge_attributes generate_command::extra() const
{
  edge_attributes extra;
  extra.num_labels = labels;
  extra.num_node_types = types;
  extra.has_weights = !weights.empty() || sigma != 0;
  extra.weight_sigma = sigma;
  if (!weights.empty()) {
    auto const parts = split(weights);
    char* end_min = nullptr;
    char* end_max = nullptr;
    if (parts.size() == 2 && !parts[0].empty() && !parts[1].empty()) {
      extra.weight_min = std::strtof(parts[0].c_str(), &end_min);
      extra.weight_max = std::strtof(parts[1].c_str(), &end_max);
    }
    if (end_min == nullptr || *end_min != '\0' || *end_max != '\0') {
      throw argument_error(fmt::format("--weights: '{}', expected the range of weights as in 1,5", weights));
    }
  }
  return extra;
}

/// An rmat, er or powerlaw graph, where `exec` runs.
template <class Exec>
graph generate_command::make_random(Exec const& exec) const
{
  auto const& build = building.build;
  if (kind == "rmat") {
    if (vertices.has_value()) { throw argument_error("--vertices: rmat has 2^scale vertices, expected --scale"); }
    rmat_params params = rmat;
    params.scale = scale.value_or(params.scale);
    params.edge_factor = edge_factor;
    params.seed = seed;
    return generate_rmat(params, build, extra(), exec);
  }
  if (kind == "er") {
    er_params params;
    params.num_vertices = num_vertices();
    if (!(edge_factor >= 0) || edge_factor * static_cast<double>(params.num_vertices) > 0x1p62) {
      throw argument_error(
          fmt::format("--edge-factor: {}, expected 0 or more, and fewer than 2^62 edges", edge_factor));
    }
    params.num_edges = std::llround(edge_factor * static_cast<double>(params.num_vertices));
    params.seed = seed;
    return generate_er(params, build, extra(), exec);
  }
  powerlaw_params params = powerlaw;
  params.num_vertices = num_vertices();
  params.seed = seed;
  return generate_powerlaw(params, build, extra(), exec);
}

template <class Exec>
graph generate_command::make_web(graph_form chosen, Exec const& exec) const
{
  web_params params;
  params.num_vertices = num_vertices();
  params.edge_factor = edge_factor;
  params.seed = seed;
  params.form = chosen;
  return generate_web(params, building.build, extra(), exec);
}

graph generate_command::make_regular(cpu_exec const& exec) const
{
  auto const& build = building.build;
  graph g = generate_regular(parse_name<regular_graph>("KIND", kind), num_vertices(), seed, extra(), exec);
  bool const building_asked =
      build.reverse || build.symmetrize || build.drop_self_loops || build.drop_duplicates || build.compact;
  return building_asked ? build_graph(g, build, exec) : g;
}

/// The graph in host memory. Web graphs are made in their form, others are compressed where they were made.
graph generate_command::make(graph_form chosen, cpu_exec const& exec) const
{
  auto const gpu = parse_device(device);
  if (is_regular()) {
    if (gpu.has_value()) {
      throw argument_error(
          fmt::format("--device {}: {} graphs are made on the CPU, expected rmat, er, powerlaw or web", device, kind));
    }
    return compress(make_regular(exec), chosen, exec);
  }
  auto const made = [&](auto const& where) {
    return kind == "web" ? make_web(chosen, where) : compress(make_random(where), chosen, where);
  };
  if (!gpu.has_value()) { return made(exec); }
  gpu_exec const there(*gpu);
  return to_host(made(there), there);
}

void generate_command::run() const
{
  stopwatch const overall;
  write_options options;
  options.format = parse_name<graph_format>("--to", to);
  graph_form const chosen = parse_form(form, output, options.format);
  progress_bar bar(common.shown());
  cpu_exec const exec = common.exec(bar);
  graph const made = make(chosen, exec);
  double const make_seconds = overall.seconds();
  graph_arrays arrays = made.arrays();
  arrays.metadata["name"] = name.empty() ? fmt::format("{}-{}", kind, seed) : name;
  arrays.metadata["origin"] = fmt::format("tendril generate {}, seed {}, version {}", kind, seed, TENDRIL_VERSION);
  graph const g(std::move(arrays), made.content());
  write_graph(g, output, options, exec);
  bar.clear();
  double const seconds = overall.seconds();
  if (common.json) {
    print(json{{"kind", kind},
               {"seed", seed},
               {"graph", describe_json(g, output)},
               {"output", output},
               {"output_bytes", file_bytes(output)},
               {"device", device},
               {"threads", common.num_threads()},
               {"make_seconds", make_seconds},
               {"seconds", seconds},
               {"peak_memory_bytes", peak_memory()},
               {"version", TENDRIL_VERSION}});
  } else if (!common.quiet) {
    print(fmt::format("graph   {}\noutput  {} ({}) in {}\nmemory  {} at most", describe(g, output), output,
                      bytes_text(file_bytes(output)), duration(seconds), bytes_text(peak_memory())));
  }
}

}  // namespace

void add_generate(CLI::App& application)
{
  auto command = std::make_shared<generate_command>();
  CLI::App* const verb = application.add_subcommand("generate", "Generate a synthetic graph");
  verb->add_option("KIND", command->kind, "rmat, er, powerlaw, web, star, ring, grid or complete")
      ->required()
      ->check(one_of({"rmat", "er", "powerlaw", "web", "star", "ring", "grid", "complete"}));
  verb->add_option("OUT", command->output, "Output file; its extension selects the format")->required();
  verb->add_option("--to", command->to, "Format of OUT [auto: by its extension]")->type_name("FORMAT");
  auto* const scale = verb->add_option("--scale", command->scale, "2^N vertices [16]")->type_name("N");
  verb->add_option("--vertices", command->vertices, "Number of vertices, for all kinds except rmat")
      ->type_name("N")
      ->excludes(scale);
  verb->add_option("--edge-factor", command->edge_factor,
                   "rmat, er, web: edges per vertex, before any building step [16]")
      ->type_name("K");
  verb->add_option("--seed", command->seed, "Seed; the same seed gives the same graph [0]")
      ->check(natural())
      ->type_name("S");
  verb->add_option("--device", command->device,
                   "Device that generates the graph: cpu; for rmat, er, powerlaw and web also cuda or cuda:N [cpu]")
      ->type_name("DEVICE");
  add_compress(*verb, command->form, "in a native OUT",
               "; web makes its neighbours in this form, without more memory [none]");
  verb->add_option("--name", command->name, "Name of the graph, stored in the file [KIND-SEED]")->type_name("NAME");

  auto const shape = "Shape";
  verb->add_option("--a", command->rmat.a, "rmat: share of the first quadrant [0.57]")->type_name("X")->group(shape);
  verb->add_option("--b", command->rmat.b, "rmat: share of the second quadrant [0.19]")->type_name("X")->group(shape);
  verb->add_option("--c", command->rmat.c, "rmat: share of the third quadrant [0.19]")->type_name("X")->group(shape);
  verb->add_option("--exponent", command->powerlaw.exponent, "powerlaw: exponent of the degree distribution [2.1]")
      ->type_name("X")
      ->group(shape);
  verb->add_option("--min-degree", command->powerlaw.min_degree, "powerlaw: smallest degree [1]")
      ->type_name("N")
      ->group(shape);
  verb->add_option("--max-degree", command->powerlaw.max_degree, "powerlaw: largest degree [256]")
      ->type_name("N")
      ->group(shape);

  auto const extras = "Weights and labels";
  auto* const range =
      verb->add_option("--weights", command->weights, "Add edge weights, uniform from A to B, as in 1,5")
          ->type_name("A,B")
          ->group(extras);
  verb->add_option("--weight-sigma", command->sigma, "Add edge weights, lognormal with mu 0 and sigma S")
      ->type_name("S")
      ->group(extras)
      ->excludes(range);
  verb->add_option("--num-labels", command->labels, "Add edge labels, uniform in 0 to L - 1")
      ->type_name("L")
      ->group(extras);
  verb->add_option("--num-node-types", command->types, "Add vertex types, uniform in 0 to T - 1")
      ->type_name("T")
      ->group(extras);
  command->building.add_to(*verb);
  command->common.add_to(*verb);
  verb->footer(
      "Examples:\n"
      "  tendril generate rmat g20.safetensors --scale 20 --symmetrize --drop-duplicates --drop-self-loops\n"
      "  tendril generate er er.npz --vertices 100000 --edge-factor 8 --weights 1,5\n"
      "  tendril generate powerlaw tail.safetensors --vertices 1000000 --exponent 2.2 --max-degree 50000\n"
      "  tendril generate web crawl.safetensors --vertices 1000000 --edge-factor 30\n"
      "  tendril generate web large.safetensors --vertices 100000000 --edge-factor 50 --compress runs\n"
      "  tendril generate grid grid.txt --vertices 10000\n"
      "  tendril generate rmat g26.safetensors --scale 26 --device cuda        the same bytes as without a GPU");
  verb->callback([command] { command->run(); });
}

}  // namespace tendril::cli
