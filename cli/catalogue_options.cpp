// The options of the catalogue's applications.

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "catalogue.hpp"
#include "help.hpp"
#include "text.hpp"

namespace tendril::cli {
namespace {

/// An option and the variable that stores its value.
struct number_option {
  char const* name;
  std::optional<std::int64_t>* value;
  char const* letter;
  char const* what;
};

}  // namespace

void catalogue_options::add_to(CLI::App& verb, bool with_walks)
{
  auto const group = "Catalogue";
  for (auto const& [name, value, letter, what] :
       {number_option{"--layers", &layers, "L", "Layers per sample: fastgcn [2], ladies [5]"},
        {"--layer-size", &layer_size, "N", "Vertices drawn per layer: layer [1000], fastgcn [400], ladies [64]"},
        {"--max-size", &max_size, "N", "layer: maximum vertices per sample [2000]"},
        {"--max-steps", &max_steps, "N",
         "Maximum steps: layer [max-size / layer-size]; --app-source: of an application that runs until_done"},
        {"--num-samples", &num_samples, "N",
         "mvs, cluster, saint-…: number of samples [an epoch: each vertex is sampled once on average]"},
        {"--clusters", &clusters, "N", "cluster: number of clusters [number of vertices / 100]"},
        {"--clusters-per-sample", &clusters_per_sample, "N", "cluster: clusters per sample [20]"},
        {"--depth", &depth, "N", "shadow: hops [2]"},
        {"--num-neighbors", &num_neighbors, "N", "shadow: neighbours drawn per vertex [10]"},
        {"--budget", &budget, "N",
         "Drawn per sample: saint-node: vertices; saint-edge: edges; saint-walk: roots of walks [2000]"},
        {"--coefficients", &coefficients, "N",
         "saint-…: also write GraphSAINT's coefficients, counted over the samples 0 to N - 1"}}) {
    verb.add_option(name, *value, what)->type_name(letter)->group(group);
  }
  if (!with_walks) {
    verb.add_option("--roots", roots, "layer, --app-source: roots per sample: consecutive seeds that form a sample [1]")
        ->type_name("M")
        ->group(group);
    verb.add_option("--length", length, "saint-walk: steps per walk [2]")->type_name("L")->group(group);
  }
  verb.add_option("--normalization", normalization,
                  "fastgcn, ladies, saint-node: matrix entries: row (1 / degree), symmetric or weights [row]")
      ->type_name("Q")
      ->group(group);
  verb.add_flag_callback(
          "--normalize-rows", [this] { normalize_rows = true; },
          "fastgcn: divide coefficients by the sum of their row (the default of ladies, labor and minibatch)")
      ->group(group);
  verb.add_flag_callback(
          "--no-normalize-rows", [this] { normalize_rows = false; },
          "ladies, labor, minibatch with choice labor: don't divide coefficients by the sum of their row")
      ->group(group);
  verb.add_flag("--no-replace", no_replace, "fastgcn, ladies: draw distinct vertices instead of independent draws")
      ->group(group);
  verb.add_flag("--unique", unique, "layer: a step adds each vertex at most once")->group(group);
  verb.add_option("--partition", partition, "cluster: partition method: contiguous, random or metis [contiguous]")
      ->type_name("HOW")
      ->group(group);
  verb.add_option("--clusters-from", clusters_file, "cluster: read the cluster number of each vertex from FILE")
      ->type_name("FILE")
      ->group(group);
  verb.add_option("--importance", importance_file,
                  "mvs: read one importance per vertex from FILE (.npy or text) [all equal]")
      ->type_name("FILE")
      ->group(group);
  verb.add_option("--first-sample", first_sample, "Logical id of the first sample (labor: first batch) [0]")
      ->type_name("ID")
      ->group(group);
  verb.add_option("--executor", executor,
                  "cuda: executor; layer, --app-source: auto, sample or transit; minibatch: auto, hops, graph, "
                  "fused or persistent [auto]")
      ->type_name("HOW")
      ->group(group);

  if (!with_walks) {
    verb.add_option(
            "--gpu-memory", gpu_memory,
            "cuda: maximum GPU memory for the graph, as in 2G; layer and --app-source stream a larger graph, or "
            "place it for the call")
        ->type_name("BYTES")
        ->group(group);
    graph_room.add_to(verb, group);
  }

  auto const own = "Your own application";
  verb.add_option("--app-source", source_file, "Replaces --app: C++ source of one struct (docs/applications.md)")
      ->type_name("FILE")
      ->group(own)
      ->excludes(verb.get_option("--app"));
  verb.add_option("--struct", struct_name, "Name of the struct in --app-source [the only struct]")
      ->type_name("NAME")
      ->group(own);
  verb.add_option("--param", params,
                  "Set a field of the struct to a number, or to several as in fanouts=10,5; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->group(own);
  verb.add_flag("--checked", checked, "Report an error if a sample still grows after --max-steps")->group(own);
}

void catalogue_options::check() const
{
  if (first_sample < 0) { throw argument_error(fmt::format("--first-sample: {}, expected 0 or more", first_sample)); }
  for (auto const& [value, name] :
       {std::pair{num_samples, "--num-samples"}, std::pair{clusters_per_sample, "--clusters-per-sample"},
        std::pair{roots, "--roots"}, std::pair{coefficients, "--coefficients"}, std::pair{max_steps, "--max-steps"}}) {
    if (value.has_value() && *value < 1) {
      throw argument_error(fmt::format("{}: {}, expected 1 or more", name, *value));
    }
  }
  if (!clusters_file.empty() && (partition.has_value() || clusters.has_value())) {
    throw argument_error(fmt::format("--clusters-from: {} is given, expected one of both",
                                     partition.has_value() ? "--partition" : "--clusters"));
  }
  (void)matrix();
  (void)gpu_bytes();
}

std::int64_t catalogue_options::gpu_bytes() const
{
  return gpu_memory.empty() ? 0 : parse_bytes(gpu_memory, "--gpu-memory");
}

propagation catalogue_options::matrix() const
{
  return parse_name<propagation>("--normalization", normalization.value_or("row"));
}

sampling_executor catalogue_options::chosen_executor() const
{
  return parse_name<sampling_executor>("--executor", executor.value_or("auto"));
}

}  // namespace tendril::cli
