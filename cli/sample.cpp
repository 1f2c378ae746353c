// tendril sample: neighbourhoods of seeds, as trees (khop) or as mini-batches for GNNs, into one file of arrays. The other
// applications: catalogue.hpp.

#include <algorithm>
#include <memory>
#include <optional>
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

#include "common.hpp"
#include "graph_of_ranks.hpp"
#include "help.hpp"
#include "ranks.hpp"
#include "sample_job.hpp"
#include "sample_request.hpp"
#include "share_samples.hpp"
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
  double deadline = transport::usual_deadline.count();

  void run() const;

 private:
  /// Checks what ranks can't do. @throws argument_error.
  void check_ranks(transport const& ranks, gpu_set const& gpus) const;
};

using file_sampler = std::optional<khop_file_sampler>;  // with --memory

/// What makes trees, besides samplers that need no state.
struct tree_makers {
  tree_makers(request const& what, khop_params const& params, cpu_exec const& exec)
  {
    if (!what.on.part) { return; }
    if (gpu_set const gpus = parse_devices(what.job.device); !gpus.empty()) {
      gpu.emplace(gpus);
      in_parts.emplace(*what.on.part, params, *what.ranks, *gpu);
    } else {
      in_parts.emplace(*what.on.part, params, *what.ranks, exec);
    }
  }

  file_sampler in_file;
  std::optional<sharded_khop_sampler> in_parts;
  std::optional<gpu_exec> gpu;  // of in_parts
};

/// Copies trees of a GPU to the host.
khop_trees fetched(khop_trees trees, gpu_exec const& gpu)
{
  for (auto& hop : trees.hops) {
    hop = {hop.fanout, host_copy(hop.vertices, gpu), host_copy(hop.edges, gpu), host_copy(hop.offsets, gpu)};
  }
  return trees;
}

/// The trees of n seeds from `first` on, in host memory, wherever they are made.
khop_trees make_trees(request const& what, khop_params const& params, tree_makers& makers, int place,
                      std::int64_t first, std::int64_t n, cpu_exec const& exec)
{
  auto const seeds = what.seeds.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(n));
  std::int64_t const root = what.job.first_root + first;
  if (makers.gpu) {
    auto const there = copy_to_gpu(seeds, *makers.gpu);
    return fetched(makers.in_parts->sample(there.span(), *makers.gpu, root, what.job.edges), *makers.gpu);
  }
  if (makers.in_parts) { return makers.in_parts->sample(seeds, root, what.job.edges); }
  if (makers.in_file) { return makers.in_file->sample(seeds, exec, root, what.job.edges); }
  if (!what.on_gpu()) { return khop_sample(what.whole(), seeds, params, exec, root, what.job.edges); }
  gpu_exec const gpu = what.exec(place);
  auto const there = copy_to_gpu(seeds, gpu);
  graph const& copy = what.copies[static_cast<std::size_t>(place)];
  return fetched(khop_sample(copy, there.span(), params, gpu, root, what.job.edges), gpu);
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

/// Seeds of a batch of trees, of which one is made while another is written.
std::int64_t batch_rows(sample_job const& job, std::int64_t slots_of_tree, std::int64_t parents_of_tree)
{
  std::int64_t const bytes_of_tree = checked_product("--fanouts: bytes of a tree", slots_of_tree, job.edges ? 12 : 4);
  std::int64_t const memory = job.host_bytes();
  if (memory == 0) { return batch_bytes / bytes_of_tree; }
  // Half is the graph's, and a quarter the tables' of weights. The order of a hop takes 12 bytes for each vertex of it.
  std::int64_t const room = job.weighted ? memory / 4 : memory / 2;
  return room / checked_sum("--fanouts: bytes of a tree",
                            checked_product("--fanouts: bytes of a tree", 2, bytes_of_tree),
                            checked_product("--fanouts: bytes of a tree", 12, parents_of_tree));
}

/// Trees of fixed shape: arrays [seeds, fanout, …] of known sizes, made and written batch by batch.
outcome sample_trees(request const& what, khop_params const& params, cpu_exec const& exec, progress_bar& bar)
{
  auto const num_seeds = static_cast<std::int64_t>(what.seeds.size());
  std::vector<array_spec> arrays{{"seeds", what.vertices, {num_seeds}}};
  std::vector<std::int64_t> shape{num_seeds};
  std::int64_t slots = 1, slots_of_tree = 0, parents_of_tree = 0;
  for (std::size_t hop = 0; hop < params.fanouts.size(); ++hop) {
    shape.push_back(params.fanouts[hop]);
    parents_of_tree = slots;
    slots = checked_product("--fanouts: slots of a hop", slots, params.fanouts[hop]);
    slots_of_tree = checked_sum("--fanouts: slots of a tree", slots_of_tree, slots);
    arrays.push_back({hop_name(hop), what.vertices, shape});
    if (what.job.edges) { arrays.push_back({hop_name(hop, "_edges"), element_type::int64, shape}); }
  }
  std::optional<array_writer> writer;
  if (what.writes()) {
    writer.emplace(what.output, arrays, what.about);
    writer->append(0, what.seeds, exec);
  }

  std::int64_t const rows =
      what.piece(num_seeds, std::max<std::int64_t>(batch_rows(what.job, slots_of_tree, parents_of_tree), 1));
  cpu_exec quiet = exec;
  quiet.on_progress = {};  // the bar belongs to this thread
  tree_makers makers(what, params, quiet);
  if (what.job.host_bytes() > 0) {
    makers.in_file.emplace(what.whole(), params, std::max<std::int64_t>(what.job.host_bytes() / 2, 2));
  }
  outcome result;
  place_seconds sampled(what.num_places());
  share_samples(
      what, num_seeds, rows,
      [&](int place, std::int64_t first, std::int64_t n) {
        stopwatch const sampling;
        khop_trees trees = make_trees(what, params, makers, place, first, n, quiet);
        sampled.add(place, sampling.seconds());
        return trees;
      },
      [&](std::int64_t first, std::int64_t n, khop_trees const& trees) {
        stopwatch const writing;
        result.edges += count_filled(trees);
        append_hops(*writer, trees, what.job.edges, quiet);
        result.write_seconds += writing.seconds();
        bar.update("sampling", first + n, num_seeds, "seeds");
      });
  result.sample_seconds = sampled.longest();
  stopwatch const committing;
  if (writer) { writer->commit(); }
  result.write_seconds += committing.seconds();
  if (makers.in_file) { result.read_bytes = makers.in_file->read_bytes(); }
  return result;
}

template <class T>
buffer<T> joined(buffer<T> const& first, buffer<T> const& second)
{
  buffer<T> out(first.size() + second.size());
  std::copy(second.begin(), second.end(), std::copy(first.begin(), first.end(), out.begin()));
  return out;
}

/// Offsets begin at 0 in both parts.
buffer<std::int64_t> joined_offsets(buffer<std::int64_t> const& first, buffer<std::int64_t> const& second)
{
  buffer<std::int64_t> out(first.size() + second.size() - 1);
  auto const at = std::copy(first.begin(), first.end(), out.begin());
  std::transform(second.begin() + 1, second.end(), at,
                 [base = first[first.size() - 1]](std::int64_t offset) { return base + offset; });
  return out;
}

/// Adds the trees of later seeds.
void join(khop_trees& all, khop_trees&& more)
{
  if (all.hops.empty()) {
    all = std::move(more);
    return;
  }
  for (std::size_t h = 0; h < all.hops.size(); ++h) {
    auto& hop = all.hops[h];
    auto const& part = more.hops[h];
    if (!hop.offsets.empty()) { hop.offsets = joined_offsets(hop.offsets, part.offsets); }
    hop.vertices = joined(hop.vertices, part.vertices);
    hop.edges = joined(hop.edges, part.edges);
  }
}

/// Trees with all neighbours of some hop: their sizes are known only when they have been made.
outcome sample_ragged_trees(request const& what, khop_params const& params, cpu_exec const& exec)
{
  auto const num_seeds = static_cast<std::int64_t>(what.seeds.size());
  stopwatch const sampling;
  tree_makers makers(what, params, exec);
  khop_trees trees;
  share_samples(
      what, num_seeds, what.piece(num_seeds, num_seeds),
      [&](int place, std::int64_t first, std::int64_t n) {
        return make_trees(what, params, makers, place, first, n, exec);
      },
      [&](std::int64_t, std::int64_t, khop_trees&& part) { join(trees, std::move(part)); });
  outcome result;
  result.sample_seconds = sampling.seconds();
  if (!what.writes()) { return result; }
  result.edges = count_filled(trees);

  stopwatch const writing;
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
  result.write_seconds = writing.seconds();
  return result;
}

/// Empty of a graph in parts, whose sampler plans for itself.
std::string rule_of(request const& what, khop_params const& params, std::int64_t num_seeds, cpu_exec const& exec)
{
  if (what.on.part) { return {}; }
  return std::string(to_string((what.on_gpu() ? plan_khop(what.copies.front(), params, num_seeds, what.exec(0))
                                              : plan_khop(what.whole(), params, num_seeds, exec))
                                   .rule));
}

outcome sample_khop(request const& what, cpu_exec const& exec, progress_bar& bar)
{
  khop_params const params = what.job.khop();
  // Says what is wrong, whatever the number of seeds, before a file is begun.
  auto const num_seeds = static_cast<std::int64_t>(what.seeds.size());
  (void)checked_sum("--first-root: ids of seeds", what.job.first_root, num_seeds);
  stopwatch const planning;
  std::string const rule = rule_of(what, params, num_seeds, exec);
  double const plan_seconds = planning.seconds();
  bool const ragged = std::count(params.fanouts.begin(), params.fanouts.end(), -1) > 0;
  if (ragged && what.job.host_bytes() > 0) {
    throw argument_error("--memory: --fanouts has -1, expected numbers of neighbours");
  }
  outcome result = ragged ? sample_ragged_trees(what, params, exec) : sample_trees(what, params, exec, bar);
  result.rule = rule;
  result.plan_seconds = plan_seconds;
  return result;
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
  if (!gpus.empty() && job.app == "khop") { sharded_khop_sampler::expect_gpus_take(job.khop()); }
  if (job.host_bytes() > 0) { throw argument_error("--memory: a graph in parts, expected none"); }
}

/// Tells lists of seeds apart.
std::string digest_of(buffer<vertex_id> const& seeds)
{
  std::uint64_t hash = 0xcbf29ce484222325;
  for (vertex_id const v : seeds.span()) { hash = (hash ^ v) * 0x100000001b3; }
  return fmt::format("{} with the hash {:016x}", counted(seeds.size(), "vertex", "vertices"), hash);
}

/// What ranks sent each other, for people.
std::string ranks_line(transport const* ranks, bool sharded, std::int64_t sent_bytes)
{
  if (ranks == nullptr) { return {}; }
  return fmt::format("ranks   {}, each with {}; {} sent in all\n", ranks->size(),
                     sharded ? "a part of the graph" : "the whole graph", bytes_text(sent_bytes));
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
    if (transport const* const ranks = job_ranks()) {
      throw argument_error(
          fmt::format("--app {}: started by mpirun as {} ranks, expected one process: ranks share khop and "
                      "minibatch",
                      job.from_source() ? "of --app-source" : job.app, ranks->size()));
    }
    run_catalogue(job, source, common, output, dtype);
    return;
  }
  gpu_set const gpus = parse_devices(job.device);
  transport* const ranks = job_ranks();
  if (ranks != nullptr) {
    check_ranks(*ranks, gpus);
    ranks->set_deadline(transport::seconds(deadline));
  }
  std::string const gpu = describe_gpus(gpus);
  progress_bar bar(common.shown());
  cpu_exec exec = common.exec(bar);
  if (ranks != nullptr) {
    exec.on_progress = [ranks, draw = exec.on_progress](progress const& report) {
      if (draw) { draw(report); }
      ranks->beat();
    };
  }
  graph_of_ranks const on = read_for_ranks(source, job.device, exec);
  double const read_seconds = overall.seconds();
  auto const copies = gpus.empty() || on.part
                          ? std::vector<graph>()
                          : graph_on_gpus(*on.whole, gpus, job.graph_bytes(), job.more.graph_room.spread, job.visits());
  buffer<vertex_id> const seeds = job.seeds(on.facts.num_vertices, exec);
  if (ranks != nullptr) {
    expect_agreement(*ranks, {{"the version", TENDRIL_VERSION},
                              {"the graph", on.digest()},
                              {"the output", output},
                              {"the job", fmt::format("{}, {}, seed {}", job.app, job.params_json().dump(), job.seed)},
                              {"the seeds", digest_of(seeds)}});
  }
  element_type const type = dtype.empty() ? vertex_element_type(on.facts.num_vertices) : parse_element_type(dtype);

  metadata const about{
      {"format", "tendril-samples"},      {"app", job.app},         {"params", job.params_json().dump()},
      {"seed", std::to_string(job.seed)}, {"graph", on.facts.name}, {"version", TENDRIL_VERSION}};
  request const what{on, copies, job, seeds.span(), output, type, about, ranks};
  outcome made = job.app == "khop" ? sample_khop(what, exec, bar) : sample_minibatches(what, exec, bar);
  if (ranks != nullptr) {
    ranks->barrier("the file is complete");
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
    document.update(json{{"output", output},
                         {"output_bytes", file_bytes(output)},
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
        "graph   {}\njob     {}: {}{}\n{}{}{}edges   {} in {} of sampling: {} edges/s\n{}output  {} "
        "({})\ntotal   {}, {} of "
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
        output, bytes_text(file_bytes(output)), duration(seconds), bytes_text(peak_memory())));
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
  verb->add_option("--deadline", command->deadline,
                   "Of ranks: seconds of silence after which a rank counts as lost [300]")
      ->type_name("SECONDS");
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
      "  mpirun -n 2 tendril sample parts -o trees.npz --fanouts 25,10 --device cuda   on a GPU of each rank\n"
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
