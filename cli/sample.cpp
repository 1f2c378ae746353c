// tendril sample: neighbourhoods of seeds, as trees (khop) or as mini-batches for GNNs, into one file of arrays. The other
// applications: catalogue.hpp.

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tendril/array_file.hpp>
#include <tendril/checked.hpp>
#include <tendril/error.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/sharded_khop.hpp>
#include <tendril/transport.hpp>
#include <tendril/walk_parts.hpp>

#include "common.hpp"
#include "graph_of_ranks.hpp"
#include "help.hpp"
#include "ranks.hpp"
#include "sample_job.hpp"
#include "sample_request.hpp"
#include "text.hpp"
#include "verbs.hpp"
#include "walk_output.hpp"  // name_of_part

namespace tendril::cli {
namespace {

struct sample_command {
  graph_source source;
  common_options common;
  sample_job job;
  std::string output;
  std::string dtype;
  bool own_files = false;
  double deadline = transport::usual_deadline.count();

  void run() const;

 private:
  /// Checks what ranks can't do. @throws argument_error.
  void check_ranks(transport const& ranks, gpu_set const& gpus) const;
};

/// The seeds of one process, and the job that makes the samples of these alone, with their logical ids.
struct own_share {
  sample_job job;
  std::span<vertex_id const> seeds;
};

/// What a rank makes of a job of which each writes a file: equal numbers of trees, or of batches, one after another.
own_share share_of(job_part part, sample_job job, std::span<vertex_id const> seeds)
{
  std::int64_t const each = job.app == "khop" ? 1 : job.seeds_each();
  std::int64_t const samples = batches_of(std::ssize(seeds), each);
  walk_range const mine = walks_of(part, samples);
  auto& first_id = job.app == "khop" ? job.first_root : job.first_batch;
  (void)checked_sum(job.app == "khop" ? "--first-root: ids of seeds" : "--first-batch: numbers of batches", first_id,
                    samples);
  first_id += mine.first;
  auto const seeds_before = [&](std::int64_t sample) {
    return std::min(checked_product("--batch-size: seeds", sample, each), std::ssize(seeds));
  };
  std::int64_t const first = seeds_before(mine.first), end = seeds_before(mine.first + mine.size);
  return {std::move(job), seeds.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first))};
}

void sample_command::check_ranks(transport const& ranks, gpu_set const& gpus) const
{
  if (job.seeds_file == "-") {
    throw argument_error(
        fmt::format("--seeds -: started by mpirun as {} ranks, expected a file that all can open", ranks.size()));
  }
  if (gpus.size() > 1) { throw argument_error("--device: several GPUs for each rank, expected one: cuda"); }
  if (!(deadline > 0)) { throw argument_error(fmt::format("--deadline: {}, expected more than 0 seconds", deadline)); }
  if (!is_partition(source.path)) { return; }
  if (job.is_of_catalogue()) {
    throw argument_error(
        fmt::format("{}: a graph in parts, expected one that each rank has as a whole: of parts ranks make khop and "
                    "minibatch alone",
                    job.from_source() ? "--app-source" : "--app " + job.app));
  }
  if (!gpus.empty() && job.app == "khop") { sharded_khop_sampler::expect_gpus_take(job.khop()); }
  if (job.host_bytes() > 0) { throw argument_error("--memory: a graph in parts, expected none"); }
}

void sample_command::run() const
{
  stopwatch const overall;
  job.check();
  if (!output.ends_with(".npz") && !output.ends_with(".safetensors")) {
    throw argument_error(fmt::format("{}: unknown extension, expected .npz or .safetensors", output));
  }
  job.validate();  // before anything that takes time
  gpu_set const gpus = parse_devices(job.device);
  transport* const ranks = job_ranks();
  if (own_files && ranks == nullptr) {
    throw argument_error("--parts: one process, expected ranks that mpirun started");
  }
  if (ranks != nullptr) {
    check_ranks(*ranks, gpus);
    ranks->set_deadline(transport::seconds(deadline));
  }
  if (job.is_of_catalogue()) {
    run_catalogue(job, source, common, output, dtype, own_files);
    return;
  }
  std::string const gpu = describe_gpus(gpus);
  progress_bar bar(common.shown());
  cpu_exec const exec = beating(common.exec(bar), ranks);
  graph_of_ranks const on = read_for_ranks(source, job.device, exec);
  double const read_seconds = overall.seconds();
  auto const copies = gpus.empty() || on.part
                          ? std::vector<graph>()
                          : graph_on_gpus(*on.whole, gpus, job.graph_bytes(), job.more.graph_room.spread, job.visits());
  buffer<vertex_id> const seeds = job.seeds(on.facts.num_vertices, exec);
  if (ranks != nullptr) {
    expect_agreement(*ranks, {{"the graph", on.digest()}});
    if (!job.seeds_file.empty()) { expect_same_vertices("--seeds", seeds.span()); }
  }
  element_type const type = dtype.empty() ? vertex_element_type(on.facts.num_vertices) : parse_element_type(dtype);

  job_part const part = own_files ? job_part{ranks->rank(), ranks->size()} : job_part{};
  own_share const mine = share_of(part, job, seeds.span());
  std::string const written = own_files ? name_of_part(output, part) : output;
  metadata about{
      {"format", "tendril-samples"},      {"app", job.app},         {"params", mine.job.params_json().dump()},
      {"seed", std::to_string(job.seed)}, {"graph", on.facts.name}, {"version", TENDRIL_VERSION}};
  if (own_files) { about["part"] = to_string(part); }
  int const num_places = std::max(static_cast<int>(copies.size()), 1);
  request const what{{ranks, own_files, num_places}, on, copies, mine.job, mine.seeds, written, type, about};
  outcome made = job.app == "khop" ? sample_khop(what, exec, bar) : sample_minibatches(what, exec, bar);
  if (ranks != nullptr) {
    made.edges = sum_over(ranks, "edges", made.edges);
    made.sent_bytes = sum_over(ranks, "bytes", ranks->report().sent_bytes);
    made.sample_seconds = longest_of(ranks, "seconds of sampling", made.sample_seconds);
  }
  auto const& [edges, plan_seconds, sample_seconds, write_seconds, rule, read_bytes, sent_bytes] = made;
  bar.clear();
  double const seconds = overall.seconds();
  double const rate = sample_seconds > 0 ? static_cast<double>(edges) / sample_seconds : 0;

  if (common.json) {
    json document{{"graph", describe_json(on.facts)}, {"app", job.app},
                  {"params", job.params_json()},      {"seed", job.seed},
                  {"num_seeds", seeds.size()},        {"sampled_edges", edges}};
    if (!rule.empty()) { document["rule"] = rule; }
    document.update(json{{"output", written},
                         {"output_bytes", file_bytes(written)},
                         {"device", job.device},
                         {"threads", common.num_threads()},
                         {"read_seconds", read_seconds},
                         {"plan_seconds", plan_seconds},
                         {"sample_seconds", sample_seconds},
                         {"write_seconds", write_seconds},
                         {"seconds", seconds},
                         {"edges_per_second", rate},
                         {"peak_memory_bytes", peak_memory()},
                         {"version", TENDRIL_VERSION}});
    if (!gpu.empty()) { document["device_name"] = gpu; }
    if (job.host_bytes() > 0) { document["read_bytes"] = read_bytes; }
    if (ranks != nullptr) {
      document["ranks"] = {{"size", ranks->size()}, {"sharded", on.part.has_value()}, {"sent_bytes", sent_bytes}};
    }
    if (!copies.empty()) {
      if (auto const placement = placement_json(copies.front())) { document["placement"] = *placement; }
    }
    print(document);
  } else if (!common.quiet) {
    print(fmt::format(
        "graph   {}\njob     {}: {}{}\n{}{}{}edges   {} in {} of sampling: {} edges/s\n{}output  {}"
        "\ntotal   {}, {} of "
        "memory at most",
        describe(on.facts), counted(seeds.size(), "seed", "seeds"), job.describe(),
        rule.empty() ? std::string() : fmt::format(" ({})", rule),
        gpu.empty() ? std::string() : fmt::format("device  {}\n", gpu),
        copies.empty() ? std::string() : placement_line(copies.front()),
        ranks_line(ranks, on.part.has_value(), sent_bytes), grouped(edges), duration(sample_seconds), si(rate),
        time_line({{"reading", read_seconds},
                   {"planning", plan_seconds},
                   {"sampling with its tables", sample_seconds},
                   {"writing", write_seconds}}),
        own_files ? fmt::format("{} and those of the other ranks", written)
                  : fmt::format("{} ({})", written, bytes_text(file_bytes(written))),
        duration(seconds), bytes_text(peak_memory())));
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
                   "khop: rule that chooses an edge: auto, uniform, scan, alias or its [auto]")
      ->type_name("RULE");
  add_table_bytes(*verb, command->job.table_bytes, "khop, minibatch: ");
  verb->add_option("--seed", command->job.seed, "Seed; the same seed gives the same samples [0]")
      ->check(natural())
      ->type_name("S");
  verb->add_option("--dtype", command->dtype, "Type of vertex ids: int32 or int64 [int32 if all ids fit]")
      ->type_name("TYPE");
  verb->add_option("--device", command->job.device,
                   "Device: cpu, cuda, cuda:N, several GPUs as in cuda:0,1, or cuda:all [cpu]")
      ->type_name("DEVICE");
  command->job.add_to(*verb);
  verb->add_flag("--parts", command->own_files,
                 "Under mpirun: one file a rank, OUT with .part-I-of-N before its extension [one file of all ranks]")
      ->group("Ranks");
  verb->add_option("--deadline", command->deadline,
                   "Under mpirun: seconds without a word from a rank after which the others give up [300]")
      ->type_name("SECONDS")
      ->group("Ranks");
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
      "  tendril sample graph.npz -o trees.npz --fanouts 25,10 --device cuda:all  on every GPU of the machine\n"
      "  mpirun -n 4 tendril sample parts -o trees.npz --fanouts 25,10   a part of the graph for each of four ranks\n"
      "  mpirun -n 4 tendril sample parts -o trees.npz --fanouts 25,10 --parts   one file a rank, on its own disk\n"
      "  mpirun -n 2 tendril sample parts -o trees.npz --fanouts 25,10 --device cuda   on a GPU of each rank\n"
      "  mpirun -n 4 tendril sample graph.npz -o layers.npz --app ladies   the whole graph for each of four ranks\n"
      "  tendril sample huge.safetensors -o trees.npz --fanouts 10,5 --memory 16G  a mapped graph that memory does not "
      "hold\n"
      "  tendril sample graph.npz -o batches.npz --app minibatch --fanouts 15,10,5 --batch-size 512\n"
      "  tendril sample graph.npz -o batches.npz --app minibatch --fanouts 10,10,10 --frontier all --device cuda\n"
      "  tendril sample graph.npz -o layers.safetensors --app ladies --layers 5 --layer-size 64 --num-seeds 5120\n"
      "  tendril sample graph.npz -o parts.safetensors --app cluster --partition metis --clusters 1000\n"
      "  tendril sample graph.npz -o subgraphs.safetensors --app saint-walk --budget 2000 --coefficients 50\n"
      "  tendril sample graph.npz -o mine.safetensors --app-source sampler.cpp --param tries=3 --num-seeds 1024");
  verb->callback([command] { command->run(); });
}

}  // namespace tendril::cli
