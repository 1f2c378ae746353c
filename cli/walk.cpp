// tendril walk: random walks into a file, in batches, so that memory does not grow with their number.

#include <map>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/gpu.hpp>
#include <tendril/walk_parts.hpp>
#include <tendril/write_walks.hpp>

#include "common.hpp"
#include "help.hpp"
#include "prepared_walks.hpp"
#include "text.hpp"
#include "verbs.hpp"
#include "walk_job.hpp"

namespace tendril::cli {
namespace {

struct walk_command {
  graph_source source;
  common_options common;
  walk_job job;
  std::string output;
  std::string dtype;
  std::string order = "rows";
  std::string part;

  /// What --part says; nothing without it. @throws argument_error.
  [[nodiscard]] std::optional<job_part> chosen_part() const;

  void run() const;
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

std::map<std::string, std::string> file_metadata(walk_job const& job, prepared_walks const& walks, graph const& g,
                                                 std::string const& path)
{
  std::map<std::string, std::string> metadata = walks.metadata;
  metadata.insert({{"format", "tendril-walks"},
                   {"app", job.app},
                   {"params", walks.params.dump()},
                   {"seed", std::to_string(job.seed)},
                   {"first_walk", std::to_string(walks.stream.first_walk)},
                   {"graph", graph_name(g, path)},
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

/// A line of the summary; empty if no region passed.
std::string regions_line(walk_stream_report const& made)
{
  if (made.region_walks == 0) { return {}; }
  return fmt::format("regions {} on the GPU while {} of lists passed through it\n",
                     counted(made.region_walks, "walk", "walks"), bytes_text(made.region_bytes));
}

void walk_command::run() const
{
  stopwatch const overall;
  bool const to_stdout = output == "-";
  if (to_stdout && common.json) { throw argument_error("--json: standard output is taken by -o -, expected a file"); }
  walk_format const format = walk_format_of(output);  // before anything that takes time
  std::optional<element_type> type;
  if (!dtype.empty()) { type = parse_element_type(dtype); }
  (void)job.gpu_bytes();
  auto const only = chosen_part();
  bool const ragged = order == "ragged";
  if (ragged && job.host_bytes() > 0) { throw argument_error("--memory: --order is ragged, expected rows"); }
  if (ragged) { expect_ragged(job, format, output); }
  job.validate();
  std::optional<gpu_info> gpu;
  if (auto const device = job.gpu()) { gpu = describe_gpu(*device); }

  progress_bar bar(common.shown());
  cpu_exec const exec = common.exec(bar);
  graph const g = source.read_for(job.device, exec);
  double const read_seconds = overall.seconds();

  stopwatch const planning;
  prepared_walks const walks = job.is_multidim() ? prepare_multidim_walks(job, only.value_or(job_part{}), g, exec)
                                                 : prepare_plain_walks(job, only.value_or(job_part{}), g, exec);
  double const plan_seconds = planning.seconds();

  walk_file_info info;
  info.num_walks = walks.num_walks;
  info.length = walks.row - 1;
  info.num_vertices = g.num_vertices();
  info.type = type;
  info.ragged = ragged;
  info.metadata = file_metadata(job, walks, g, source.path);
  if (only) { info.metadata.insert({"part", to_string(*only)}); }
  walk_writer writer(output, info);
  cpu_exec writing = exec;
  writing.on_progress = {};  // the bar belongs to this thread
  walk_stream_job stream = walks.stream;
  if (ragged) {
    stream.ragged_sink = [&](ragged_rows const& rows) { writer.append(rows.offsets, rows.vertices, writing); };
  } else {
    stream.sink = [&](walk_rows const& rows) { writer.append(rows.vertices, rows.lengths, writing); };
  }
  if (bar.enabled()) {
    stream.on_progress = [&](progress const& report) {
      bar.update("walking", report.done, report.total, "steps", static_cast<double>(walks.length));
    };
  }
  walk_stream_report const made = walks.run(stream);
  writer.commit();
  bar.clear();
  double const seconds = overall.seconds();
  double const rate = made.walk_seconds > 0 ? static_cast<double>(made.steps) / made.walk_seconds : 0;

  if (common.json) {
    json summary{{"graph", describe_json(g, source.path)},
                 {"app", job.app},
                 {"params", walks.params},
                 {"seed", job.seed},
                 {"first_walk", walks.stream.first_walk},
                 {"num_walks", walks.num_walks},
                 {"steps", made.steps}};
    if (only) { summary["part"] = to_string(*only); }
    if (walks.plan) { summary["plan"] = plan_json(*walks.plan); }
    summary.update(json{{"output", output},
                        {"output_bytes", file_bytes(output)},
                        {"order", order},
                        {"device", job.device},
                        {"threads", common.num_threads()},
                        {"read_seconds", read_seconds},
                        {"plan_seconds", plan_seconds},
                        {"sample_seconds", made.walk_seconds},
                        {"write_seconds", made.sink_seconds},
                        {"seconds", seconds},
                        {"steps_per_second", rate},
                        {"peak_memory_bytes", peak_memory()},
                        {"version", TENDRIL_VERSION}});
    if (auto const placement = placement_json(walks.there)) { summary["placement"] = *placement; }
    if (walks.there.placed() != nullptr) {
      summary.update(json{{"region_walks", made.region_walks}, {"region_bytes", made.region_bytes}});
    }
    if (stream.graph_bytes > 0) { summary.update(json{{"read_bytes", made.read_bytes}}); }
    if (gpu) { summary.update(json{{"device_name", gpu->name}, {"copy_seconds", made.copy_seconds}}); }
    print(summary);
  } else if (!common.quiet) {
    std::string const summary = fmt::format(
        "graph   {}\njob     {}{}, {}\n{}{}steps   {} in {} of walking: {} steps/s\n{}output  {}\ntotal   {}, {} of "
        "memory at most\n",
        describe(g, source.path), only ? fmt::format("part {}: ", to_string(*only)) : std::string(),
        counted(walks.num_walks, "walk", "walks"), walks.description,
        gpu ? fmt::format("device  {}: {} walking, {} copying, {} writing at once\n", gpu->name,
                          duration(made.walk_seconds), duration(made.copy_seconds), duration(made.sink_seconds))
            : std::string(),
        placement_line(walks.there) + regions_line(made), grouped(made.steps), duration(made.walk_seconds), si(rate),
        time_line({{"reading", read_seconds},
                   {"planning and tables", plan_seconds},
                   {"walking", made.walk_seconds},
                   {"writing", made.sink_seconds}}),
        to_stdout
            ? std::string("standard output")
            : fmt::format("{} ({}{})", output, bytes_text(file_bytes(output)),
                          format == walk_format::text
                              ? std::string()
                              : fmt::format(", {} {}", to_string(type.value_or(vertex_element_type(g.num_vertices()))),
                                            ragged ? fmt::format("[{}]", made.steps + walks.num_walks)
                                                   : fmt::format("[{}, {}]", walks.num_walks, walks.row))),
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
  verb->add_option("--device", command->job.device, "Device: cpu, cuda or cuda:N [cpu]")->type_name("DEVICE");
  command->job.add_to(*verb);
  verb->add_option("--part", command->part,
                   "Make part I of N alone, I from 0 to N - 1: a contiguous range of the rows that the same command "
                   "without --part makes; 'tendril join' joins the parts [all rows]")
      ->type_name("I/N")
      ->group("Walks");
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
      "  tendril walk films.npz -o apa.npy --app metapath --metapath wrote,written_by --length 100\n"
      "  tendril walk graph.npz -o sets.npy --app multidim --roots 50 --num-starts 1000\n"
      "  tendril walk graph.npz -o walks.npy --device cuda                     the same bytes, computed on a GPU\n"
      "  tendril walk graph.npz -o walks.npy --device cuda --graph-memory 8G   what has no room there: host memory\n"
      "  tendril walk huge.safetensors -o walks.npy --memory 16G               a mapped graph that memory does not "
      "hold\n"
      "  tendril walk graph.npz -o - --num-starts 5 --length 8                 print five short walks\n"
      "  tendril walk graph.npz -o part-2.npy --part 2/8                       the third of eight parts: no other is "
      "needed\n"
      "  zcat edges.csv.gz | tendril walk - -o walks.npy                       a graph from standard input");
  verb->callback([command] { command->run(); });
}

}  // namespace tendril::cli
