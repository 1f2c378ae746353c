// tendril walk: random walks into a file, in batches, so that memory does not grow with their number.

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/gpu.hpp>
#include <tendril/partition.hpp>
#include <tendril/sharded_walk.hpp>
#include <tendril/transport.hpp>
#include <tendril/walk_parts.hpp>
#include <tendril/write_walks.hpp>

#include "common.hpp"
#include "graph_of_ranks.hpp"
#include "help.hpp"
#include "prepared_walks.hpp"
#include "ranks.hpp"
#include "text.hpp"
#include "verbs.hpp"
#include "walk_job.hpp"
#include "walk_output.hpp"

namespace tendril::cli {
namespace {

struct walk_command {
  graph_source source;
  common_options common;
  walk_job job;
  std::string output;
  std::string dtype;
  std::string order = "rows";
  std::string count;
  std::string part;
  bool own_files = false;
  double deadline = transport::usual_deadline.count();

  /// What --part says; nothing without it. @throws argument_error.
  [[nodiscard]] std::optional<job_part> chosen_part() const;
  /// Checks what ranks can't do. @throws argument_error.
  void check_ranks(transport const& ranks) const;
  /// The part of the job that this process makes: --part, or a rank's.
  [[nodiscard]] std::optional<job_part> part_here() const;
  [[nodiscard]] bool is_ragged() const { return order == "ragged"; }

  void run() const;

 private:
  /// Checks everything that needs no graph. @throws argument_error.
  void check() const;
  [[nodiscard]] prepared_walks prepare(graph_of_ranks& on, sharded_walk_report& sharded, cpu_exec const& exec) const;
  [[nodiscard]] std::unique_ptr<walk_output> open(prepared_walks const& walks, graph_facts const& facts,
                                                  std::optional<vertex_range> const& vertices_here) const;
  /// What the file holds: "int32 [100, 81]".
  [[nodiscard]] std::string contents(prepared_walks const& walks, graph_facts const& facts, std::int64_t num_walks,
                                     std::int64_t steps) const;
  [[nodiscard]] walk_stream_report stream(prepared_walks const& walks, walk_output& out, progress_bar& bar,
                                          cpu_exec const& exec) const;
};

std::optional<job_part> walk_command::chosen_part() const
{
  if (part.empty()) { return std::nullopt; }
  try {
    return parse_job_part(part);
  } catch (argument_error const& failure) {
    throw argument_error(fmt::format("--part: {}", failure.what()));
  }
}

std::optional<job_part> walk_command::part_here() const
{
  transport const* const ranks = job_ranks();
  return ranks == nullptr ? chosen_part() : job_part{ranks->rank(), ranks->size()};
}

void walk_command::check_ranks(transport const& ranks) const
{
  if (!part.empty()) {
    throw argument_error(fmt::format("--part: started by mpirun as {} ranks, expected one process", ranks.size()));
  }
  if (is_partition(source.path)) {
    if (job.gpus().size() > 1) {
      throw argument_error(
          "--device: several GPUs for a rank of a graph in parts, expected cpu, or cuda for one GPU a rank");
    }
    if (job.is_multidim()) { throw argument_error("--app multidim: a graph in parts, expected another application"); }
    if (job.host_bytes() > 0) { throw argument_error("--memory: a graph in parts, expected none"); }
    if (is_ragged()) { throw argument_error("--order ragged: a graph in parts, expected rows"); }
  }
  if (!(deadline > 0)) { throw argument_error(fmt::format("--deadline: {}, expected more than 0 seconds", deadline)); }
}

std::map<std::string, std::string> file_metadata(walk_job const& job, prepared_walks const& walks,
                                                 std::int64_t first_walk, std::string const& graph)
{
  std::map<std::string, std::string> metadata = walks.metadata;
  metadata.insert({{"format", "tendril-walks"},
                   {"app", job.app},
                   {"params", walks.params.dump()},
                   {"seed", std::to_string(job.seed)},
                   {"first_walk", std::to_string(first_walk)},
                   {"graph", graph},
                   {"version", TENDRIL_VERSION}});
  return metadata;
}

/// @throws argument_error if the walks or their file can't be ragged.
void expect_ragged(walk_job const& job, walk_format format, std::string const& output)
{
  if (format != walk_format::safetensors) {
    throw argument_error(fmt::format("--order ragged: {}, expected a .safetensors file", output));
  }
  expect_app(job.is_multidim(), "--order ragged", "another application", job.app);
  if (job.dead_end != "stop") {
    throw argument_error(fmt::format("--order ragged: --dead-end is {}, expected stop", job.dead_end));
  }
}

/// @throws argument_error if the walks can't be counted, or their counts not be written.
void expect_counts(walk_command const& command)
{
  bool const to_npy = command.output.ends_with(".npy"), to_safetensors = command.output.ends_with(".safetensors");
  if (!to_npy && !to_safetensors) {
    throw argument_error(fmt::format("--count: {}, expected a .npy or .safetensors file", command.output));
  }
  expect_app(command.job.is_multidim(), "--count", "another application", command.job.app);
  if (command.is_ragged()) { throw argument_error("--order ragged: --count is given, expected rows"); }
  if (!command.dtype.empty()) { throw argument_error("--dtype: --count is given, whose numbers are int64"); }
  if (command.own_files) { throw argument_error("--parts: --count is given, expected one file of all ranks"); }
}

/// Of all ranks, or of this process.
struct walk_totals {
  std::int64_t steps = 0, moved = 0, moved_bytes = 0, sent_bytes = 0, questions = 0;
  double walk_seconds = 0, sink_seconds = 0;
};

/// A line of the summary; empty if no region passed.
std::string regions_line(walk_stream_report const& made)
{
  if (made.region_walks == 0) { return {}; }
  return fmt::format("regions {} on the GPU while {} of lists passed through it\n",
                     counted(made.region_walks, "walk", "walks"), bytes_text(made.region_bytes));
}

void walk_command::check() const
{
  bool const to_stdout = output == "-";
  if (to_stdout && common.json) { throw argument_error("--json: standard output is taken by -o -, expected a file"); }
  walk_format const format = walk_format_of(output);
  if (!dtype.empty()) { (void)parse_element_type(dtype); }
  (void)job.gpu_bytes();
  (void)chosen_part();
  if (transport const* const ranks = job_ranks()) {
    check_ranks(*ranks);
  } else if (own_files) {
    throw argument_error("--parts: one process, expected ranks that mpirun started, or --part I/N");
  }
  if (is_ragged() && job.host_bytes() > 0) { throw argument_error("--memory: --order is ragged, expected rows"); }
  if (is_ragged()) { expect_ragged(job, format, output); }
  if (!count.empty()) { expect_counts(*this); }
  job.validate();
}

prepared_walks walk_command::prepare(graph_of_ranks& on, sharded_walk_report& sharded, cpu_exec const& exec) const
{
  if (on.part) { return prepare_sharded_walks(job, std::move(*on.part), on.facts, *job_ranks(), sharded, exec); }
  job_part const mine = part_here().value_or(job_part{});
  return job.is_multidim() ? prepare_multidim_walks(job, mine, *on.whole, exec)
                           : prepare_plain_walks(job, mine, *on.whole, exec);
}

std::unique_ptr<walk_output> walk_command::open(prepared_walks const& walks, graph_facts const& facts,
                                                std::optional<vertex_range> const& vertices_here) const
{
  transport* const ranks = job_ranks();
  bool const one_of_ranks = ranks != nullptr && !own_files;
  if (!count.empty()) {
    auto metadata = file_metadata(job, walks, one_of_ranks ? job.first_walk : walks.stream.first_walk, facts.name);
    metadata["format"] = "tendril-walk-counts";
    if (auto const only = chosen_part()) { metadata["part"] = to_string(*only); }
    metadata["num_walks"] = std::to_string(one_of_ranks ? walks.job_walks : walks.num_walks);
    return file_of_counts(output, parse_name<walk_count>("--count", count), facts.num_vertices, vertices_here, metadata,
                          ranks);
  }
  walk_file_info info;
  info.num_walks = one_of_ranks ? walks.job_walks : walks.num_walks;
  info.length = walks.row - 1;
  info.num_vertices = facts.num_vertices;
  if (!dtype.empty()) { info.type = parse_element_type(dtype); }
  info.ragged = is_ragged();
  info.metadata = file_metadata(job, walks, one_of_ranks ? job.first_walk : walks.stream.first_walk, facts.name);
  if (one_of_ranks) { return together(output, info, walks.range, *ranks); }
  return alone(ranks != nullptr ? name_of_part(output, *part_here()) : output, info, part_here());
}

walk_stream_report walk_command::stream(prepared_walks const& walks, walk_output& out, progress_bar& bar,
                                        cpu_exec const& exec) const
{
  transport* const ranks = job_ranks();
  cpu_exec writing = exec;
  writing.on_progress = {};  // the bar belongs to this thread
  walk_stream_job made = walks.stream;
  out.receive(made, writing);
  auto const draw = [&, all = ranks != nullptr ? walks.job_walks : walks.num_walks](std::int64_t done) {
    bar.update("walking", done, all, "steps", static_cast<double>(walks.length));
  };
  if (ranks != nullptr) {
    ranks->on_wait = [&, draw] { draw(ranks->done_by_all()); };
    made.on_progress = [&, draw](progress const& report) {
      ranks->beat(report.done);
      draw(ranks->done_by_all());
    };
  } else if (bar.enabled()) {
    made.on_progress = [draw](progress const& report) { draw(report.done); };
  }
  walk_stream_report report = walks.run(made);
  if (ranks != nullptr) { ranks->beat(walks.num_walks); }
  out.commit(writing);
  if (ranks != nullptr) { ranks->on_wait = {}; }
  bar.clear();
  return report;
}

std::string walk_command::contents(prepared_walks const& walks, graph_facts const& facts, std::int64_t num_walks,
                                   std::int64_t steps) const
{
  if (!count.empty()) { return fmt::format("{} of each vertex, int64 [{}]", count, facts.num_vertices); }
  std::string const type = dtype.empty() ? std::string(to_string(vertex_element_type(facts.num_vertices))) : dtype;
  if (is_ragged()) { return fmt::format("{} [{}]", type, steps + num_walks); }
  return fmt::format("{} [{}, {}]", type, num_walks, walks.row);
}

/// What ranks sent each other, for people.
std::string ranks_line(transport const* ranks, walk_totals const& totals, bool sharded)
{
  if (ranks == nullptr) { return {}; }
  if (!sharded) { return fmt::format("ranks   {}, each with the whole graph\n", ranks->size()); }
  return fmt::format("ranks   {}, each with a part of the graph; {} moved ({} bytes each), {} sent in all, {}\n",
                     ranks->size(), counted(totals.moved, "walker", "walkers"),
                     totals.moved > 0 ? totals.moved_bytes / totals.moved : 0, bytes_text(totals.sent_bytes),
                     counted(totals.questions, "question", "questions"));
}

void walk_command::run() const
{
  stopwatch const overall;
  check();
  transport* const ranks = job_ranks();
  if (ranks != nullptr) { ranks->set_deadline(transport::seconds(deadline)); }
  std::string const gpu = describe_gpus(job.gpus());

  progress_bar bar(common.shown());
  cpu_exec const exec = beating(common.exec(bar), ranks);
  graph_of_ranks on = read_for_ranks(source, job.device, exec);
  double const read_seconds = overall.seconds();
  if (ranks != nullptr) { expect_agreement(*ranks, {{"the graph", on.digest()}}); }

  stopwatch const planning;
  bool const sharded = on.part.has_value();
  std::optional<vertex_range> vertices_here;
  if (sharded) { vertices_here = {on.part->first_vertex(), on.part->num_vertices()}; }
  sharded_walk_report moves;
  prepared_walks const walks = prepare(on, moves, exec);
  if (ranks != nullptr) {
    expect_agreement(*ranks, {{"the job", fmt::format("{}, {}: {}", counted(walks.job_walks, "walk", "walks"),
                                                      walks.description, walks.params.dump())}});
  }
  double const plan_seconds = planning.seconds();

  std::unique_ptr<walk_output> const out = open(walks, on.facts, vertices_here);
  walk_stream_report const made = stream(walks, *out, bar, exec);
  walk_totals totals;
  totals.steps = sum_over(ranks, "steps", made.steps);
  totals.moved = sum_over(ranks, "walkers that moved", moves.moved);
  totals.moved_bytes = sum_over(ranks, "bytes of walkers", moves.moved_bytes);
  totals.sent_bytes = sum_over(ranks, "bytes", moves.sent_bytes);
  totals.questions = sum_over(ranks, "questions", moves.questions);
  totals.walk_seconds = longest_of(ranks, "seconds of walking", made.walk_seconds);
  totals.sink_seconds = longest_of(ranks, "seconds of writing", made.sink_seconds);
  double const seconds = overall.seconds();
  double const rate = totals.walk_seconds > 0 ? static_cast<double>(totals.steps) / totals.walk_seconds : 0;

  bool const to_stdout = output == "-";
  auto const only = ranks == nullptr ? part_here() : std::nullopt;
  std::int64_t const num_walks = ranks != nullptr ? walks.job_walks : walks.num_walks;
  bool const one_file = ranks == nullptr || !own_files;
  std::string const written = one_file ? output : name_of_part(output, *part_here());
  if (common.json) {
    json summary{{"graph", describe_json(on.facts)},
                 {"app", job.app},
                 {"params", walks.params},
                 {"seed", job.seed},
                 {"first_walk", ranks != nullptr ? job.first_walk : walks.stream.first_walk},
                 {"num_walks", num_walks},
                 {"steps", totals.steps}};
    if (only) { summary["part"] = to_string(*only); }
    if (walks.plan) { summary["plan"] = plan_json(*walks.plan); }
    summary.update(json{{"output", written},
                        {"output_bytes", file_bytes(written)},
                        {"order", order},
                        {"count", count.empty() ? json(nullptr) : json(count)},
                        {"device", job.device},
                        {"threads", common.num_threads()},
                        {"read_seconds", read_seconds},
                        {"plan_seconds", plan_seconds},
                        {"sample_seconds", totals.walk_seconds},
                        {"write_seconds", totals.sink_seconds},
                        {"seconds", seconds},
                        {"steps_per_second", rate},
                        {"peak_memory_bytes", peak_memory()},
                        {"version", TENDRIL_VERSION}});
    if (ranks != nullptr) {
      summary["ranks"] = {{"size", ranks->size()},
                          {"sharded", sharded},
                          {"supersteps", moves.supersteps},
                          {"moved", totals.moved},
                          {"moved_bytes", totals.moved_bytes},
                          {"sent_bytes", totals.sent_bytes},
                          {"questions", totals.questions}};
    }
    if (auto const placement = placement_json(walks.there)) { summary["placement"] = *placement; }
    if (walks.there.placed() != nullptr) {
      summary.update(json{{"region_walks", made.region_walks}, {"region_bytes", made.region_bytes}});
    }
    if (walks.stream.graph_bytes > 0) { summary.update(json{{"read_bytes", made.read_bytes}}); }
    if (!gpu.empty()) { summary["device_name"] = gpu; }
    if (!gpu.empty() && !sharded) { summary["copy_seconds"] = made.copy_seconds; }
    print(summary);
  } else if (!common.quiet) {
    bool const is_text = walk_format_of(output) == walk_format::text;
    std::string const summary = fmt::format(
        "graph   {}\njob     {}{}, {}\n{}{}{}steps   {} in {} of walking: {} steps/s\n{}output  {}\ntotal   {}, {} of "
        "memory at most\n",
        describe(on.facts), only ? fmt::format("part {}: ", to_string(*only)) : std::string(),
        counted(num_walks, "walk", "walks"), walks.description,
        gpu.empty() ? std::string()
        : sharded   ? fmt::format("device  {}, one for each rank\n", gpu)
                    : fmt::format("device  {}: {} walking, {} copying, {} writing at once\n", gpu,
                                  duration(made.walk_seconds), duration(made.copy_seconds), duration(made.sink_seconds)),
        placement_line(walks.there) + regions_line(made), ranks_line(ranks, totals, sharded), grouped(totals.steps),
        duration(totals.walk_seconds), si(rate),
        time_line({{"reading", read_seconds},
                   {"planning and tables", plan_seconds},
                   {"walking", totals.walk_seconds},
                   {"writing", totals.sink_seconds}}),
        to_stdout   ? std::string("standard output")
        : !one_file ? fmt::format("{} and those of the other ranks", written)
                    : fmt::format("{} ({}{})", output, bytes_text(file_bytes(output)),
                                  is_text ? std::string() : ", " + contents(walks, on.facts, num_walks, totals.steps)),
        duration(seconds), bytes_text(peak_memory()));
    std::fputs(summary.c_str(), to_stdout ? stderr : stdout);
  }
}

}  // namespace

void add_walk(CLI::App& application)
{
  auto command = std::make_shared<walk_command>();
  CLI::App* const verb = application.add_subcommand("walk", "Random walks from every vertex, or from chosen starts");
  command->source.add_to(*verb);
  verb->add_option("-o,--output", command->output,
                   "Output file: .npy, .safetensors or .txt (one walk per line); -: text on standard output")
      ->required()
      ->type_name("OUT");
  verb->add_option("--app", command->job.app, "deepwalk, ppr, restart, node2vec, metapath or multidim [deepwalk]")
      ->type_name("APP");
  verb->add_flag("--weighted", command->job.weighted, "Choose edges in proportion to their weights");
  verb->add_option("--rule", command->job.rule,
                   "Rule that chooses an edge: auto, uniform, scan, reject, alias or its [auto]")
      ->type_name("RULE");
  add_table_bytes(*verb, command->job.table_bytes, "");
  verb->add_option("--seed", command->job.seed, "Seed; the same seed gives the same walks [0]")
      ->check(natural())
      ->type_name("S");
  verb->add_option("--dtype", command->dtype,
                   "Type of vertex ids in .npy and .safetensors: int32 or int64 [int32 if all ids fit]")
      ->type_name("TYPE");
  verb->add_option(
          "--order", command->order,
          "Layout of a .safetensors file: rows, or ragged (offsets and vertices, without the ends of rows) [rows]")
      ->check(one_of({"rows", "ragged"}))
      ->type_name("ORDER");
  verb->add_option("--count", command->count,
                   "Write how often walks come to each vertex (visits, starts included) or end there (ends), int64 "
                   "[vertices], instead of the walks: for .npy and .safetensors")
      ->check(one_of_names<walk_count>())
      ->type_name("WHAT");
  verb->add_option("--device", command->job.device,
                   "Device: cpu, cuda, cuda:N, several GPUs as in cuda:0,1, or cuda:all [cpu]")
      ->type_name("DEVICE");
  command->job.add_to(*verb);
  verb->add_option("--part", command->part,
                   "Make part I of N alone, I from 0 to N - 1: a contiguous range of the rows that the same command "
                   "without --part makes; 'tendril join' joins the parts [all rows]")
      ->type_name("I/N")
      ->group("Walks");
  verb->add_flag("--parts", command->own_files,
                 "Under mpirun: one file a rank, OUT with .part-I-of-N before its extension [one file of all ranks]")
      ->group("Ranks");
  verb->add_option("--deadline", command->deadline,
                   "Under mpirun: seconds without a word from a rank after which the others give up [300]")
      ->type_name("SECONDS")
      ->group("Ranks");
  command->common.add_to(*verb);
  verb->footer(
      "Without --starts and --num-starts, walk i of vertex v is row v * W + i. This number is also its logical id, so\n"
      "any split of the work (--part, --first-walk) gives the same walks. After the end of a walk its row holds -1; "
      "in\n"
      "text its line ends.\n"
      "\n"
      "Examples:\n"
      "  tendril walk graph.npz -o walks.npy                                   DeepWalk: 10 walks of 80 steps per "
      "vertex\n"
      "  tendril walk graph.npz -o walks.txt --app node2vec --p 2 --q 0.5      corpus for word2vec\n"
      "  tendril walk graph.npz -o ppr.npy --app ppr --stop-prob 0.2 --starts users.txt --walks 1000\n"
      "  tendril walk graph.npz -o ppr.safetensors --app ppr --order ragged    no row is longer than its walk\n"
      "  tendril walk graph.npz -o pagerank.npy --app ppr --count ends --walks 100   PageRank, 100 walks per vertex\n"
      "  tendril walk films.npz -o apa.npy --app metapath --metapath wrote,written_by --length 100\n"
      "  tendril walk graph.npz -o sets.npy --app multidim --roots 50 --num-starts 1000\n"
      "  tendril walk graph.npz -o walks.npy --device cuda                     the same bytes, computed on a GPU\n"
      "  tendril walk graph.npz -o walks.npy --device cuda:all                 on every GPU of the machine\n"
      "  tendril walk graph.npz -o walks.npy --device cuda --graph-memory 8G   what has no room there: host memory\n"
      "  tendril walk huge.safetensors -o walks.npy --memory 16G               a mapped graph that memory does not "
      "hold\n"
      "  tendril walk graph.npz -o - --num-starts 5 --length 8                 print five short walks\n"
      "  tendril walk graph.npz -o part-2.npy --part 2/8                       the third of eight parts: no other is "
      "needed\n"
      "  zcat edges.csv.gz | tendril walk - -o walks.npy                       a graph from standard input\n"
      "  mpirun -n 8 tendril walk graph.safetensors -o walks.npy               eight ranks, each with the whole graph\n"
      "  mpirun -n 8 tendril walk parts -o walks.npy                           each with its part (tendril partition)\n"
      "  mpirun -n 2 tendril walk parts -o walks.npy --device cuda             each with its part on a GPU of its own");
  verb->callback([command] { command->run(); });
}

}  // namespace tendril::cli
