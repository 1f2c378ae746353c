#include "sample_job.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tendril/error.hpp>
#include <tendril/starts.hpp>

#include "help.hpp"
#include "text.hpp"
#include "walk_job.hpp"

namespace tendril::cli {
namespace {

constexpr std::array<std::string_view, 12> apps{"khop",   "minibatch",  "layer",      "fastgcn",
                                                "ladies", "mvs",        "labor",      "cluster",
                                                "shadow", "saint-node", "saint-edge", "saint-walk"};
constexpr char const* default_fanouts = "25,10";
constexpr std::int64_t default_batch_size = 1024;

std::vector<std::int64_t> parse_fanouts(std::string const& list)
{
  return parse_integers(list, "--fanouts", "neighbours of each hop as in 25,10, or -1 for all");
}

/// An option, whether it was given, and the applications that accept it; --app-source stands for applications from text.
struct taken_option {
  std::string_view name;
  bool given;
  std::string_view apps;  ///< Apart by commas.
};

/// @throws argument_error for an option that the application doesn't have.
void expect_taken(sample_job const& job)
{
  auto const& more = job.more;
  std::string const app = job.from_source() ? "--app-source" : job.app;
  for (auto const& [name, given, takers] : {
           taken_option{"--fanouts", job.fanouts != default_fanouts, "khop,minibatch,labor"},
           {"--seeds", !job.seeds_file.empty(), "khop,minibatch,layer,fastgcn,ladies,labor,shadow,--app-source"},
           {"--num-seeds", job.num_seeds.has_value(), "khop,minibatch,layer,fastgcn,ladies,labor,shadow,--app-source"},
           {"--replace", job.replace, "khop,minibatch,fastgcn,ladies,mvs,shadow"},
           {"--weighted", job.weighted, "khop,minibatch"},
           {"--edges", job.edges, "khop,fastgcn,ladies,mvs"},
           {"--first-root", job.first_root != 0, "khop"},
           {"--memory", !job.memory.empty(), "khop"},
           {"--rule", job.rule != "auto", "khop"},
           {"--table-bytes", !job.table_bytes.empty(), "khop,minibatch"},
           {"--batch-size", job.batch_size.has_value(), "minibatch,fastgcn,ladies,mvs,labor"},
           {"--first-batch", job.first_batch != 0, "minibatch"},
           {"--disjoint", job.disjoint, "minibatch"},
           {"--subgraph", job.subgraph != "directional", "minibatch"},
           {"--frontier", job.frontier != "new", "minibatch"},
           {"--choice", job.choice != "independent", "minibatch"},
           {"--layer-dependency", job.layer_dependency, "minibatch"},
           {"--batch-dependency", job.batch_dependency.has_value(), "minibatch"},
           {"--layers", more.layers.has_value(), "fastgcn,ladies"},
           {"--layer-size", more.layer_size.has_value(), "layer,fastgcn,ladies"},
           {"--max-size", more.max_size.has_value(), "layer"},
           {"--max-steps", more.max_steps.has_value(), "layer,--app-source"},
           {"--num-samples", more.num_samples.has_value(), "mvs,cluster,saint-node,saint-edge,saint-walk"},
           {"--clusters", more.clusters.has_value(), "cluster"},
           {"--clusters-per-sample", more.clusters_per_sample.has_value(), "cluster"},
           {"--clusters-from", !more.clusters_file.empty(), "cluster"},
           {"--partition", more.partition.has_value(), "cluster"},
           {"--depth", more.depth.has_value(), "shadow"},
           {"--num-neighbors", more.num_neighbors.has_value(), "shadow"},
           {"--budget", more.budget.has_value(), "saint-node,saint-edge,saint-walk"},
           {"--roots", more.roots.has_value(), "layer,--app-source"},
           {"--length", more.length.has_value(), "saint-walk"},
           {"--coefficients", more.coefficients.has_value(), "saint-node,saint-edge,saint-walk"},
           {"--normalization", more.normalization.has_value(), "fastgcn,ladies,saint-node"},
           {"--normalize-rows", more.normalize_rows.has_value(), "fastgcn,ladies,labor,minibatch"},
           {"--no-replace", more.no_replace, "fastgcn,ladies"},
           {"--unique", more.unique, "layer"},
           {"--importance", !more.importance_file.empty(), "mvs"},
           {"--executor", more.executor.has_value(), "minibatch,layer,--app-source"},
           {"--gpu-memory", !more.gpu_memory.empty(), "layer,--app-source"},
           {"--struct", !more.struct_name.empty(), "--app-source"},
           {"--param", !more.params.empty(), "--app-source"},
           {"--checked", more.checked, "--app-source"},
           {"--first-sample", more.first_sample != 0,
            "layer,fastgcn,ladies,mvs,labor,cluster,shadow,saint-node,saint-edge,saint-walk,--app-source"},
       }) {
    auto const words = split(takers);
    if (given && std::find(words.begin(), words.end(), app) == words.end()) {
      throw argument_error(fmt::format("{}: {}, expected {}", name,
                                       job.from_source() ? "--app-source is given" : "--app is " + job.app,
                                       any_of(words)));
    }
  }
}

}  // namespace

bool sample_job::is_app(std::string_view name) { return std::find(apps.begin(), apps.end(), name) != apps.end(); }

void sample_job::add_to(CLI::App& verb, bool with_walks)
{
  auto const group = "Samples";
  verb.add_option("--fanouts", fanouts,
                  "khop, minibatch, labor: neighbours per vertex, for each hop; -1: all neighbours [25,10]")
      ->type_name("LIST")
      ->group(group);
  auto* const file =
      verb.add_option("--seeds", seeds_file,
                      "Read the seeds from FILE (.npy, or text with one id per line; -: standard input) [every vertex]")
          ->type_name("FILE")
          ->group(group);
  verb.add_option("--num-seeds", num_seeds, "Draw N distinct seeds at random")
      ->type_name("N")
      ->group(group)
      ->excludes(file);
  verb.add_flag("--replace", replace, "khop, minibatch, mvs, shadow: draw with replacement")->group(group);
  verb.add_flag("--edges", edges, "khop, fastgcn, ladies, mvs: also write the position of each sampled edge")
      ->group(group);
  verb.add_option("--first-root", first_root, "khop: logical id of the first seed [0]")->type_name("ID")->group(group);
  verb.add_option("--batch-size", batch_size,
                  "Seeds per batch: minibatch, labor [1024], fastgcn, ladies [512]; mvs: vertices per batch [64]")
      ->type_name("B")
      ->group(group);
  verb.add_option("--first-batch", first_batch, "minibatch: logical number of the first batch [0]")
      ->type_name("ID")
      ->group(group);
  verb.add_flag("--disjoint", disjoint, "minibatch: one subgraph per seed; seeds share no vertices")->group(group);
  verb.add_option("--subgraph", subgraph,
                  "minibatch: edges of a batch: directional, bidirectional or induced [directional]")
      ->check(one_of_names<subgraph_type>())
      ->type_name("TYPE")
      ->group(group);
  verb.add_option(
          "--frontier", frontier,
          "minibatch: vertices that a hop expands: new (of the previous hop) or all (of the batch so far) [new]")
      ->check(one_of_names<batch_frontier>())
      ->type_name("WHICH")
      ->group(group);
  verb.add_option("--choice", choice,
                  "minibatch: how a vertex chooses neighbours: independent or labor (LABOR-0) [independent]")
      ->check(one_of_names<neighbor_choice>())
      ->type_name("HOW")
      ->group(group);
  verb.add_flag("--layer-dependency", layer_dependency,
                "minibatch, labor choice: all hops of a batch share the random numbers")
      ->group(group);
  verb.add_option("--batch-dependency", batch_dependency,
                  "minibatch, labor choice: batches for which a vertex keeps its random number [1]")
      ->type_name("K")
      ->group(group);
  if (!with_walks) {
    verb.add_option(
            "--memory", memory,
            "khop, on the CPU: for a mapped graph that memory does not hold: memory for its pages and for trees, "
            "as in 8G; each hop then goes over the file in order [pages are read where they are needed]")
        ->type_name("BYTES")
        ->group(group);
  }
  more.add_to(verb, with_walks);
}

void sample_job::check() const
{
  if (!from_source() && walk_job::is_app(app)) {
    throw argument_error(fmt::format("--app: {0} makes walks, expected 'tendril walk --app {0}'", app));
  }
  if (!from_source() && !is_app(app)) {
    throw argument_error(fmt::format("--app: '{}', expected one of {}", app, fmt::join(apps, ", ")));
  }
  expect_taken(*this);
  more.check();
  if (more.normalize_rows.has_value() && app == "minibatch" && choice != "labor") {
    throw argument_error(fmt::format("{}: --choice is {}, expected labor",
                                     *more.normalize_rows ? "--normalize-rows" : "--no-normalize-rows", choice));
  }
  app == "minibatch" && !from_source() ? (void)minibatch_executor_choice() : (void)more.chosen_executor();
  bool const on_gpu = !parse_devices(device).empty();
  if (more.executor.has_value() && !on_gpu) { throw argument_error("--executor: --device is cpu, expected cuda"); }
  if (graph_bytes() > 0 && !more.gpu_memory.empty()) {
    throw argument_error("--gpu-memory: --graph-memory is given, expected one of both");
  }
  if (!more.gpu_memory.empty() && !on_gpu) { throw argument_error("--gpu-memory: --device is cpu, expected cuda"); }
  (void)host_bytes();
  if (first_root < 0) { throw argument_error(fmt::format("--first-root: {}, expected 0 or more", first_root)); }
  if (first_batch < 0) { throw argument_error(fmt::format("--first-batch: {}, expected 0 or more", first_batch)); }
  if (seeds_each() < 1) { throw argument_error(fmt::format("--batch-size: {}, expected 1 or more", seeds_each())); }
}

std::vector<std::int64_t> sample_job::fanout_list() const { return parse_fanouts(fanouts); }

khop_params sample_job::khop() const
{
  khop_params params;
  params.fanouts = parse_fanouts(fanouts);
  params.replace = replace;
  params.weighted = weighted;
  params.rule = parse_name<sampling_rule>("--rule", rule);
  params.table_bytes = parse_table_bytes(table_bytes);
  if (!params.table_bytes && !memory.empty()) { params.table_bytes = host_bytes() / 4; }
  params.seed = seed;
  return params;
}

std::int64_t sample_job::host_bytes() const
{
  if (memory.empty()) { return 0; }
  if (!parse_devices(device).empty()) { throw argument_error("--memory: --device is cuda, expected cpu"); }
  return parse_bytes(memory, "--memory");
}

minibatch_params sample_job::minibatch() const
{
  minibatch_params params;
  params.num_neighbors = parse_fanouts(fanouts);
  params.replace = replace;
  params.weighted = weighted;
  params.disjoint = disjoint;
  params.subgraph = parse_name<subgraph_type>("--subgraph", subgraph);
  params.frontier = parse_name<batch_frontier>("--frontier", frontier);
  params.choice = parse_name<neighbor_choice>("--choice", choice);
  params.normalize = more.normalize_rows.value_or(true);
  params.layer_dependency = layer_dependency;
  params.batch_dependency = batch_dependency.value_or(1);
  params.table_bytes = parse_table_bytes(table_bytes);
  params.seed = seed;
  return params;
}

void sample_job::validate() const
{
  if (is_of_catalogue()) {
    validate_catalogue(*this);
  } else if (app == "khop") {
    tendril::validate(khop());
  } else {
    tendril::validate(minibatch());
  }
}

minibatch_executor sample_job::minibatch_executor_choice() const
{
  return parse_name<minibatch_executor>("--executor", more.executor.value_or("auto"));
}

placement_job sample_job::visits() const
{
  if (is_of_catalogue()) { return khop_params{}; }
  if (app == "minibatch") { return minibatch(); }
  return khop();
}

std::int64_t sample_job::graph_bytes() const { return more.graph_room.bytes(parse_devices(device)); }

std::int64_t sample_job::seeds_each() const { return batch_size.value_or(default_batch_size); }

buffer<vertex_id> sample_job::seeds(std::int64_t num_vertices, cpu_exec const& exec) const
{
  if (!seeds_file.empty()) { return read_vertices(seeds_file, num_vertices, exec); }
  if (num_seeds.has_value()) {
    if (*num_seeds < 1 || *num_seeds > num_vertices) {
      throw argument_error(
          fmt::format("--num-seeds: {}, expected 1 to {}, the vertices of the graph", *num_seeds, num_vertices));
    }
    return random_distinct_vertices(num_vertices, *num_seeds, seed, exec);
  }
  buffer<vertex_id> all(num_vertices);
  std::iota(all.begin(), all.end(), vertex_id{0});
  return all;
}

std::string sample_job::describe() const
{
  std::string text = fmt::format("{} {}, {}", app, fanouts, replace ? "with replacement" : "without replacement");
  if (weighted) { text += ", weighted"; }
  if (app == "minibatch") {
    text += fmt::format(", {} a batch", counted(seeds_each(), "seed", "seeds"));
    if (disjoint) { text += ", disjoint"; }
    if (subgraph != "directional") { text += ", " + subgraph; }
    if (frontier != "new") { text += ", frontier " + frontier; }
    if (choice != "independent") { text += ", choice " + choice; }
    if (layer_dependency) { text += ", dependent layers"; }
    if (batch_dependency.value_or(1) != 1) { text += fmt::format(", batches dependent over {}", *batch_dependency); }
  }
  return text;
}

json sample_job::params_json() const
{
  json document{{"fanouts", parse_fanouts(fanouts)}, {"replace", replace}, {"weighted", weighted}};
  if (app == "khop") {
    document["rule"] = rule;
    document["first_root"] = first_root;
  } else {
    document["batch_size"] = seeds_each();
    document["first_batch"] = first_batch;
    document["disjoint"] = disjoint;
    document["subgraph"] = subgraph;
    document["frontier"] = frontier;
    if (choice != "independent") {
      document["choice"] = choice;
      document["normalize_rows"] = more.normalize_rows.value_or(true);
      document["layer_dependency"] = layer_dependency;
      document["batch_dependency"] = batch_dependency.value_or(1);
    }
  }
  return document;
}

}  // namespace tendril::cli
