// tendril sample: neighbourhoods of seeds, as trees (khop) or as mini-batches for GNNs, into one file of arrays. The other
// applications: catalogue.hpp.

#include <algorithm>
#include <future>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include <tendril/array_file.hpp>
#include <tendril/checked.hpp>
#include <tendril/error.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>

#include "common.hpp"
#include "help.hpp"
#include "sample_job.hpp"
#include "sample_request.hpp"
#include "text.hpp"
#include "verbs.hpp"

namespace tendril::cli {
namespace {

constexpr std::int64_t batch_bytes = std::int64_t{64} << 20;  // of one batch of trees

struct sample_command {
  graph_source source;
  common_options common;
  sample_job job;
  std::string output;
  std::string dtype;

  void run() const;
};

/// The trees of n seeds from `first` on, in host memory, wherever they are made.
khop_trees make_trees(request const& what, khop_params const& params, std::int64_t first, std::int64_t n,
                      cpu_exec const& exec)
{
  auto const seeds = what.seeds.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(n));
  std::int64_t const root = what.job.first_root + first;
  if (!what.on_gpu) { return khop_sample(what.g, seeds, params, exec, root, what.job.edges); }
  gpu_exec const gpu(what.on_gpu->device());
  auto const there = copy_to_gpu(seeds, gpu);
  khop_trees trees = khop_sample(*what.on_gpu, there.span(), params, gpu, root, what.job.edges);
  for (auto& hop : trees.hops) {
    hop = {hop.fanout, host_copy(hop.vertices, gpu), host_copy(hop.edges, gpu), host_copy(hop.offsets, gpu)};
  }
  return trees;
}

std::int64_t count_filled(khop_trees const& trees)
{
  std::int64_t filled = 0;
  for (auto const& hop : trees.hops) {
    filled += hop.vertices.size() - std::count(hop.vertices.begin(), hop.vertices.end(), no_vertex);
  }
  return filled;
}

std::string hop_name(std::size_t hop, char const* suffix = "") { return fmt::format("hop{}{}", hop + 1, suffix); }

void append_hops(array_writer& writer, khop_trees const& trees, bool edges, cpu_exec const& exec)
{
  std::size_t array = 1;  // after the seeds
  for (auto const& hop : trees.hops) {
    writer.append(array++, hop.vertices.span(), exec);
    if (edges) { writer.append(array++, hop.edges.span()); }
    if (!hop.offsets.empty()) { writer.append(array++, hop.offsets.span()); }
  }
}

/// Trees of fixed shape: arrays [seeds, fanout, …] of known sizes, made and written batch by batch.
outcome sample_trees(request const& what, khop_params const& params, cpu_exec const& exec, progress_bar& bar)
{
  auto const num_seeds = static_cast<std::int64_t>(what.seeds.size());
  std::vector<array_spec> arrays{{"seeds", what.vertices, {num_seeds}}};
  std::vector<std::int64_t> shape{num_seeds};
  std::int64_t slots = 1, slots_of_tree = 0;
  for (std::size_t hop = 0; hop < params.fanouts.size(); ++hop) {
    shape.push_back(params.fanouts[hop]);
    slots = checked_product("--fanouts: slots of a hop", slots, params.fanouts[hop]);
    slots_of_tree = checked_sum("--fanouts: slots of a tree", slots_of_tree, slots);
    arrays.push_back({hop_name(hop), what.vertices, shape});
    if (what.job.edges) { arrays.push_back({hop_name(hop, "_edges"), element_type::int64, shape}); }
  }
  array_writer writer(what.output, arrays, what.about);
  writer.append(0, what.seeds, exec);

  std::int64_t const rows = std::clamp<std::int64_t>(batch_bytes / (what.job.edges ? 12 : 4) / slots_of_tree, 1,
                                                     std::max<std::int64_t>(num_seeds, 1));
  cpu_exec quiet = exec;
  quiet.on_progress = {};  // the bar belongs to this thread
  outcome result;
  khop_trees trees, written;
  std::future<void> pending;  // its destructor waits, also when sampling throws
  for (std::int64_t first = 0; first < num_seeds; first += rows) {
    std::int64_t const n = std::min(rows, num_seeds - first);
    stopwatch const sampling;
    trees = make_trees(what, params, first, n, quiet);
    result.sample_seconds += sampling.seconds();
    result.edges += count_filled(trees);
    bar.update("sampling", first + n, num_seeds, "seeds");
    if (pending.valid()) { pending.get(); }
    written = std::move(trees);
    pending = std::async(std::launch::async, [&] { append_hops(writer, written, what.job.edges, quiet); });
  }
  if (pending.valid()) { pending.get(); }
  writer.commit();
  return result;
}

/// Trees with all neighbours of some hop: their sizes are known only when they have been made.
outcome sample_ragged_trees(request const& what, khop_params const& params, cpu_exec const& exec)
{
  auto const num_seeds = static_cast<std::int64_t>(what.seeds.size());
  stopwatch const sampling;
  khop_trees const trees = make_trees(what, params, 0, num_seeds, exec);
  outcome result;
  result.sample_seconds = sampling.seconds();
  result.edges = count_filled(trees);

  std::vector<array_spec> arrays{{"seeds", what.vertices, {num_seeds}}};
  for (std::size_t hop = 0; hop < trees.hops.size(); ++hop) {
    auto const& made = trees.hops[hop];
    arrays.push_back({hop_name(hop), what.vertices, {made.vertices.size()}});
    if (what.job.edges) { arrays.push_back({hop_name(hop, "_edges"), element_type::int64, {made.edges.size()}}); }
    if (!made.offsets.empty()) {
      arrays.push_back({hop_name(hop, "_offsets"), element_type::int64, {made.offsets.size()}});
    }
  }
  array_writer writer(what.output, arrays, what.about);
  writer.append(0, what.seeds, exec);
  append_hops(writer, trees, what.job.edges, exec);
  writer.commit();
  return result;
}

outcome sample_khop(request const& what, cpu_exec const& exec, progress_bar& bar)
{
  khop_params const params = what.job.khop();
  // Says what is wrong, whatever the number of seeds, before a file is begun.
  auto const num_seeds = static_cast<std::int64_t>(what.seeds.size());
  (void)checked_sum("--first-root: ids of seeds", what.job.first_root, num_seeds);
  sampling_plan const plan = what.on_gpu ? plan_khop(*what.on_gpu, params, num_seeds, gpu_exec(what.on_gpu->device()))
                                         : plan_khop(what.g, params, num_seeds, exec);
  bool const ragged = std::count(params.fanouts.begin(), params.fanouts.end(), -1) > 0;
  outcome result = ragged ? sample_ragged_trees(what, params, exec) : sample_trees(what, params, exec, bar);
  result.rule = to_string(plan.rule);
  return result;
}

void sample_command::run() const
{
  stopwatch const overall;
  job.check();
  if (!output.ends_with(".npz") && !output.ends_with(".safetensors")) {
    throw argument_error(fmt::format("{}: unknown extension, expected .npz or .safetensors", output));
  }
  job.validate();  // before anything that takes time
  if (job.is_of_catalogue()) {
    run_catalogue(job, source, common, output, dtype);
    return;
  }
  std::optional<gpu_info> gpu;
  if (auto const device = parse_device(job.device)) { gpu = describe_gpu(*device); }
  progress_bar bar(!common.quiet);
  cpu_exec const exec = common.exec(bar);
  graph const g = source.read_for(job.device, exec);
  double const read_seconds = overall.seconds();
  std::optional<graph> on_gpu;
  if (gpu) { on_gpu = graph_on_gpu(g, gpu->device, job.graph_bytes(), job.visits()); }
  buffer<vertex_id> const seeds = job.seeds(g, exec);
  element_type const type = dtype.empty() ? vertex_element_type(g.num_vertices()) : parse_element_type(dtype);

  metadata const about{{"format", "tendril-samples"},         {"app", job.app},
                       {"params", job.params_json().dump()},  {"seed", std::to_string(job.seed)},
                       {"graph", graph_name(g, source.path)}, {"version", TENDRIL_VERSION}};
  request const what{g, on_gpu, job, seeds.span(), output, type, about};
  auto const [edges, sample_seconds, rule] =
      job.app == "khop" ? sample_khop(what, exec, bar) : sample_minibatches(what, exec, bar);
  bar.clear();
  double const seconds = overall.seconds();
  double const rate = sample_seconds > 0 ? static_cast<double>(edges) / sample_seconds : 0;

  if (common.json) {
    json document{{"graph", describe_json(g, source.path)},
                  {"app", job.app},
                  {"params", job.params_json()},
                  {"seed", job.seed},
                  {"num_seeds", seeds.size()},
                  {"sampled_edges", edges}};
    if (!rule.empty()) { document["rule"] = rule; }
    document.update(json{{"output", output},
                         {"output_bytes", file_bytes(output)},
                         {"device", job.device},
                         {"threads", common.num_threads()},
                         {"read_seconds", read_seconds},
                         {"sample_seconds", sample_seconds},
                         {"seconds", seconds},
                         {"edges_per_second", rate},
                         {"peak_memory_bytes", peak_memory()},
                         {"version", TENDRIL_VERSION}});
    if (gpu) { document["device_name"] = gpu->name; }
    if (auto const placement = placement_json(on_gpu.value_or(g))) { document["placement"] = *placement; }
    print(document);
  } else if (!common.quiet) {
    print(fmt::format(
        "graph   {}\njob     {}: {}{}\n{}{}edges   {} in {}: {} edges/s\noutput  {} ({})\ntotal   {}, {} of memory at "
        "most",
        describe(g, source.path), counted(seeds.size(), "seed", "seeds"), job.describe(),
        rule.empty() ? std::string() : fmt::format(" ({})", rule),
        gpu ? fmt::format("device  {}\n", gpu->name) : std::string(), placement_line(on_gpu.value_or(g)),
        grouped(edges), duration(sample_seconds), si(rate), output, bytes_text(file_bytes(output)), duration(seconds),
        bytes_text(peak_memory())));
  }
}

}  // namespace

void add_sample(CLI::App& application)
{
  auto command = std::make_shared<sample_command>();
  CLI::App* const verb =
      application.add_subcommand("sample", "Sample for GNNs: k-hop trees, mini-batches, layers, subgraphs");
  command->source.add_to(*verb);
  verb->add_option("-o,--output", command->output, "Output file of arrays: .npz or .safetensors")
      ->required()
      ->type_name("OUT");
  verb->add_option("--app", command->job.app,
                   "khop (trees), minibatch (relabelled subgraphs), layer, fastgcn, ladies, mvs, labor, cluster, "
                   "shadow, saint-node, saint-edge or saint-walk [khop]")
      ->type_name("APP");
  verb->add_flag("--weighted", command->job.weighted, "khop, minibatch: choose edges in proportion to their weights");
  verb->add_option("--rule", command->job.rule,
                   "khop: rule that chooses an edge: auto, scan, reject, alias or its [auto]")
      ->type_name("RULE");
  add_table_bytes(*verb, command->job.table_bytes, "khop, minibatch: ");
  verb->add_option("--seed", command->job.seed, "Seed; the same seed gives the same samples [0]")
      ->check(natural())
      ->type_name("S");
  verb->add_option("--dtype", command->dtype, "Type of vertex ids: int32 or int64 [int32 if all ids fit]")
      ->type_name("TYPE");
  verb->add_option("--device", command->job.device, "Device: cpu, cuda or cuda:N [cpu]")->type_name("DEVICE");
  command->job.add_to(*verb);
  command->common.add_to(*verb);
  verb->footer(
      "khop writes seeds [n] and hop1 [n, f1], hop2 [n, f1, f2], …: the neighbours sampled for each vertex of the\n"
      "previous hop, with -1 in slots that could not be filled. From the first fan-out of -1 on, hopK is flat, and\n"
      "hopK_offsets holds where the children of each slot begin. minibatch writes row, col, edge and node of all\n"
      "batches, one batch after another; edge_offsets and node_offsets hold where each batch begins. The other\n"
      "applications write the arrays of their C++ results under the same names. docs/cli.md has the details.\n"
      "\n"
      "Examples:\n"
      "  tendril sample graph.npz -o trees.npz --fanouts 25,10 --num-seeds 1024\n"
      "  tendril sample graph.npz -o trees.safetensors --fanouts 15,10,5 --seeds train.txt --replace --weighted\n"
      "  tendril sample graph.npz -o trees.npz --fanouts 25,10 --device cuda      the same bytes, computed on a GPU\n"
      "  tendril sample graph.npz -o batches.npz --app minibatch --fanouts 15,10,5 --batch-size 512\n"
      "  tendril sample graph.npz -o batches.npz --app minibatch --fanouts 10,10,10 --frontier all --device cuda\n"
      "  tendril sample graph.npz -o layers.safetensors --app ladies --layers 5 --layer-size 64 --num-seeds 5120\n"
      "  tendril sample graph.npz -o parts.safetensors --app cluster --partition metis --clusters 1000\n"
      "  tendril sample graph.npz -o subgraphs.safetensors --app saint-walk --roots 2000 --coefficients 50\n"
      "  tendril sample graph.npz -o mine.safetensors --app-source sampler.cpp --param tries=3 --num-seeds 1024");
  verb->callback([command] { command->run(); });
}

}  // namespace tendril::cli
